"""Many logs, many states: what runs on Spark."""
