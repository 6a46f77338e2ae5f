"""Reliable broadcast by a token alone, figures 2 and 5 of the RBP report, before messages are ordered."""
