"""Turns input into checked values, for the HTTP interface and the console alike."""
