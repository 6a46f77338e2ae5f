"""View-synchronous communication, figure 29 of the RBP report: the printed text, its stability detector,
readings, repairs, environment and properties; and two small models beside it, of output buffers and of two
levels of views.
"""
