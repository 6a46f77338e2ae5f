"""The exploration of a specification: explicit states, Z3, seeded walks and exports, all from one
intermediate form.
"""
