"""Events: outcomes that servers send."""
