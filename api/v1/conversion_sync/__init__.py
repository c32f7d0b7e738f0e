"""Conversion sync: what may leave a profile, and whether its sources are ready for it."""
