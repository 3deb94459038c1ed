"""Turns input into checked values and passes them to the service, for the HTTP interface and the console alike."""
