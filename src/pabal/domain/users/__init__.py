"""The console's users and their second factors."""
