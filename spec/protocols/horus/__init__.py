"""The layers of the Horus stack TOTAL:MBRSHIP:FRAG:NAK:COM, one module a layer, and the stacks that are made
of them.
"""
