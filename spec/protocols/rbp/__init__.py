"""RBP without failures: figure 16 as printed, its readings, repairs, bounds, and what must be true of it."""
