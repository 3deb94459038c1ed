"""The tables of requests and messages, and what is read from them."""
