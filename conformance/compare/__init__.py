"""A specification and an implementation held side by side."""
