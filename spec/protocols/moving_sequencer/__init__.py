"""The moving sequencer of the RBP report, figure 12: the token holder numbers one message."""
