"""Helps to test programs that call the service: pytest fixtures that start all of it, with the simulator."""
