"""What counts as a conversion."""
