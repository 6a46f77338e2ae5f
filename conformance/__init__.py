"""Conformance of model and implementation: lockstep, stateful tests, clusters, traces and the verdicts over
them.
"""
