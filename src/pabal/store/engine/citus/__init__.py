"""The store on Citus: what is distributed, where it is, and what is wrong with its nodes."""
