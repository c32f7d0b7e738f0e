"""What partners hand over in bulk."""
