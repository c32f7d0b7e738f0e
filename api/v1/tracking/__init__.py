"""Tracking keys, what trackers may do, and whether a page carries one."""
