"""Benchmarks of the service, as ratios to the bare components that it uses."""
