"""Telling others what happened: events written with the change they tell of, and delivered by the worker."""
