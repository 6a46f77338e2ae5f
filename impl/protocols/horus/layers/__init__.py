"""The layers of a stack, one module each, and `layer`, what any two of them share."""
