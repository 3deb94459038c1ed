"""What carriers report: receipts, replies, opt-outs."""
