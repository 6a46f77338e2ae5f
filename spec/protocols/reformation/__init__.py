"""RBP's Reformation: figures 23 and 24 as they are printed, over an abstract normal phase, with readings,
repairs, and what must be true of the lists that come of it.
"""
