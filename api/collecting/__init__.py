"""What trackers send: kept once, and turned into touches, conversions and identities (docs/collector.md)."""
