"""RBP without failures: figure 16 as it is printed, its readings, its repairs, its bounds, and what must be true of it."""
