"""The driver: it owns the arrays, calls the machine code, and is a space of states or a walker to others."""
