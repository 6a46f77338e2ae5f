"""Programs for Spark: many logs, many states."""
