"""The OAuth authorization server: agents get user tokens, consumer apps get partner keys."""
