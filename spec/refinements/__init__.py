"""In what sense a protocol is an abstract machine: one module a protocol, the mapping stated in the specification language."""

from antiphon.spec.refinements.refinement import Refinement

__all__ = ["Refinement"]
