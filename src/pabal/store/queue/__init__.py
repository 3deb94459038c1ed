"""The tables of delivery: jobs, slots, attempts, receipts, carriers."""
