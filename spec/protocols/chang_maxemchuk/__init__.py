"""CM, the protocol of Chang and Maxemchuk (1984), as Kim and Kim (1997) describe it to compare with."""
