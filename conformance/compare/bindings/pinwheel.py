"""Pinwheel and its implementation: beside `antiphon.conformance.compare.bindings.updates`, these names.

| paper             | specification `PinwheelInQueues` | implementation `Core`, its snapshot |
|-------------------|----------------------------------|-------------------------------------|
| R_i[k]            | heard[p][q]                      | own: the second part                |
| who has the token | token[p]                         | own: the first part                 |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from antiphon.conformance.compare.bindings.binding import Bound, described, with_faults
from antiphon.conformance.compare.bindings.pinwheel_faults import FAULTS
from antiphon.conformance.compare.bindings.updates import UpdatesBinding, driven
from antiphon.impl.protocols.pinwheel import MESSAGES, Core, Message, UpdatesSnapshot, pinwheel
from antiphon.impl.protocols.pinwheel.messages import Msg
from antiphon.spec.protocols.chang_maxemchuk import queues as spec
from antiphon.spec.protocols.pinwheel.queues import PinwheelBounded
from antiphon.spec.services import Process


class PinwheelBinding(UpdatesBinding):
    """Pinwheel over queues and the core of `impl.protocols.pinwheel`, or a faulty one by its name."""

    exempt: Mapping[str, str] = {
        **UpdatesBinding.exempt,
        "stamp": "belongs to the MSG: it becomes R where it is received",
        "sender": "belongs to the ACK: it becomes R where it is received",
        "passes": "belongs to the ACK: it becomes who has the token where it is received",
        "holder": "is who has the token by the last ACK of all, which whoever gave it knows",
    }

    def __init__(self, *, fault: str | None = None, window: int = 2, **constants: Any) -> None:
        kind = Core if fault is None else FAULTS[fault]
        made = driven(kind, MESSAGES, window, window=window)
        super().__init__(PinwheelBounded, made, {"window": window, **constants})

    def packet(self, sender: int, to: int, message: Message) -> spec.Packet:
        """The specification's packet that a message on its way stands for."""
        del sender, to
        return spec.Packet(self.update(message.identifier), 0 if isinstance(message, Msg) else message.number)

    def project(self, me: int, snapshot: UpdatesSnapshot) -> Mapping[str, object]:
        """What the snapshot says, in the specification's values."""
        own: Any = snapshot.own
        return {**super().project(me, snapshot), "token": Process(own[0]), "heard": own[1]}


PINWHEEL = Bound(
    PinwheelBinding,
    small={"processes": 3, "messages": 2, "first": 2, "step": 2},
    random={"processes": 3, "messages": 6},
    faults=described(FAULTS),
    implementation=with_faults(pinwheel, FAULTS),
)
"""Pinwheel, while its members stay."""
