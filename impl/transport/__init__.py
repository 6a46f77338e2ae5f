"""Ways to carry a core's messages: the wire format, UDP, and a simulated network; none of them decides anything."""
