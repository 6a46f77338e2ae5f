"""Kernels: the text that becomes machine code, for the search, the table of states, trees, orbits, batches
and walks.

Each file is Python that `compiler.lower` turns into LLVM text. `fields` names the arrays that they share.
"""
