"""RBP with failures, short of Reformation: figure 25 as it is printed, its repairs, its bounds, and what must
be true of it.
"""
