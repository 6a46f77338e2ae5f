"""SEQUENCER: a member sends to the coordinator, who multicasts for it; repaired.

Between its members it needs reliable queues. Nobody leaves yet: who changes views will drive `ChangesViews`.

Source: B. Ban, "Design of SEQUENCER, a total order protocol using a sequencer", 2005.
"""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.impl.protocols.core import Implementation, MessageFormat, Network, source_flaw
from antiphon.impl.protocols.sequencer.messages import Message, SequencerViolation
from antiphon.impl.protocols.sequencer.process import DEFAULTS, Core, Settings, Snapshot

__all__ = ["MESSAGES", "Core", "Message", "SequencerViolation", "Settings", "Snapshot", "sequencer"]

MESSAGES: MessageFormat[Message] = MessageFormat("sequencer", 1, Message, source_flaw)
"""The messages of SEQUENCER, version 1."""


def sequencer(*, kind: type[Core] = Core, **settings: float) -> Implementation[Message]:
    """SEQUENCER; `Settings` says what there is to set, and `Core` refuses what is impossible."""
    return Implementation.of(MESSAGES, kind, replace(DEFAULTS, **settings), Network.FIFO)
