"""DTP, the dynamic token-passing protocol of Kim and Kim (1997)."""
