"""Protocols that are proved for every n, each with the invariants that its proof needs.

A module has a specification with what it promises, and below it the same specification with what is true
besides, so that all of it together follows by induction: `antiphon check MODULE:Class --prove --every ...`.
Most of them are problems of the benchmark of J. Wilcox, Y. Feldman, O. Padon and S. Shoham, "mypyvy: a
research platform for verification of transition systems in first-order logic", CAV 2024 (its directory
`examples`), written anew.
"""
