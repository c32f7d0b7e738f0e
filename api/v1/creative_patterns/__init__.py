"""What winning creatives have in common, across the profiles of a workspace."""
