"""JavaGroups' TOTAL: members send requests to a fixed sequencer, which numbers their messages and broadcasts
them.
"""
