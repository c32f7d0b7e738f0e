"""Callbacks of providers: signed, kept once by delivery, answered at once."""
