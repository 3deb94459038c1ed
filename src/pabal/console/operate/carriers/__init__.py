"""Pages of carriers: status, latency, mappings."""
