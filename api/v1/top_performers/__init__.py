"""Ads ranked against comparable ads."""
