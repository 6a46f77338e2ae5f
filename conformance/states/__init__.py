"""State spaces larger than a machine: explored level by level on Spark, kept in a lake on disk.

`check_on_spark` answers as `model.explore.check` does. What is kept on disk, and how a run goes on after any
end, `lake` says; what one task does, `tasks`; how tasks run, `running`; how it looks to the search, `space`.
"""

from __future__ import annotations

from antiphon.conformance.states.checking import PARTITIONS, check_on_spark
from antiphon.conformance.states.lake import LakeError

__all__ = ["PARTITIONS", "LakeError", "check_on_spark"]
