"""What a message contains: text, variables, pictures, buttons."""
