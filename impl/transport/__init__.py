"""A wire format, UDP and a simulated network carry a core's messages; none of them decides anything."""
