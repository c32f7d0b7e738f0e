"""Subscriptions to events, and the deliveries that are made of them."""
