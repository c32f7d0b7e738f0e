"""Likelihood and wear of ads: pure functions over arrays, with no Dagster, no clock and no chance but a fixed seed."""
