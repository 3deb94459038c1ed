"""From a connection to an answer: protocol, limits, authentication, envelope."""
