"""Customers: what a caller may ask about one person, and the person's right to be forgotten."""
