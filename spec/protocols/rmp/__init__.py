"""What section 3.3 of the RBP report tells of RMP and TRMP, as variants of RBP's normal phase."""
