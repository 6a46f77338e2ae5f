"""Sentences of section 3.3 of the RBP report on RMP and TRMP, as variants of RBP's normal phase."""
