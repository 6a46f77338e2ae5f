"""Layers of a stack, one module each, and in `layer` the interface that all share."""
