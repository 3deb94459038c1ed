"""The console's users and teams, and who signs in through a provider."""
