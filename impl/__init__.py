"""Library of group communication: protocol cores without input or output, and shells that give them sockets
and time.
"""
