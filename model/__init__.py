"""Exploration of specifications: explicit states, Z3, seeded walks and exports, all from one intermediate
form.
"""
