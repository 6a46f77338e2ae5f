"""Comparison of a specification and an implementation."""
