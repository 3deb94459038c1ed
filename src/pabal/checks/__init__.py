"""Turns input into checked values and passes them to the service, for the HTTP API and the console alike."""
