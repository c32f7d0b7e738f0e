"""Pages on which a person decides something: signing in, consent, an invitation, the end of a hand-off."""
