"""The store on Citus."""
