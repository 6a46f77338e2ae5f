"""Generated Python: functions of packed states made from the ground form, and a memory of what they did."""
