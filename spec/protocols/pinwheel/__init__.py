"""Pinwheel, the protocol of Cristian and Mishra (1995), as Kim and Kim (1997) describe it to compare with."""
