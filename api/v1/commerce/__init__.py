"""A merchant's catalogue and orders: the stored copy, and live reads of the connected store."""
