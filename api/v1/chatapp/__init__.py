"""The chat app: templates and media."""
