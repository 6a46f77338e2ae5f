"""What leaves the house: traces as ITF files, which existing viewers open."""

from antiphon.model.export.itf import ITF_VERSION, TraceFileError, load, save, specification_name

__all__ = ["ITF_VERSION", "TraceFileError", "load", "save", "specification_name"]
