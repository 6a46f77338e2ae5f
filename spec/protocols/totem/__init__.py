"""The ordering of Totem's single ring (Amir et al. 1995), as Kim and Kim (1997) describe it."""
