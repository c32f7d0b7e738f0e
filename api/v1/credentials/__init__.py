"""Signing in, and what opens the interface: sessions, user tokens and API keys."""
