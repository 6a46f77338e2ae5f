"""CM and its implementation: the table of names stands in `antiphon.conformance.compare.bindings.updates`."""

from __future__ import annotations

from antiphon.conformance.compare.bindings.chang_maxemchuk_faults import FAULTS
from antiphon.conformance.compare.bindings.updates import UpdatesBinding
from antiphon.spec.protocols.chang_maxemchuk.bounds import ChangMaxemchukBounded


class ChangMaxemchukBinding(UpdatesBinding):
    """CM over queues and the core of `impl.protocols.chang_maxemchuk`, or a faulty one by its name."""

    protocol = "chang-maxemchuk"
    specification = ChangMaxemchukBounded
    faults = FAULTS


CHANG_MAXEMCHUK = ChangMaxemchukBinding.bound(
    small={"processes": 3, "messages": 2, "first": 2, "step": 2},
    random={"processes": 3, "messages": 6},
)
"""CM, while its members stay."""
