"""Visitors: the browsers that a tracker told of, and whose they are."""
