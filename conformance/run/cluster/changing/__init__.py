"""Groups whose members change, as real processes: killed, stopped, cut off, leaving, and back again.

What happens to them is drawn (`deeds`), done (`running`), carried by a relay (`hub`), and judged (`judging`).
A process runs `node`.
"""
