"""The console's users and teams: sign-in, second factors, and who signs in through a provider."""
