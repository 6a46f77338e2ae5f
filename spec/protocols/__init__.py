"""Published protocols, one module each: the literal text first, every departure from it a named repair."""
