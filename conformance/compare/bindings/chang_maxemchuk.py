"""Binding of CM and its implementation; `antiphon.conformance.compare.bindings.updates` has the table of
names.
"""

from __future__ import annotations

from antiphon.conformance.compare.bindings.chang_maxemchuk_faults import FAULTS
from antiphon.conformance.compare.bindings.updates import UpdatesBinding
from antiphon.spec.protocols.chang_maxemchuk.bounds import ChangMaxemchukBounded


class ChangMaxemchukBinding(UpdatesBinding):
    """Binding of CM over queues and the core of `impl.protocols.chang_maxemchuk`, or a faulty one by its
    name.
    """

    protocol = "chang-maxemchuk"
    specification = ChangMaxemchukBounded
    faults = FAULTS


CHANG_MAXEMCHUK = ChangMaxemchukBinding.bound(
    small={"processes": 3, "messages": 2, "first": 2, "step": 2},
    random={"processes": 3, "messages": 6},
)
"""Binding of CM with fixed members."""
