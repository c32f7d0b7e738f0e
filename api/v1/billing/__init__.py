"""Billing: a workspace's subscription, the pages where it is bought and managed, and what became of them."""
