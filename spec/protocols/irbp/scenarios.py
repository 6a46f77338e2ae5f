"""The scenarios in which the report tested iRBP, as runs of the repaired protocol.

Source: Barchet-Estefanel 2002, section 5.2.3: "a simple “crash”", "multiple crashes", "temporary network
partition". Where the report muted a process in place of a suicide, the process kills itself in these runs.
Constants are those of `IrbpChecked`; each run is one of many. `TwoViewsChecked` has the scenarios as
witnesses, by i-view and by regular view; claim IRB-30 records the shortest run of each.
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
    "propose(p1, {p1, p2})",
    "propose(p2, {p1, p2})",
    "decide(p2)",
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
"""Crash of the sequencer p0, one of three, after p1 has received its number 1: p2 gets the number and the
message by the decision, and p1 and p2 go on with number 2.
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
    "propose(p2, {p2, p3, p4})",
    "propose(p3, {p2, p3, p4})",
    "propose(p4, {p2, p3, p4})",
    "decide(p3)",
    "adopt(p2)",
    "install(p2)",
    "adopt(p3)",
    "install(p3)",
    "adopt(p4)",
    "install(p4)",
    "broadcast(p2, m2)",
    "sequence(p2)",
)
"""Crash of the sequencer p0 and of the next one, p1, among five processes; both messages are lost. p4 has
number 2, but neither its message nor number 1, so nobody can have delivered them; numbers begin anew with 1.
"""

PARTITION = (
    "broadcast(p2, m0)",
    "suspect(p0, p2)",
    "suspect(p1, p2)",
    "call(p0, p2)",
    "report(p0)",
    "report(p1)",
    "propose(p0, {p0, p1})",
    "propose(p1, {p0, p1})",
    "decide(p0)",
    "adopt(p0)",
    "install(p0)",
    "adopt(p1)",
    "install(p1)",
    "report(p2)",
    "propose(p2, {p0, p1, p2})",
    "adopt(p2)",
    "install(p2)",
)
"""Partition: nothing comes from p2 or to it, until the others have installed a list without it; then it hears
of the decision, and kills itself. The messages that only p2 had are lost with it.
"""
