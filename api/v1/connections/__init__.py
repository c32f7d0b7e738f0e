"""Connections: accounts at providers."""
