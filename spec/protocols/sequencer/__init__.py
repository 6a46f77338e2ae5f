"""Ban's SEQUENCER: members forward their messages to a coordinator, which multicasts them for all."""
