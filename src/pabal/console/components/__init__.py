"""The page that shows every component of the console, for developers."""
