"""Frozen leaderboards behind links."""
