"""Whole groups of the implementation: as processes, in a simulated network, under load."""
