"""Wire format, UDP and a simulated network for a core's messages; none of them decides anything."""
