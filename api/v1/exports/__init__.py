"""Exports: the destinations of a profile's conversions, and the ledger of what went there."""
