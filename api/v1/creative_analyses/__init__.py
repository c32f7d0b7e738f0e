"""Jobs that read what creatives do."""
