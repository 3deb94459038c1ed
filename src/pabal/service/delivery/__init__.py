"""Claims due messages, submits them to carriers and settles the results."""
