"""CM and its implementation: the table of names stands in `antiphon.conformance.compare.bindings.updates`."""

from __future__ import annotations

from typing import Any

from antiphon.conformance.compare.bindings.binding import Bound, described, with_faults
from antiphon.conformance.compare.bindings.chang_maxemchuk_faults import FAULTS
from antiphon.conformance.compare.bindings.updates import UpdatesBinding, driven
from antiphon.impl.protocols.chang_maxemchuk import MESSAGES, Core, Message, chang_maxemchuk
from antiphon.impl.protocols.chang_maxemchuk.messages import Msg
from antiphon.spec.protocols.chang_maxemchuk import queues as spec
from antiphon.spec.protocols.chang_maxemchuk.bounds import ChangMaxemchukBounded


class ChangMaxemchukBinding(UpdatesBinding):
    """CM over queues and the core of `impl.protocols.chang_maxemchuk`, or a faulty one by its name."""

    def __init__(self, *, fault: str | None = None, **constants: Any) -> None:
        kind = Core if fault is None else FAULTS[fault]
        super().__init__(ChangMaxemchukBounded, driven(kind, MESSAGES, 1), constants)

    def packet(self, sender: int, to: int, message: Message) -> spec.Packet:
        """The specification's packet that a message on its way stands for."""
        del sender, to
        return spec.Packet(self.update(message.identifier), 0 if isinstance(message, Msg) else message.number)


CHANG_MAXEMCHUK = Bound(
    ChangMaxemchukBinding,
    small={"processes": 3, "messages": 2, "first": 2, "step": 2},
    random={"processes": 3, "messages": 6},
    faults=described(FAULTS),
    implementation=with_faults(chang_maxemchuk, FAULTS),
)
"""CM, while its members stay."""
