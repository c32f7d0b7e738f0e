"""Profiles: which a caller has, how they come to be, and what is set on them."""
