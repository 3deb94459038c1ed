"""Measures other gateways side by side with the service: the same load, the same SMSC, the same accounting."""
