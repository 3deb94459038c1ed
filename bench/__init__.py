"""Measures the service: what its own work costs, as ratios to the bare parts it stands on."""
