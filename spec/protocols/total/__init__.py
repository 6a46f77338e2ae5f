"""JavaGroups' TOTAL: members ask a fixed sequencer, who numbers their messages and broadcasts them."""
