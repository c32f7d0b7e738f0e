"""Conversions on their way to ad platforms: what may leave a profile, where it goes, and what became of it."""
