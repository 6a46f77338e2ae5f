"""The scenarios in which the report tested iRBP, as runs of the repaired protocol.

Source: Barchet-Estefanel 2002, section 5.2.3: "a simple “crash”", "multiple crashes", "temporary network
partition". Where the report muted a process instead of a suicide, it kills itself here. Constants are those
of `IrbpChecked`; each run is one of many. `BY_VIEWS` has them once more, of `TwoViewsChecked`, by i-view and
by regular view: a shortest run to the witness of that name, within the bounds that claim IRB-30 records.
"""

from __future__ import annotations

SIMPLE_CRASH = (
    "broadcast(p0, m0)",
    "receive(p1, m0)",
    "sequence(p0)",
    "hear(p1, Ack(1, p0, m0, 1))",
    "crash(p0)",
    "call(p1, p0)",
    "report(p2)",
    "report(p1)",
    "decide(p2, {p1, p2})",
    "adopt(p2)",
    "deliver(p2, Sequenced(m0, 1))",
    "install(p2)",
    "adopt(p1)",
    "deliver(p1, Sequenced(m0, 1))",
    "install(p1)",
    "broadcast(p1, m1)",
    "receive(p2, m1)",
    "sequence(p1)",
    "hear(p2, Ack(2, p1, m1, 2))",
    "pass_null(p2)",
    "settle(p2, Sequenced(m1, 2))",
    "deliver(p2, Sequenced(m1, 2))",
    "hear(p1, Ack(2, p2, none, 3))",
    "settle(p1, Sequenced(m1, 2))",
    "deliver(p1, Sequenced(m1, 2))",
)
"""Of three the sequencer fails, and one other has heard of its number: p2 gets number and message by the
decision, and the two that are left go on with number 2.
"""

MULTIPLE_CRASHES = (
    "broadcast(p0, m0)",
    "receive(p1, m0)",
    "sequence(p0)",
    "hear(p1, Ack(1, p0, m0, 1))",
    "broadcast(p1, m1)",
    "sequence(p1)",
    "hear(p4, Ack(1, p1, m1, 2))",
    "crash(p0)",
    "crash(p1)",
    "call(p2, p0)",
    "report(p2)",
    "report(p3)",
    "report(p4)",
    "decide(p3, {p2, p3, p4})",
    "adopt(p2)",
    "install(p2)",
    "adopt(p3)",
    "install(p3)",
    "adopt(p4)",
    "install(p4)",
    "broadcast(p2, m2)",
    "sequence(p2)",
)
"""Of five the sequencer and the next one fail, and both messages with them: p4 has heard of number 2 and has
neither its message nor number 1. Nobody can have delivered them; numbers begin anew with 1.
"""

PARTITION = (
    "broadcast(p2, m0)",
    "suspect(p0, p2)",
    "call(p0, p2)",
    "report(p0)",
    "report(p1)",
    "decide(p0, {p0, p1})",
    "adopt(p0)",
    "install(p0)",
    "adopt(p1)",
    "install(p1)",
    "report(p2)",
    "adopt(p2)",
    "install(p2)",
)
"""Nothing comes from p2 or to it, until the others have installed a list without it; then it hears of the
decision, and kills itself. What only p2 had is lost with it.
"""

