"""The tables of the console's users: sessions, invites, second factors."""
