"""Driver of the machine code: it owns the arrays, calls the code, and implements the interfaces of
engines.
"""
