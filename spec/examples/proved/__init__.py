"""Protocols that are proved for every n, each with the invariants that its proof needs.

Each module has a specification with its properties, and below it the same specification with the invariants
that are needed besides, so that all of them together follow by induction: `antiphon check MODULE:Class
--prove --every ...`. Most of them are problems of the benchmark of J. Wilcox, Y. Feldman, O. Padon and S.
Shoham, "mypyvy: a research platform for verification of transition systems in first-order logic", CAV 2024
(its directory `examples`), written anew.
"""
