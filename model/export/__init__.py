"""Exports: traces as ITF files, models for SPIN and TLC, the state graph for programs that draw."""

from antiphon.model.export.foreign import ForeignRun
from antiphon.model.export.graph import MOST_STATES, dot, graphml, labelled
from antiphon.model.export.itf import (
    ITF_VERSION,
    ForeignTraceError,
    TraceFileError,
    binding_in,
    foreign_in,
    load,
    program_named_in,
    save,
    specification_name,
    text,
)
from antiphon.model.export.promela import Model as PromelaModel
from antiphon.model.export.promela import members_of, promela
from antiphon.model.export.tla import Module as TlaModule
from antiphon.model.export.tla import tla

__all__ = [
    "ITF_VERSION", "MOST_STATES", "ForeignRun", "ForeignTraceError", "PromelaModel", "TlaModule",
    "TraceFileError", "binding_in", "dot", "foreign_in", "graphml", "labelled", "load", "members_of",
    "program_named_in", "promela", "save", "specification_name", "text", "tla",
]  # fmt: skip
