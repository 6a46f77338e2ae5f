"""What do the open sentences of JavaGroups' TOTAL mean? Its constants and readings; the first choice of a reading is the literal one.

Source: Cornell, "JavaGroups TOTAL".
"""

from __future__ import annotations

from antiphon.spec.lang import Const, Reading, reading
from antiphon.spec.services import Group


class TotalReadings(Group):
    """Sizes, restrictions of what is explored, and readings."""

    first_ids: Const[int] = 1
    spare: Const[int] = 0
    assigned: Const[bool] = False
    patient: Const[bool] = False

    reset: Reading = reading(
        "the queue too",
        "the next id",
        about='what "resetting the state of the TOTAL layer" at TOTAL_NEW_VIEW resets: next expected id and queue, or the next expected id alone, '
        "since the queue is cleared at VIEW_CHANGE",
    )
    announcing: Reading = reading(
        "every sequencer",
        "who was none before",
        about='whether "the new sequencer" that broadcasts TOTAL_NEW_VIEW "whenever there is a view change" is the sequencer of the new view, '
        "or only one that was not the sequencer of the old; the other goes on with its next id",
    )
    clearing: Reading = reading(
        "at the view change",
        "never",
        about='whether "the members clear this queue when they observe a VIEW_CHANGE event"; `never` shows what for',
    )
    early: Reading = reading(
        "kept",
        "dropped",
        about='how the layer below sees to it that "messages sent in one view may only be received in that view": what reaches a member before '
        "the view change does is kept until then, or thrown away",
    )
    keeping: Reading = reading(
        "the view",
        "the last",
        "until acknowledged",
        about="how long the sequencer keeps what it has sent: until the view changes, only the last message, or until TOTAL_CUM_SEQ_ACK of all "
        "members has come, sent for each TOTAL_BCAST",
    )
    suffix: Reading = reading(
        "announced",
        "acknowledged",
        about='the two remedies of Future Improvements, for `recover_suffix`: "each server knew the sequence id of the last broadcast message", or '
        '"the sequencer handled retransmission (perhaps using positive acknowledgements)"',
    )
    addresses: Reading = reading(
        "set", "never set", about="whether SET_LOCAL_ADDRESS came: without it nobody can tell that it is the first of the list"
    )
