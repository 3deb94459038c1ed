"""A carrier behind SMPP 3.4, the protocol that operators speak."""