BY_VIEWS = {
    "SimpleCrashByIView": (
        "crash(p1); call(p0, p1); report(p0); report(p2); decide(p0, {p0, p2}); adopt(p0); adopt(p2); "
        "install(p0); broadcast(p0, m0); sequence(p0); install(p2); receive_late(p2, m0); "
        "hear(p2, Ack(2, p0, m0, 1)); pass_null(p2); settle(p2, Sequenced(m0, 1)); "
        "deliver(p2, Sequenced(m0, 1)); hear(p0, Ack(2, p2, none, 2)); settle(p0, Sequenced(m0, 1)); "
        "deliver(p0, Sequenced(m0, 1))"
    ),
    "SimpleCrashByRegularView": (
        "crash(p1); call_regular(p0, p1); report_regular(p0); report_regular(p2); "
        "decide_regular(p0, {p0, p2}); adopt_regular(p0); install(p0); broadcast(p0, m0); sequence(p0); "
        "adopt_regular(p2); install(p2); receive_late(p2, m0); hear(p2, Ack(2, p0, m0, 1)); "
        "pass_null(p2); settle(p2, Sequenced(m0, 1)); deliver(p2, Sequenced(m0, 1)); "
        "hear(p0, Ack(2, p2, none, 2)); settle(p0, Sequenced(m0, 1)); deliver(p0, Sequenced(m0, 1))"
    ),
    "MultipleCrashesByIView": (
        "crash(p1); call(p0, p1); report(p0); report(p2); report(p3); decide(p0, {p0, p2, p3}); "
        "crash(p2); adopt(p0); adopt(p3); install(p0); call(p0, p2); report(p0); install(p3); "
        "report(p3); decide(p0, {p0, p3}); adopt(p0); adopt(p3); install(p0); broadcast(p0, m0); "
        "sequence(p0); install(p3); receive_late(p3, m0); hear(p3, Ack(3, p0, m0, 1)); pass_null(p3); "
        "settle(p3, Sequenced(m0, 1)); deliver(p3, Sequenced(m0, 1)); hear(p0, Ack(3, p3, none, 2)); "
        "settle(p0, Sequenced(m0, 1)); deliver(p0, Sequenced(m0, 1))"
    ),
    "MultipleCrashesByRegularView": (
        "crash(p1); call_regular(p0, p1); report_regular(p0); report_regular(p2); report_regular(p3); "
        "decide_regular(p0, {p0, p2, p3}); crash(p2); adopt_regular(p0); install(p0); "
        "call_regular(p0, p2); report_regular(p0); adopt_regular(p3); install(p3); report_regular(p3); "
        "decide_regular(p0, {p0, p3}); adopt_regular(p0); install(p0); broadcast(p0, m0); sequence(p0); "
        "adopt_regular(p3); install(p3); receive_late(p3, m0); hear(p3, Ack(3, p0, m0, 1)); "
        "pass_null(p3); settle(p3, Sequenced(m0, 1)); deliver(p3, Sequenced(m0, 1)); "
        "hear(p0, Ack(3, p3, none, 2)); settle(p0, Sequenced(m0, 1)); deliver(p0, Sequenced(m0, 1))"
    ),
    "PartitionByIView": (
        "suspect(p0, p1); call(p0, p1); report(p0); report(p1); report(p2); decide(p0, {p0, p2}); "
        "adopt(p0); adopt(p1); adopt(p2); install(p0); broadcast(p0, m0); sequence(p0); install(p1); "
        "install(p2); receive_late(p2, m0); hear(p2, Ack(2, p0, m0, 1)); pass_null(p2); "
        "settle(p2, Sequenced(m0, 1)); deliver(p2, Sequenced(m0, 1)); hear(p0, Ack(2, p2, none, 2)); "
        "settle(p0, Sequenced(m0, 1)); deliver(p0, Sequenced(m0, 1)); fetch(p1, p0, Sequenced(m0, 1)); "
        "deliver(p1, Sequenced(m0, 1))"
    ),
    "NoMoreInTheBuffers": (
        "suspect(p1, p0); broadcast(p0, m0); call(p1, p0); report(p0); report(p1); report(p2); "
        "decide(p1, {p1, p2}); adopt(p0); adopt(p1); adopt(p2); install(p0); install(p1); pass_null(p1); "
        "install(p2); hear(p2, Ack(2, p1, none, 1)); pass_null(p2); settle(p2, Sequenced(none, 1)); "
        "deliver(p2, Sequenced(none, 1)); refuse(p0, p2)"
    ),
    "PartitionByRegularView": (
        "misjudge(p0, p1); report_regular(p0); report_regular(p1); report_regular(p2); "
        "decide_regular(p0, {p0, p2}); adopt_regular(p0); install(p0); broadcast(p0, m0); sequence(p0); "
        "adopt_regular(p1); install(p1); adopt_regular(p2); install(p2); receive_late(p2, m0); "
        "hear(p2, Ack(2, p0, m0, 1)); pass_null(p2); settle(p2, Sequenced(m0, 1)); "
        "deliver(p2, Sequenced(m0, 1)); hear(p0, Ack(2, p2, none, 2)); settle(p0, Sequenced(m0, 1)); "
        "deliver(p0, Sequenced(m0, 1))"
    ),
    "ReintegrationByIView": (
        "suspect(p0, p1); call(p0, p1); report(p0); report(p1); report(p2); decide(p0, {p0, p2}); "
        "adopt(p0); adopt(p1); adopt(p2); install(p0); install(p1); install(p2); misjudge(p0, p2); "
        "call(p0, p2); report(p0); report(p1); report(p2); decide(p0, {p0, p2}); adopt(p0); adopt(p1); "
        "adopt(p2); install(p0); broadcast(p0, m0); sequence(p0); install(p1); receive_late(p1, m0); "
        "hear(p1, Ack(3, p0, m0, 1)); pass_null(p1); hear(p0, Ack(3, p1, none, 2)); install(p2); "
        "receive_late(p2, m0); hear(p2, Ack(3, p1, none, 2)); hear(p2, Ack(3, p0, m0, 1)); "
        "pass_null(p2); settle(p2, Sequenced(m0, 1)); deliver(p2, Sequenced(m0, 1)); "
        "hear(p0, Ack(3, p2, none, 3)); settle(p0, Sequenced(m0, 1)); deliver(p0, Sequenced(m0, 1)); "
        "hear(p1, Ack(3, p2, none, 3)); settle(p1, Sequenced(m0, 1)); deliver(p1, Sequenced(m0, 1))"
    ),
    "ReintegrationByRegularView": (
        "suspect(p0, p1); call(p0, p1); report(p0); report(p1); report(p2); decide(p0, {p0, p2}); "
        "adopt(p0); adopt(p1); adopt(p2); install(p0); install(p1); install(p2); misjudge(p0, p1); "
        "report_regular(p0); report_regular(p1); report_regular(p2); decide_regular(p0, {p0, p2}); "
        "adopt_regular(p0); install(p0); broadcast(p0, m0); sequence(p0); adopt_regular(p1); "
        "install(p1); receive_late(p1, m0); hear(p1, Ack(3, p0, m0, 1)); pass_null(p1); "
        "hear(p0, Ack(3, p1, none, 2)); adopt_regular(p2); install(p2); receive_late(p2, m0); "
        "hear(p2, Ack(3, p1, none, 2)); hear(p2, Ack(3, p0, m0, 1)); pass_null(p2); "
        "settle(p2, Sequenced(m0, 1)); deliver(p2, Sequenced(m0, 1)); hear(p0, Ack(3, p2, none, 3)); "
        "settle(p0, Sequenced(m0, 1)); deliver(p0, Sequenced(m0, 1)); hear(p1, Ack(3, p2, none, 3)); "
        "settle(p1, Sequenced(m0, 1)); deliver(p1, Sequenced(m0, 1))"
    ),
}
"""After each all that are up have delivered the message, which got its number after the last view change.
`PartitionByIView`: the external process gets it by retransmission; `NoMoreInTheBuffers`, where nothing is
kept, and the number is one of NULL: it is told that nobody has it, and kills itself.
"""
