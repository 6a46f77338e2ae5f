"""Binding of Pinwheel and its implementation, with corresponding names in addition to those of `updates`.

| paper             | specification `PinwheelInQueues` | implementation `Core`, its snapshot |
|-------------------|----------------------------------|-------------------------------------|
| R_i[k]            | heard[p][q]                      | own: the second part                |
| who has the token | token[p]                         | own: the first part                 |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from antiphon.conformance.compare.bindings.pinwheel_faults import FAULTS
from antiphon.conformance.compare.bindings.updates import UpdatesBinding
from antiphon.impl.protocols.updates import UpdatesSnapshot
from antiphon.spec.protocols.pinwheel.queues import PinwheelBounded
from antiphon.spec.services import Process


class PinwheelBinding(UpdatesBinding):
    """Binding of Pinwheel over queues to the core of `impl.protocols.pinwheel`, or to a faulty core by its
    name.
    """

    protocol = "pinwheel"
    specification = PinwheelBounded
    chosen: Mapping[str, int | bool | str] = {"window": 2}
    faults = FAULTS

    exempt: Mapping[str, str] = {
        **UpdatesBinding.exempt,
        "stamp": "belongs to the MSG: it becomes R where it is received",
        "sender": "belongs to the ACK: it becomes R where it is received",
        "passes": "belongs to the ACK: it becomes who has the token where it is received",
        "holder": "is who has the token by the last ACK of all, which whoever gave it knows",
    }

    @property
    def window(self) -> int:
        """Return the specification's window: the largest number of a process's updates without a number."""
        return int(self.program.constants["window"])

    def sizes(self) -> Mapping[str, object]:
        """Return the window as the core's setting."""
        return {"window": self.window}

    def project(self, me: int, snapshot: UpdatesSnapshot) -> Mapping[str, object]:
        """Return the values of the snapshot in the specification's terms."""
        own: Any = snapshot.own
        return {**super().project(me, snapshot), "token": Process(own[0]), "heard": own[1]}


PINWHEEL = PinwheelBinding.bound(
    small={"processes": 3, "messages": 2, "first": 2, "step": 2},
    random={"processes": 3, "messages": 6},
)
"""Binding of Pinwheel without changes of membership."""
