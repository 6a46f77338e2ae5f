"""View-synchronous communication, figure 29 of the RBP report: the printed text, its stability detector, its
readings and repairs, what surrounds it, what must be true of it; and two small models beside it, of buffers
and of two levels of views.
"""
