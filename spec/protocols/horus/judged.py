"""Which stacks with MBRSHIP are checked? MBRSHIP alone, TOTAL over it, and the whole tower, each judged by what it promises."""

from __future__ import annotations

from antiphon.spec.protocols.horus.judges import FifoBroadcast, ViewSynchrony
from antiphon.spec.protocols.horus.mbrship import MbrshipAlone
from antiphon.spec.protocols.horus.total import Total
from antiphon.spec.protocols.horus.tower import Horus
from antiphon.spec.services import TotalOrderBroadcast


class TotalStack(Total, MbrshipAlone, TotalOrderBroadcast):
    """TOTAL over the abstract MBRSHIP, judged as total order broadcast."""


class TotalViews(Total, MbrshipAlone, FifoBroadcast, ViewSynchrony):
    """TOTAL over the abstract MBRSHIP, judged as FIFO broadcast with virtual synchrony: what it passes on of what it stands on."""


class HorusJudged(Horus, TotalOrderBroadcast):
    """The whole stack, judged as total order broadcast."""


class HorusViews(Horus, FifoBroadcast, ViewSynchrony):
    """The whole stack, judged as FIFO broadcast with virtual synchrony."""
