"""The scenarios: each answers one question about the service as operators run it.

A scenario is a module whose first sentence is its question, with `ROUNDS` and `measure`, which measures one round.
"""
