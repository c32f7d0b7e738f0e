"""The script that a site carries, and the address it is loaded from."""
