"""iRBP: RBP's normal phase under the view change of figure 32, its repairs, its bounds, and what must be true
of it.
"""
