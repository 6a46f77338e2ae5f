"""The mappings that have not moved to the package of their protocol (`spec/refinement.py` says what a mapping is)."""
