"""What is typed and not sent yet."""
