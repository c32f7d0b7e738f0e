"""Workspaces: their life, their settings, what happened in them, and what is due in them."""
