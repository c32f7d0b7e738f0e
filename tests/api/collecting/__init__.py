"""The collector."""
