"""Generated Python: functions of packed states made from the ground form, and a cache of their results."""
