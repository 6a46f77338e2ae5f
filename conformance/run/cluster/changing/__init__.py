"""Groups whose members change, as real processes: killed, stopped, cut off, leaving, and back again.

The faults are drawn (`faults`) and injected (`running`); a relay (`hub`) carries the datagrams; the logs are
judged (`judging`). A process runs `node`.
"""
