"""How a specification is explored: explicit states, Z3, seeded walks and exports, all from one intermediate
form.
"""
