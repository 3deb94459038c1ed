"""Sign-in to the console: passwords, second factors, waits after failures."""
