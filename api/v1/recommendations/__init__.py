"""What the scores suggest, told and decided."""
