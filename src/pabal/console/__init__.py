"""The console: pages for people who send, look things up and manage."""
