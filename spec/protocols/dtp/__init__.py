"""DTP, the dynamic token-passing protocol of Kim and Kim (1997): the text of its section 4, and what was
asked of it.
"""
