"""Every core walks with its specification through small models, and every mistake planted in it is caught
with a shortest trace; docs/lockstep.md holds the table. RBP without failures, where detection was tried
first, is in test_faults.py, and the layers of Horus are in test_horus.py.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from antiphon.conformance.compare.bindings import binding_of, bound_protocol
from antiphon.conformance.compare.lockstep import Comparison, lockstep
from antiphon.conformance.compare.stateful import run_stateful
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import SpecError

PAGE = Path(__file__).resolve().parents[3] / "docs" / "lockstep.md"

R_TWO: dict[str, Any] = {
    "processes": 2, "messages": 1, "losses": 1, "timeouts": 1, "passes": 3, "urgent": True,
}  # fmt: skip
R_BOTH: dict[str, Any] = {**R_TWO, "messages": 2}
R_THREE: dict[str, Any] = {**R_TWO, "processes": 3, "losses": 0, "timeouts": 0}

_QUIET: dict[str, Any] = {"senders": 1, "losses": 0, "timeouts": 0, "nulls": 0}
D_PAIR: dict[str, Any] = {**_QUIET, "processes": 2, "messages": 1, "timeouts": 1, "nulls": 1}
D_NULLS: dict[str, Any] = {**D_PAIR, "timeouts": 2, "nulls": 2}
D_BOTH: dict[str, Any] = {**_QUIET, "processes": 2, "messages": 2, "senders": 2, "nulls": 1}
D_EARLY: dict[str, Any] = {**_QUIET, "processes": 2, "messages": 2, "losses": 1, "timeouts": 1}
D_THREE: dict[str, Any] = {**_QUIET, "processes": 3, "messages": 1, "nulls": 1}
D_TWICE: dict[str, Any] = {**_QUIET, "processes": 3, "messages": 2}

S_TWO: dict[str, Any] = dict(bound_protocol("sequencer").small)
S_ONE: dict[str, Any] = {**S_TWO, "messages": 1}
S_CRASH: dict[str, Any] = {**S_ONE, "crashes": 1}
S_LEAVES: dict[str, Any] = {**S_TWO, "crashes": 1, "handovers": False}
S_VIEWS: dict[str, Any] = {**S_CRASH, "views": 3}

T_TWO: dict[str, Any] = dict(bound_protocol("total").small)
T_THREE: dict[str, Any] = {"processes": 3, "messages": 1, "losses": 1}
T_GAP: dict[str, Any] = {"processes": 2, "messages": 3, "losses": 1}

Q_TWO: dict[str, Any] = {"processes": 2, "messages": 2}
Q_SMALL: dict[str, Any] = dict(bound_protocol("chang-maxemchuk").small)
Q_BACK: dict[str, Any] = {"processes": 3, "messages": 3, "first": 2, "step": 2}

RING_TWO: dict[str, Any] = dict(bound_protocol("totem").small)
RING_THREE: dict[str, Any] = {"processes": 3, "messages": 2, "visit_max": 1, "unstable_max": 2}
RING_ONE: dict[str, Any] = {"processes": 3, "messages": 1}

C_TWO: dict[str, Any] = {
    "processes": 2, "values": 2, "crashes": 0, "false_suspicions": 2, "rounds": 1,
}  # fmt: skip
C_CRASH: dict[str, Any] = {**C_TWO, "crashes": 1, "false_suspicions": 1, "rounds": 2}
C_THREE: dict[str, Any] = {**C_TWO, "processes": 3, "false_suspicions": 1}
C_ROUNDS: dict[str, Any] = {**C_THREE, "rounds": 2}

F_THREE: dict[str, Any] = dict(bound_protocol("reformation").small)
F_TWO: dict[str, Any] = {**F_THREE, "processes": 2, "terse": False}
F_PAIR: dict[str, Any] = {**F_TWO, "attempts": 2, "views": 6}
F_CRASH: dict[str, Any] = {**F_THREE, "terse": False, "crashes": 1}

I_QUIET: dict[str, Any] = {
    "processes": 3, "messages": 0, "highest": 2, "crashes": 1, "false_suspicions": 0,
}  # fmt: skip
I_WRONG: dict[str, Any] = {**I_QUIET, "crashes": 0, "false_suspicions": 1}
I_TWO: dict[str, Any] = {**I_WRONG, "processes": 2, "messages": 1, "highest": 4}
I_ENDS: dict[str, Any] = {**I_TWO, "messages": 0, "highest": 2, "trusting": True}
I_TRUST: dict[str, Any] = {**I_WRONG, "trusting": True}
I_BOTH: dict[str, Any] = {**I_TWO, "messages": 2, "highest": 5}
I_AGAIN: dict[str, Any] = {**I_TWO, "views": 3, "highest": 5, "false_suspicions": 2}
I_CRASH: dict[str, Any] = {**I_QUIET, "messages": 1, "highest": 4}
I_HOLES: dict[str, Any] = {**I_CRASH, "highest": 5}
I_THREE: dict[str, Any] = {**I_WRONG, "messages": 1, "highest": 4}

V_TWO: dict[str, Any] = {"processes": 2, "messages": 1, "crashes": 0, "false_suspicions": 1}
V_AGAIN: dict[str, Any] = {**V_TWO, "messages": 2, "false_suspicions": 2, "views": 3}
V_CRASH: dict[str, Any] = {**V_TWO, "processes": 3, "crashes": 1, "false_suspicions": 0}
V_WRONG: dict[str, Any] = {**V_TWO, "processes": 3}

Y_TWO: dict[str, Any] = {"processes": 2, "messages": 0, "highest": 2, "crashes": 0, "false_suspicions": 1}
Y_PAIR: dict[str, Any] = {**Y_TWO, "messages": 1, "highest": 4}
Y_CRASH: dict[str, Any] = dict(bound_protocol("irbp-two-views").small)
Y_WRONG: dict[str, Any] = {**Y_CRASH, "crashes": 0, "false_suspicions": 1, "brief": False}
Y_OUTSIDE: dict[str, Any] = {**Y_CRASH, "outside": 1, "brief": False, "nobody_given_up": True}
Y_MISLED: dict[str, Any] = {**Y_PAIR, "misjudgements": 1}
Y_SENDS: dict[str, Any] = {**Y_OUTSIDE, "messages": 1, "brief": True}
Y_QUIET: dict[str, Any] = {**Y_OUTSIDE, "crashes": 0, "views": 1}
Y_HEARS: dict[str, Any] = {**Y_QUIET, "messages": 1, "highest": 4}
Y_GONE: dict[str, Any] = {**Y_OUTSIDE, "room": 0}
Y_BACK: dict[str, Any] = {**Y_GONE, "crashes": 0, "false_suspicions": 1}

L_ONE: dict[str, Any] = {"processes": 2, "messages": 1, "highest": 1, "crashes": 0, "false_suspicions": 1}
L_TWO: dict[str, Any] = {**L_ONE, "messages": 2, "highest": 2}
L_AGAIN: dict[str, Any] = {**L_TWO, "false_suspicions": 2, "views": 3}
L_CRASH: dict[str, Any] = dict(bound_protocol("total-listed").small)
L_BOTH: dict[str, Any] = {**L_CRASH, "messages": 2, "highest": 2}
L_WRONG: dict[str, Any] = {**L_CRASH, "crashes": 0, "false_suspicions": 1}

P_TWO: dict[str, Any] = {"processes": 2, "messages": 2, "clients": 1, "crashes": 0}
P_AGAIN: dict[str, Any] = {**P_TWO, "processes": 1, "messages": 3, "requests": 2, "views": 1}
P_CLIENTS: dict[str, Any] = {**P_TWO, "processes": 1, "messages": 3, "clients": 2, "kept": 1, "views": 1}
P_JOINS: dict[str, Any] = {**P_TWO, "joiners": 1}
P_CRASH: dict[str, Any] = {**P_TWO, "processes": 3, "crashes": 1}
P_BOTH: dict[str, Any] = {**P_TWO, "clients": 2}
P_VIEWS: dict[str, Any] = {**P_TWO, "messages": 3, "views": 3}
P_JOINED: dict[str, Any] = {**P_JOINS, "processes": 3}

ONE_SIDE = "steps that only one side would take"
REFUSED = "the implementation refuses the step"
TIMERS = "the timers that run, milliseconds left and back-off"

AGREE = [
    ("rbp-resilient", R_TWO, 1_003, 2_156),
    ("rbp-resilient", {**R_TWO, "resilience": 1}, 1_348, 3_172),
    pytest.param("rbp-resilient", R_THREE, 9_146, 17_076, marks=pytest.mark.deep),
    ("dtp", D_NULLS, 462, 1_294),
    ("dtp", D_THREE, 1_986, 7_991),
    ("dtp", D_EARLY, 338, 975),
    ("dtp", {**D_PAIR, "resilience": 1}, 81, 155),
    ("sequencer", S_CRASH, 695, 1_382),
    pytest.param("sequencer", S_TWO, 4_446, 12_348, marks=pytest.mark.deep),
    pytest.param("sequencer", S_LEAVES, 5_494, 10_911, marks=pytest.mark.deep),
    pytest.param("sequencer", {**S_TWO, "crashes": 1}, 9_764, 22_958, marks=pytest.mark.deep),
    pytest.param("sequencer", S_VIEWS, 3_780, 7_372, marks=pytest.mark.deep),
    ("total", T_TWO, 1_318, 6_874),
    ("total", T_THREE, 303, 1_256),
    ("chang-maxemchuk", Q_TWO, 52, 106),
    ("chang-maxemchuk", Q_SMALL, 744, 2_461),
    ("chang-maxemchuk", {**Q_SMALL, "messages": 3, "step": 0}, 1_286, 4_913),
    ("pinwheel", Q_TWO, 99, 190),
    ("pinwheel", Q_SMALL, 1_265, 4_162),
    ("totem", RING_TWO, 2_562, 5_944),
    ("totem", RING_ONE, 210, 348),
    ("chandra-toueg", C_TWO, 600, 950),
    ("chandra-toueg", C_CRASH, 1_175, 1_606),
    pytest.param("chandra-toueg", C_THREE, 25_451, 70_266, marks=pytest.mark.deep),
    pytest.param("chandra-toueg", C_ROUNDS, 254_819, 889_466, marks=pytest.mark.deep),
    pytest.param("chandra-toueg", {**C_THREE, "crashes": 1}, 267_014, 757_279, marks=pytest.mark.deep),
    ("reformation", F_TWO, 147, 302),
    pytest.param("reformation", F_PAIR, 1_942, 6_019, marks=pytest.mark.deep),
    pytest.param("reformation", F_THREE, 2_361, 4_068, marks=pytest.mark.deep),
    pytest.param("reformation", F_CRASH, 18_224, 57_742, marks=pytest.mark.deep),
    ("irbp", I_QUIET, 420, 1_296),
    ("irbp", I_ENDS, 140, 362),
    ("irbp", I_TWO, 1_032, 2_635),
    pytest.param("irbp", {**I_TWO, "trusting": True}, 1_602, 4_472, marks=pytest.mark.deep),
    pytest.param("irbp", I_TRUST, 18_312, 110_176, marks=pytest.mark.deep),
    pytest.param("irbp", I_WRONG, 12_988, 71_976, marks=pytest.mark.deep),
    pytest.param("irbp", I_BOTH, 5_434, 14_728, marks=pytest.mark.deep),
    pytest.param("irbp", I_AGAIN, 4_504, 12_528, marks=pytest.mark.deep),
    pytest.param("irbp", I_CRASH, 7_280, 29_806, marks=pytest.mark.deep),
    pytest.param("irbp", I_THREE, 289_212, 1_952_078, marks=pytest.mark.deep),
    ("vsc", V_TWO, 465, 1_348),
    ("vsc", {**V_TWO, "messages": 2}, 2_025, 7_063),
    pytest.param("vsc", V_CRASH, 2_676, 10_178, marks=pytest.mark.deep),
    pytest.param("vsc", {**V_CRASH, "messages": 2}, 31_934, 158_635, marks=pytest.mark.deep),
    pytest.param("vsc", V_WRONG, 90_104, 621_398, marks=pytest.mark.deep),
    pytest.param("vsc", V_AGAIN, 18_586, 67_977, marks=pytest.mark.deep),
    ("irbp-two-views", Y_TWO, 90, 206),
    ("irbp-two-views", Y_QUIET, 82, 198),
    pytest.param("irbp-two-views", Y_PAIR, 1_014, 2_599, marks=pytest.mark.deep),
    pytest.param("irbp-two-views", Y_MISLED, 13_580, 37_329, marks=pytest.mark.deep),
    pytest.param("irbp-two-views", Y_SENDS, 92_810, 476_043, marks=pytest.mark.deep),
    pytest.param("irbp-two-views", Y_HEARS, 1_478, 4_746, marks=pytest.mark.deep),
    pytest.param("irbp-two-views", Y_CRASH, 13_276, 44_532, marks=pytest.mark.deep),
    pytest.param("irbp-two-views", Y_BACK, 51_498, 283_678, marks=pytest.mark.deep),
    pytest.param("irbp-two-views", Y_GONE, 39_202, 187_092, marks=pytest.mark.deep),
    pytest.param("irbp-two-views", Y_OUTSIDE, 39_254, 187_048, marks=pytest.mark.deep),
    pytest.param("irbp-two-views", Y_WRONG, 55_544, 292_534, marks=pytest.mark.deep),
    ("sequencer-listed", L_ONE, 227, 598),
    pytest.param("sequencer-listed", L_TWO, 1_003, 3_489, marks=pytest.mark.deep),
    pytest.param("sequencer-listed", {**L_TWO, "trusting": True}, 1_557, 5_935, marks=pytest.mark.deep),
    pytest.param("sequencer-listed", L_AGAIN, 5_798, 19_278, marks=pytest.mark.deep),
    pytest.param("sequencer-listed", L_CRASH, 1_582, 5_716, marks=pytest.mark.deep),
    pytest.param("sequencer-listed", L_BOTH, 9_862, 48_385, marks=pytest.mark.deep),
    pytest.param("sequencer-listed", L_WRONG, 38_560, 240_685, marks=pytest.mark.deep),
    ("total-listed", L_ONE, 227, 598),
    pytest.param("total-listed", L_TWO, 1_480, 5_702, marks=pytest.mark.deep),
    pytest.param("total-listed", {**L_TWO, "trusting": True}, 2_300, 9_621, marks=pytest.mark.deep),
    pytest.param("total-listed", L_AGAIN, 7_804, 27_786, marks=pytest.mark.deep),
    pytest.param("total-listed", L_CRASH, 3_710, 15_617, marks=pytest.mark.deep),
    pytest.param("total-listed", L_BOTH, 52_689, 308_227, marks=pytest.mark.deep),
    pytest.param("total-listed", L_WRONG, 102_236, 706_533, marks=pytest.mark.deep),
    ("primary-backup-sessions", P_TWO, 535, 2_265),
    ("primary-backup-sessions", P_AGAIN, 12, 32),
    pytest.param("primary-backup-sessions", P_CLIENTS, 265, 1_124, marks=pytest.mark.deep),
    pytest.param("primary-backup-sessions", P_JOINS, 241, 937, marks=pytest.mark.deep),
    pytest.param("primary-backup-sessions", P_CRASH, 4_371, 27_047, marks=pytest.mark.deep),
    pytest.param("primary-backup-sessions", P_BOTH, 6_544, 40_156, marks=pytest.mark.deep),
    pytest.param("primary-backup-sessions", P_VIEWS, 15_036, 67_251, marks=pytest.mark.deep),
    pytest.param("primary-backup-sessions", P_JOINED, 2_527, 14_422, marks=pytest.mark.deep),
]
"""A core, a model, its states and its transitions."""

CAUGHT: dict[tuple[str, str], tuple[dict[str, Any], int, str]] = {
    ("rbp-resilient", "accepts-early"): (R_THREE, 25, ONE_SIDE),
    ("rbp-resilient", "accepts-old-tokens"): (R_TWO, 8, "variable arriving"),
    ("rbp-resilient", "answers-from-last-turn"): (R_TWO, 9, "process 0 is asked for all numbers"),
    ("rbp-resilient", "asks-the-successor"): (R_THREE, 6, REFUSED),
    ("rbp-resilient", "collects-early"): (R_TWO, 0, ONE_SIDE),
    ("rbp-resilient", "collects-late"): (R_TWO, 4, ONE_SIDE),
    ("rbp-resilient", "drops-late-bodies"): (R_TWO, 17, "variable received"),
    ("rbp-resilient", "forgets-collected"): (R_TWO, 20, "variable received"),
    ("rbp-resilient", "forgets-silence"): (R_TWO, 2, f"process 1: {TIMERS}"),
    ("rbp-resilient", "keeps-null"): (R_TWO, 4, ONE_SIDE),
    ("rbp-resilient", "keeps-token"): (R_TWO, 5, "variable holding"),
    ("rbp-resilient", "learns-collected"): (R_TWO, 8, "variable numbered"),
    ("rbp-resilient", "numbers-again"): (R_TWO, 4, "variable network"),
    ("rbp-resilient", "numbers-newest"): (R_BOTH, 6, "variable network"),
    ("rbp-resilient", "renames-resent-data"): (R_TWO, 2, "variable network"),
    ("rbp-resilient", "stops-at-any-ack"): (R_TWO, 8, "variable passed"),
    ("rbp-resilient", "waits-to-ask"): (R_TWO, 14, REFUSED),
    ("dtp", "acknowledges-again"): (D_THREE, 4, "variable acks"),
    ("dtp", "acts-unrecovered"): (D_PAIR, 3, f"process 1: {TIMERS}"),
    ("dtp", "advances-without-body"): (D_PAIR, 3, "variable network"),
    ("dtp", "answers-everybody"): (D_THREE, 5, "variable network"),
    ("dtp", "answers-nobody"): (D_THREE, 8, "variable network"),
    ("dtp", "asks-once"): (D_TWICE, 8, "variable network"),
    ("dtp", "believes-the-last"): (D_PAIR, 4, "variable status"),
    ("dtp", "counts-itself-out"): (D_PAIR, 2, "events"),
    ("dtp", "forgets-early-acks"): (D_TWICE, 8, "variable network"),
    ("dtp", "forgets-early-messages"): (D_EARLY, 4, "variable status"),
    ("dtp", "forgets-resent-message"): (D_PAIR, 4, "variable network"),
    ("dtp", "forgets-silence"): (D_PAIR, 0, f"process 0: {TIMERS}"),
    ("dtp", "ignores-told"): (D_THREE, 6, "variable status"),
    ("dtp", "keeps-stable"): (D_PAIR, 4, "variable buffer"),
    ("dtp", "passes-on"): (D_THREE, 4, ONE_SIDE),
    ("dtp", "takes-old-tokens"): (D_NULLS, 5, "variable holding"),
    ("dtp", "takes-the-newest"): (D_BOTH, 5, ONE_SIDE),
    ("reformation", "agrees-without-committing"): (F_PAIR, 4, REFUSED),
    ("reformation", "commits-in-silence"): (F_PAIR, 4, REFUSED),
    ("reformation", "forgets-its-vote"): (F_PAIR, 2, "variable highest"),
    ("reformation", "forgets-when-it-leaves"): (F_PAIR, 2, "variable highest"),
    ("reformation", "goes-on-working"): (F_PAIR, 2, "variable stage"),
    ("reformation", "ignores-abort"): (F_PAIR, 4, "variable stage"),
    ("reformation", "invites-with-the-same-version"): (F_PAIR, 3, REFUSED),
    ("reformation", "joins-any-version"): (F_PAIR, 4, REFUSED),
    ("reformation", "joins-two-lists"): (F_PAIR, 3, REFUSED),
    ("reformation", "last-of-the-greatest"): (F_PAIR, 3, REFUSED),
    ("reformation", "lists-all-members"): (F_THREE, 3, REFUSED),
    ("reformation", "most-numbers-win"): (F_PAIR, 8, REFUSED),
    ("reformation", "originator-is-the-site"): (F_PAIR, 3, REFUSED),
    ("reformation", "originator-recovers-nothing"): (F_PAIR, 6, "variable log"),
    ("reformation", "originator-stays-behind"): (F_PAIR, 5, REFUSED),
    ("reformation", "returns-to-its-list"): (F_PAIR, 2, "variable stage"),
    ("reformation", "slave-recovers-nothing"): (F_PAIR, 5, "variable log"),
    ("reformation", "stays-on-the-list"): (F_PAIR, 4, "variable belongs"),
    ("reformation", "takes-the-next-version"): (F_PAIR, 1, "variable invitation"),
    ("reformation", "tells-the-first-only"): (F_THREE, 4, REFUSED),
    ("reformation", "token-for-the-originator"): (F_PAIR, 5, REFUSED),
    ("reformation", "votes-for-an-earlier-list"): (F_PAIR, 7, "variable votes"),
    ("reformation", "votes-for-what-is-delivered"): (F_PAIR, 3, "variable votes"),
    ("reformation", "works-without-the-token"): (F_PAIR, 4, "variable stage"),
    ("sequencer", "blocks-nothing"): (S_ONE, 2, "variable blocked"),
    ("sequencer", "counts-for-all"): (S_ONE, 1, "variable received_table"),
    ("sequencer", "counts-who-left"): (S_CRASH, 7, "variable received_table"),
    ("sequencer", "delivers-of-any-view"): (S_CRASH, 9, "events"),
    ("sequencer", "drops-what-comes-early"): (S_ONE, 7, "variable early"),
    ("sequencer", "forgets-itself"): (S_ONE, 1, "events"),
    ("sequencer", "forgets-to-count"): (S_TWO, 2, "events"),
    ("sequencer", "forgets-what-it-resent"): (S_ONE, 6, "variable forward_table"),
    ("sequencer", "forwards-to-all"): (S_ONE, 1, "variable channel"),
    ("sequencer", "keeps-early"): (S_ONE, 7, "variable early"),
    ("sequencer", "keeps-forwarded"): (S_ONE, 1, "variable forward_table"),
    ("sequencer", "leaves-one-out"): (S_ONE, 1, REFUSED),
    ("sequencer", "multicasts-to-who-left"): (S_CRASH, 6, REFUSED),
    ("sequencer", "multicasts-twice"): (S_ONE, 1, "variable log"),
    ("sequencer", "names-the-coordinator"): (S_ONE, 2, "variable log"),
    ("sequencer", "names-the-first-view"): (S_ONE, 6, REFUSED),
    ("sequencer", "orders-for-ever"): (S_ONE, 7, "events"),
    ("sequencer", "orders-for-who-left"): (S_CRASH, 7, "events"),
    ("sequencer", "orders-while-blocked"): (S_ONE, 4, "events"),
    ("sequencer", "remembers-nothing"): (S_ONE, 1, "variable forward_table"),
    ("sequencer", "resends-newest-first"): (S_TWO, 7, "variable channel"),
    ("sequencer", "resends-nothing"): (S_ONE, 6, "variable channel"),
    ("sequencer", "resends-one"): (S_TWO, 7, "variable channel"),
    ("sequencer", "sends-to-the-last"): (S_ONE, 1, "events"),
    ("sequencer", "stays-blocked"): (S_ONE, 5, "variable blocked"),
    ("sequencer", "stays-with-the-first"): (S_ONE, 6, "variable channel"),
    ("sequencer", "takes-early-newest-first"): (S_TWO, 10, REFUSED),
    ("total", "acknowledges-highest"): (T_TWO, 3, "variable network"),
    ("total", "acknowledges-in-turn"): (T_TWO, 3, "variable network"),
    ("total", "acknowledges-news"): (T_TWO, 5, "variable network"),
    ("total", "answers-with-all"): (T_TWO, 5, "variable network"),
    ("total", "asks-for-one"): (T_GAP, 5, "variable network"),
    ("total", "asks-for-what-it-has"): (T_TWO, 4, "variable network"),
    ("total", "asks-once"): (T_TWO, 1, f"process 1: {TIMERS}"),
    ("total", "believes-the-last"): (T_TWO, 6, "variable acknowledged"),
    ("total", "forgets-the-suffix"): (T_TWO, 1, f"process 0: {TIMERS}"),
    ("total", "keeps-all"): (T_TWO, 3, "variable sent"),
    ("total", "keeps-nothing"): (T_TWO, 1, "variable sent"),
    ("total", "keeps-the-lowest"): (T_THREE, 3, "variable sent"),
    ("total", "numbers-again"): (T_TWO, 4, "events"),
    ("total", "passes-one"): (T_TWO, 4, "events"),
    ("total", "sends-suffix-to-all"): (T_THREE, 4, "variable network"),
    ("chang-maxemchuk", "acknowledges-early"): (Q_SMALL, 5, ONE_SIDE),
    ("chang-maxemchuk", "delivers-unnumbered"): (Q_TWO, 2, "variable status"),
    ("chang-maxemchuk", "delivers-when-stable"): (Q_TWO, 2, ONE_SIDE),
    ("chang-maxemchuk", "drops-early-acks"): (Q_SMALL, 9, "variable early"),
    ("chang-maxemchuk", "forgets-the-last"): (Q_TWO, 2, "variable channel"),
    ("chang-maxemchuk", "forgets-what-waits"): (Q_SMALL, 10, "variable acknowledged"),
    ("chang-maxemchuk", "keeps-the-token"): (Q_TWO, 4, ONE_SIDE),
    ("chang-maxemchuk", "names-itself"): (Q_SMALL, 3, REFUSED),
    ("chang-maxemchuk", "prefers-the-first"): (Q_BACK, 8, ONE_SIDE),
    ("chang-maxemchuk", "removes-early"): (Q_TWO, 3, "variable buffer"),
    ("chang-maxemchuk", "removes-nothing"): (Q_TWO, 7, "variable buffer"),
    ("chang-maxemchuk", "sends-two"): (Q_TWO, 1, "process 0: busy"),
    ("chang-maxemchuk", "turns-back"): (Q_SMALL, 6, ONE_SIDE),
    ("pinwheel", "acknowledges-early"): (Q_SMALL, 5, ONE_SIDE),
    ("pinwheel", "believes-the-last"): (Q_TWO, 6, "variable heard"),
    ("pinwheel", "drops-early-acks"): (Q_SMALL, 9, "variable early"),
    ("pinwheel", "forgets-itself"): (Q_TWO, 5, "variable heard"),
    ("pinwheel", "forgets-the-giver"): (Q_TWO, 2, "variable heard"),
    ("pinwheel", "keeps-the-token"): (Q_TWO, 2, "variable token"),
    ("pinwheel", "passes-at-once"): (Q_TWO, 4, "variable token"),
    ("pinwheel", "passes-never"): (Q_TWO, 2, "variable token"),
    ("pinwheel", "removes-at-most"): (Q_TWO, 3, "variable buffer"),
    ("pinwheel", "removes-nothing"): (Q_TWO, 5, "variable buffer"),
    ("pinwheel", "says-nothing"): (Q_TWO, 7, "variable heard"),
    ("pinwheel", "sends-one"): (Q_TWO, 1, "process 0: busy"),
    ("pinwheel", "tells-what-it-has"): (Q_TWO, 6, "variable heard"),
    ("totem", "believes-the-token"): (RING_TWO, 6, "variable stable"),
    ("totem", "counts-for-ever"): (RING_TWO, 3, "variable visit"),
    ("totem", "delivers-as-it-comes"): (RING_TWO, 5, "events"),
    ("totem", "delivers-one"): (RING_TWO, 6, "events"),
    ("totem", "forgets-its-own"): (RING_TWO, 9, ONE_SIDE),
    ("totem", "forgets-itself"): (RING_TWO, 2, "events"),
    ("totem", "gives-number-again"): (RING_TWO, 2, "variable token"),
    ("totem", "keeps-the-token"): (RING_TWO, 1, "variable token"),
    ("totem", "leaves-one-out"): (RING_TWO, 2, "variable network"),
    ("totem", "never-rests"): (RING_TWO, 0, f"process 0: {TIMERS}"),
    ("totem", "passes-backwards"): (RING_THREE, 1, "variable network"),
    ("totem", "rests-early"): (RING_TWO, 5, f"process 1: {TIMERS}"),
    ("totem", "sends-all"): (RING_THREE, 3, ONE_SIDE),
    ("totem", "sends-newest-first"): (RING_TWO, 3, "events"),
    ("totem", "sends-one-a-visit"): (RING_TWO, 3, ONE_SIDE),
    ("totem", "takes-own-for-all"): (RING_TWO, 3, "variable stable"),
    ("totem", "tells-nothing"): (RING_TWO, 3, "variable network"),
    ("totem", "tells-what-was-given"): (RING_TWO, 5, "variable network"),
    ("chandra-toueg", "acknowledges-suspected"): (C_TWO, 4, "variable network"),
    ("chandra-toueg", "adopts-nothing"): (C_THREE, 9, "variable estimate"),
    ("chandra-toueg", "counts-from-nought"): (C_TWO, 2, "variable phase"),
    ("chandra-toueg", "decides-in-silence"): (C_TWO, 11, "variable network"),
    ("chandra-toueg", "decides-on-any-answers"): (C_TWO, 11, "events"),
    ("chandra-toueg", "forgets-what-comes-early"): (C_TWO, 3, "variable inbox"),
    ("chandra-toueg", "gives-up-on-one-nack"): (C_TWO, 11, "variable inbox"),
    ("chandra-toueg", "goes-on-undecided"): (C_TWO, 11, "variable inbox"),
    ("chandra-toueg", "half-is-enough"): (C_TWO, 2, ONE_SIDE),
    ("chandra-toueg", "ignores-timestamps"): (C_ROUNDS, 16, ONE_SIDE),
    ("chandra-toueg", "keeps-its-timestamp"): (C_TWO, 7, "variable timestamp"),
    ("chandra-toueg", "keeps-what-comes-late"): (C_CRASH, 11, "variable inbox"),
    ("chandra-toueg", "leaves-one-out"): (C_TWO, 6, "variable network"),
    ("chandra-toueg", "never-refuses"): (C_TWO, 3, ONE_SIDE),
    ("chandra-toueg", "one-coordinator"): (C_CRASH, 5, "variable phase"),
    ("chandra-toueg", "proposes-its-own"): (C_TWO, 5, ONE_SIDE),
    ("chandra-toueg", "refuses-first"): (C_THREE, 12, "variable timestamp"),
    ("chandra-toueg", "suspects-for-ever"): (C_TWO, 3, "variable suspected"),
    ("chandra-toueg", "takes-the-oldest"): (C_ROUNDS, 14, ONE_SIDE),
    ("chandra-toueg", "tells-nobody-else"): (C_TWO, 12, "variable network"),
    ("chandra-toueg", "waits-for-one-more"): (C_TWO, 5, ONE_SIDE),
    ("irbp", "adopts-unheard"): (I_WRONG, 15, ONE_SIDE),
    ("irbp", "calls-in-silence"): (I_QUIET, 3, "variable sent"),
    ("irbp", "calls-once"): (I_QUIET, 5, "variable sent"),
    ("irbp", "delivers-again"): (I_TWO, 23, "events"),
    ("irbp", "delivers-from-the-last"): (I_BOTH, 13, "events"),
    ("irbp", "delivers-one-less"): (I_TWO, 12, "events"),
    ("irbp", "drops-early-decisions"): (I_WRONG, 15, "variable learned"),
    ("irbp", "drops-early-reports"): (I_QUIET, 5, "variable heard"),
    ("irbp", "forgets-itself"): (I_QUIET, 8, REFUSED),
    ("irbp", "forgets-where-it-stands"): (I_QUIET, 13, "variable numbered"),
    ("irbp", "goes-on-ordering"): (I_QUIET, 4, "variable phase"),
    ("irbp", "hears-again"): (I_ENDS, 8, "variable heard"),
    ("irbp", "hears-no-suspicion"): (I_QUIET, 8, ONE_SIDE),
    ("irbp", "installs-undelivered"): (I_QUIET, 13, "variable numbered"),
    ("irbp", "keeps-holes"): (I_HOLES, 24, "variable proposal"),
    ("irbp", "leaves-out-the-suspected"): (I_TWO, 7, "variable proposal"),
    ("irbp", "lists-the-first-two"): (I_WRONG, 10, "variable proposal"),
    ("irbp", "lists-the-suspected"): (I_QUIET, 8, "variable proposal"),
    ("irbp", "lives-on"): (I_WRONG, 16, REFUSED),
    ("irbp", "loses-the-unnumbered"): (I_TWO, 8, "variable proposal"),
    ("irbp", "merges-its-own"): (I_QUIET, 8, "variable proposal"),
    ("irbp", "merges-the-first"): (I_QUIET, 9, "variable proposal"),
    ("irbp", "needs-no-majority"): (I_TWO, 3, ONE_SIDE),
    ("irbp", "numbers-from-the-newest"): (I_BOTH, 9, "variable proposal"),
    ("irbp", "proposes-twice"): (I_WRONG, 10, ONE_SIDE),
    ("irbp", "reports-again"): (I_QUIET, 7, REFUSED),
    ("irbp", "reports-no-bodies"): (I_TWO, 4, "variable bodies"),
    ("irbp", "reports-numbered-bodies"): (I_TWO, 4, "variable bodies"),
    ("irbp", "reports-to-the-first"): (I_QUIET, 4, REFUSED),
    ("irbp", "reports-up-to-the-gap"): (I_CRASH, 8, "variable reported"),
    ("irbp", "reports-without-null"): (I_QUIET, 4, "variable reported"),
    ("irbp", "sends-calls-again"): (I_QUIET, 7, REFUSED),
    ("irbp", "skips-a-number"): (I_QUIET, 13, REFUSED),
    ("irbp", "stays-with-the-list"): (I_QUIET, 13, "events"),
    ("irbp", "stops-late"): (I_QUIET, 4, "variable phase"),
    ("irbp", "suspects-for-ever"): (I_TRUST, 7, ONE_SIDE),
    ("irbp", "takes-later-reports"): (I_QUIET, 6, "variable heard"),
    ("irbp", "tells-all-is-settled"): (I_QUIET, 4, REFUSED),
    ("irbp", "turns-the-list-round"): (I_QUIET, 13, "variable numbered"),
    ("irbp", "waits-again"): (I_TRUST, 14, ONE_SIDE),
    ("irbp", "waits-for-nobody"): (I_QUIET, 7, ONE_SIDE),
    ("irbp", "waits-for-the-suspected"): (I_QUIET, 7, ONE_SIDE),
    ("vsc", "acknowledges-nothing"): (V_TWO, 2, "variable sent"),
    ("vsc", "acknowledges-to-all"): (V_CRASH, 2, "variable sent"),
    ("vsc", "adopts-unheard"): (V_TWO, 8, ONE_SIDE),
    ("vsc", "calls-in-silence"): (V_TWO, 2, "variable sent"),
    ("vsc", "calls-once"): (V_TWO, 3, "variable sent"),
    ("vsc", "delivers-msg-again"): (V_TWO, 8, "events"),
    ("vsc", "delivers-no-msg"): (V_TWO, 8, "events"),
    ("vsc", "delivers-own-late"): (V_TWO, 1, "events"),
    ("vsc", "drops-early-decisions"): (V_TWO, 8, "variable learned"),
    ("vsc", "drops-early-reports"): (V_TWO, 3, "variable heard"),
    ("vsc", "forgets-at-the-first"): (V_CRASH, 3, "variable unstable"),
    ("vsc", "forgets-itself"): (V_TWO, 5, "variable proposal"),
    ("vsc", "forgets-nothing"): (V_TWO, 3, "variable unstable"),
    ("vsc", "goes-on-ordering"): (V_TWO, 4, REFUSED),
    ("vsc", "hears-again"): (V_TWO, 6, "variable heard"),
    ("vsc", "hears-no-suspicion"): (V_CRASH, 6, ONE_SIDE),
    ("vsc", "installs-undelivered"): (V_TWO, 8, "events"),
    ("vsc", "keeps-no-own"): (V_TWO, 1, "variable unstable"),
    ("vsc", "keeps-stability"): (V_TWO, 3, "variable sent"),
    ("vsc", "leaves-out-the-suspected"): (V_TWO, 5, "variable proposal"),
    ("vsc", "lists-the-first-two"): (V_WRONG, 7, "variable proposal"),
    ("vsc", "lists-the-suspected"): (V_CRASH, 6, "variable proposal"),
    ("vsc", "lives-on"): (V_WRONG, 12, REFUSED),
    ("vsc", "merges-its-own"): (V_TWO, 6, "variable proposal"),
    ("vsc", "merges-stable"): (V_TWO, 8, "variable proposal"),
    ("vsc", "merges-the-first"): (V_TWO, 6, "variable proposal"),
    ("vsc", "merges-what-all-have"): (V_TWO, 6, "variable proposal"),
    ("vsc", "needs-no-majority"): (V_TWO, 2, ONE_SIDE),
    ("vsc", "proposes-twice"): (V_TWO, 6, ONE_SIDE),
    ("vsc", "reports-again"): (V_TWO, 4, REFUSED),
    ("vsc", "reports-own"): (V_TWO, 4, "variable sent_unstable"),
    ("vsc", "reports-received"): (V_TWO, 3, "variable sent_stable"),
    ("vsc", "reports-to-the-first"): (V_CRASH, 3, REFUSED),
    ("vsc", "sends-calls-again"): (V_TWO, 4, REFUSED),
    ("vsc", "skips-a-number"): (V_TWO, 7, REFUSED),
    ("vsc", "stays-with-the-list"): (V_CRASH, 8, "events"),
    ("vsc", "stops-late"): (V_TWO, 4, REFUSED),
    ("vsc", "suspects-for-ever"): (V_WRONG, 5, ONE_SIDE),
    ("vsc", "takes-later-reports"): (V_TWO, 4, "variable heard"),
    ("vsc", "tells-stability-to-one"): (V_CRASH, 5, REFUSED),
    ("vsc", "waits-again"): (V_WRONG, 7, ONE_SIDE),
    ("vsc", "waits-for-nobody"): (V_CRASH, 5, ONE_SIDE),
    ("vsc", "waits-for-the-suspected"): (V_CRASH, 5, ONE_SIDE),
    ("irbp-two-views", "answers-without-bodies"): (Y_HEARS, 11, "process 0 is asked for all numbers"),
    ("irbp-two-views", "asks-one-member"): (Y_HEARS, 5, "process 1 asks, turn 2"),
    ("irbp-two-views", "awaits-externals"): (Y_HEARS, 2, ONE_SIDE),
    ("irbp-two-views", "believes-itself-alone"): (Y_CRASH, 10, "variable proposal"),
    ("irbp-two-views", "comes-back-lacking"): (Y_HEARS, 8, "process 1 lacks nothing"),
    ("irbp-two-views", "comes-back-unasked"): (Y_HEARS, 1, "process 1 comes back without a question"),
    ("irbp-two-views", "comes-back-unheard"): (Y_HEARS, 0, "process 1 comes back unanswered"),
    ("irbp-two-views", "excludes-externals"): (Y_BACK, 16, "events"),
    ("irbp-two-views", "excludes-the-suspected"): (Y_CRASH, 11, "variable proposal"),
    ("irbp-two-views", "externals-keep"): (Y_HEARS, 7, "variable kept"),
    ("irbp-two-views", "gives-up-at-once"): (Y_HEARS, 0, "1 say to process 1: gone to 1"),
    ("irbp-two-views", "goes-on-lacking"): (Y_BACK, 22, "events"),
    ("irbp-two-views", "goes-on-with-few"): (Y_GONE, 12, REFUSED),
    ("irbp-two-views", "hides-how-far-it-is"): (Y_HEARS, 2, "process 2 is asked how far it is"),
    ("irbp-two-views", "keeps-nothing"): (Y_HEARS, 3, "variable kept"),
    ("irbp-two-views", "keeps-the-oldest"): ({**Y_OUTSIDE, "room": 1}, 24, "variable kept"),
    ("irbp-two-views", "keeps-the-other-call"): (Y_CRASH, 9, "variable sent"),
    ("irbp-two-views", "lacks-in-silence"): (Y_GONE, 12, "variable sent"),
    ("irbp-two-views", "lists-externals-first"): (Y_CRASH, 13, "variable listed"),
    ("irbp-two-views", "lists-the-incomplete"): (Y_BACK, 17, "variable proposal"),
    ("irbp-two-views", "merges-all-kept"): (Y_OUTSIDE, 20, "variable proposal"),
    ("irbp-two-views", "merges-for-the-heard"): (Y_OUTSIDE, 16, "variable proposal"),
    ("irbp-two-views", "merges-nothing-kept"): (Y_OUTSIDE, 12, "variable phase"),
    ("irbp-two-views", "never-excludes"): (Y_CRASH, 9, "variable proposal"),
    ("irbp-two-views", "never-gives-up"): (Y_HEARS, 0, "2 say to process 1: gone to 1"),
    ("irbp-two-views", "never-asks-how-far"): (Y_HEARS, 1, "process 1 asks how far the core is"),
    ("irbp-two-views", "offers-nothing"): (Y_OUTSIDE, 16, "variable sent"),
    ("irbp-two-views", "offers-to-nobody-before"): (Y_OUTSIDE, 16, "variable sent"),
    ("irbp-two-views", "passes-to-externals"): (Y_HEARS, 0, "2 say to process 1: gone to 1"),
    ("irbp-two-views", "puts-all-in-the-core"): (Y_CRASH, 13, "variable listed"),
    ("irbp-two-views", "refuses-offers"): (Y_OUTSIDE, 17, "variable phase"),
    ("irbp-two-views", "reports-nobody-given-up"): (Y_CRASH, 5, "variable abandoned"),
    ("irbp-two-views", "says-more-is-gone"): (Y_GONE, 3, "process 2 is asked for all numbers"),
    ("irbp-two-views", "says-nothing-is-gone"): (Y_GONE, 3, "process 2 is asked for all numbers"),
    ("irbp-two-views", "sorts-the-list"): (Y_OUTSIDE, 13, "variable numbered"),
    ("irbp-two-views", "takes-one-call"): (Y_CRASH, 6, "variable sent"),
    ("irbp-two-views", "tries-again"): (Y_GONE, 12, ONE_SIDE),
    ("irbp-two-views", "tries-once"): (Y_GONE, 12, "variable lacking"),
    ("irbp-two-views", "waits-for-the-slow-detector"): (Y_CRASH, 7, ONE_SIDE),
    ("primary-backup-sessions", "answers-any-counter"): (P_TWO, 7, "events"),
    ("primary-backup-sessions", "answers-at-once"): (P_TWO, 1, "events"),
    ("primary-backup-sessions", "answers-earlier-ones"): (P_TWO, 8, "events"),
    ("primary-backup-sessions", "answers-nobody"): (P_TWO, 3, "events"),
    ("primary-backup-sessions", "answers-twice"): (P_TWO, 3, "variable waiting"),
    ("primary-backup-sessions", "compares-no-session"): (P_CLIENTS, 11, "variable unsent"),
    ("primary-backup-sessions", "counts-in-any-view"): (P_TWO, 4, "variable recorded"),
    ("primary-backup-sessions", "drops-requests"): (P_TWO, 2, "variable waiting"),
    ("primary-backup-sessions", "earlier-replaces-later"): (P_TWO, 6, "variable waiting"),
    ("primary-backup-sessions", "everybody-leads"): (P_TWO, 1, "events"),
    ("primary-backup-sessions", "executes-again"): (P_TWO, 8, "events"),
    ("primary-backup-sessions", "executes-the-last"): (P_CLIENTS, 13, "variable waiting"),
    ("primary-backup-sessions", "executes-two-at-once"): (P_TWO, 2, "variable unsent"),
    ("primary-backup-sessions", "first-stays"): (P_TWO, 6, "events"),
    ("primary-backup-sessions", "forgets-the-newest"): (P_CLIENTS, 6, "variable recorded"),
    ("primary-backup-sessions", "keeps-one-more"): (P_CLIENTS, 6, "variable recorded"),
    ("primary-backup-sessions", "loads-nothing"): (P_JOINS, 5, "variable recorded"),
    ("primary-backup-sessions", "names-itself"): (P_TWO, 1, "events"),
    ("primary-backup-sessions", "names-no-session"): (P_TWO, 3, "events"),
    ("primary-backup-sessions", "names-the-next-view"): (P_TWO, 1, "variable unsent"),
    ("primary-backup-sessions", "only-the-primary-performs"): (P_TWO, 8, "variable performed"),
    ("primary-backup-sessions", "only-the-primary-records"): (P_TWO, 3, "variable recorded"),
    ("primary-backup-sessions", "records-no-failure"): (P_AGAIN, 11, "variable recorded"),
    ("primary-backup-sessions", "records-the-forgotten"): (P_TWO, 8, "variable recorded"),
    ("primary-backup-sessions", "takes-forgotten-for-new"): (P_TWO, 6, "variable unsent"),
    ("primary-backup-sessions", "the-last-leads"): (P_TWO, 1, "events"),
    ("primary-backup-sessions", "waits-for-the-lost"): (P_TWO, 2, "variable unsent"),
    ("sequencer-listed", "acknowledges-again"): (L_ONE, 3, REFUSED),
    ("sequencer-listed", "acknowledges-nothing"): (L_ONE, 2, "variable sent"),
    ("sequencer-listed", "acknowledges-the-next"): (L_ONE, 2, "variable sent"),
    ("sequencer-listed", "acknowledges-to-all"): (L_CRASH, 2, REFUSED),
    ("sequencer-listed", "adopts-again"): (L_ONE, 14, "events"),
    ("sequencer-listed", "adopts-in-reverse"): (L_TWO, 13, "events"),
    ("sequencer-listed", "adopts-one-less"): (L_ONE, 12, "events"),
    ("sequencer-listed", "believes-the-last"): (L_TWO, 7, "variable acknowledged"),
    ("sequencer-listed", "counts-one"): (L_CRASH, 3, "events"),
    ("sequencer-listed", "delivers-when-ordered"): (L_ONE, 1, "the implementation raises"),
    ("sequencer-listed", "merges-without-the-unordered"): (L_TWO, 9, "variable proposal"),
    ("sequencer-listed", "orders-for-one"): (L_ONE, 1, "variable sent"),
    ("sequencer-listed", "reports-all-is-stable"): (L_ONE, 4, REFUSED),
    ("sequencer-listed", "reports-all-own"): (L_ONE, 4, "variable reported"),
    ("sequencer-listed", "reports-no-numbers"): (L_ONE, 4, "variable reported"),
    ("sequencer-listed", "reports-no-own"): (L_TWO, 5, "variable bodies"),
    ("sequencer-listed", "tells-nothing"): (L_ONE, 3, "variable sent"),
    ("sequencer-listed", "tells-the-first"): (L_CRASH, 5, REFUSED),
    ("sequencer-listed", "tells-the-last"): (L_TWO, 5, "variable sent"),
    ("total-listed", "acknowledges-for-ever"): (L_ONE, 4, "process 1: the timers that run"),
    ("total-listed", "acknowledges-news"): (L_ONE, 3, REFUSED),
    ("total-listed", "acknowledges-nothing"): (L_ONE, 2, "variable sent"),
    ("total-listed", "acknowledges-once"): (L_ONE, 2, "process 1: the timers that run"),
    ("total-listed", "acknowledges-the-highest"): (L_TWO, 4, "variable sent"),
    ("total-listed", "acknowledges-the-stable-again"): (L_ONE, 2, "process 1: what is sent again"),
    ("total-listed", "acknowledges-to-all"): (L_CRASH, 2, REFUSED),
    ("total-listed", "adopts-in-reverse"): (L_TWO, 13, "events"),
    ("total-listed", "adopts-one-less"): (L_ONE, 12, "events"),
    ("total-listed", "answers-nothing"): (L_ONE, 4, REFUSED),
    ("total-listed", "answers-with-the-last"): (L_TWO, 5, "variable sent"),
    ("total-listed", "believes-the-last"): (L_TWO, 7, "variable acknowledged"),
    ("total-listed", "believes-the-last-notice"): (L_TWO, 9, "variable stable_to"),
    ("total-listed", "counts-one"): (L_CRASH, 3, "events"),
    ("total-listed", "delivers-when-numbered"): (L_ONE, 1, "events"),
    ("total-listed", "drops-early-messages"): (L_TWO, 4, "variable queue"),
    ("total-listed", "merges-without-the-unordered"): (L_TWO, 9, "variable proposal"),
    ("total-listed", "numbers-again"): (L_TWO, 4, REFUSED),
    ("total-listed", "passes-one"): (L_TWO, 5, "variable numbered"),
    ("total-listed", "reports-all-is-stable"): (L_ONE, 4, REFUSED),
    ("total-listed", "reports-no-numbers"): (L_ONE, 4, "variable reported"),
    ("total-listed", "reports-no-own"): (L_TWO, 5, "variable bodies"),
    ("total-listed", "reports-the-queue"): (L_TWO, 7, REFUSED),
    ("total-listed", "sends-suffix-to-all"): (L_CRASH, 3, "process 0: what is sent again"),
    ("total-listed", "tells-nothing"): (L_ONE, 3, "variable sent"),
    ("total-listed", "tells-the-first"): (L_CRASH, 5, REFUSED),
    ("total-listed", "waits-for-all"): (L_ONE, 2, "process 1: busy"),
}
"""Step of the shortest run at which each fault shows, and the difference that it makes."""

LONG = {
    ("chandra-toueg", "ignores-timestamps"),
    ("chandra-toueg", "takes-the-oldest"),
    ("vsc", "lists-the-first-two"),
    ("vsc", "lives-on"),
    ("irbp", "adopts-unheard"),
    ("irbp", "drops-early-decisions"),
    ("irbp", "keeps-holes"),
    ("irbp", "lists-the-first-two"),
    ("irbp", "lives-on"),
    ("irbp", "proposes-twice"),
    ("irbp", "suspects-for-ever"),
    ("irbp", "waits-again"),
    ("irbp", "reports-up-to-the-gap"),
    *(key for key, (model, *_) in CAUGHT.items() if key[0] == "irbp-two-views" and model is not Y_HEARS),
}
"""Ten thousand transitions or more lie before them."""

LISTED = ("irbp", "irbp-two-views", "sequencer-listed", "total-listed", "vsc")
"""Cores that are walked through changes of views."""

MANY = [
    key
    for key in CAUGHT
    if key not in LONG
    and key[0] in (*LISTED, "chandra-toueg", "reformation", "primary-backup-sessions", "sequencer")
]
"""The cores with the most faults: every third of these is tried each time, all with `make check-deep`."""

LATE = LONG.union(MANY) - {*MANY[::3]}

CORES = sorted({core for core, _ in CAUGHT})

FOUND = {
    "chang-maxemchuk": ("removes-nothing", 60),
    "pinwheel": ("removes-nothing", 60),
    "sequencer": ("resends-newest-first", 60),
    "total": ("asks-for-one", 100),
    "totem": ("rests-early", 12),
}
"""A fault that Hypothesis finds, in how many runs."""

UNBOUND = [
    ("rbp-resilient", {"crashes": 1}, "crashes is 1; this core is compared where it is 0: leave crashes"),
    (
        "dtp",
        {"processes": 2, "messages": 1},
        "senders=0: which update a U_id names is known only with 1 to 2",
    ),
    ("vsc", {"messages": 4}, "messages is 4; these members are compared where each has one at most"),
    ("irbp", {"announced": True}, "announced is True; these members are compared where it is False"),
    ("total", {"views": 2}, "views is 2; this core is compared where it is 1: leave views out"),
    ("sequencer", {"stops": 1, "views": 2}, "stops is 1; this core is compared where it is 0"),
    ("sequencer", {"crashes": 2, "views": 2}, "2 crashes: two of 3 processes must be left"),
]


@pytest.mark.sampled(24)
@pytest.mark.parametrize(("core", "constants", "states", "transitions"), AGREE)
def test_a_core_agrees_in_every_transition(
    core: str, constants: dict[str, Any], states: int, transitions: int
) -> None:
    report = lockstep(binding_of(core, **constants))
    assert report.outcome is Outcome.HOLDS
    assert (report.states, report.transitions) == (states, transitions)


@pytest.mark.sampled(34)
@pytest.mark.parametrize(
    ("core", "fault"), [pytest.param(*key, marks=(pytest.mark.deep,) * (key in LATE)) for key in CAUGHT]
)
def test_each_fault_is_caught_with_a_shortest_trace(core: str, fault: str) -> None:
    """The core without the fault agrees along that trace."""
    constants, length, what = CAUGHT[core, fault]
    difference = lockstep(binding_of(core, fault=fault, **constants)).difference
    assert difference is not None
    assert (len(difference.trace), difference.what) == (length, what)
    sound = Comparison(binding_of(core, **constants))
    assert sound.run(difference.trace.start, difference.trace.steps) is None


@pytest.mark.deep
@pytest.mark.parametrize("fault", ["hears-again", "suspects-for-ever", "waits-again"])
def test_only_where_suspicions_end_is_a_fault_of_their_end_found(fault: str) -> None:
    assert lockstep(binding_of("irbp", fault=fault, **I_WRONG)).outcome is Outcome.HOLDS


def test_two_processes_that_know_different_decisions_are_a_difference() -> None:
    """The value of a list is what those share who know one; the last of them does not stand for all."""
    binding = binding_of("irbp", **I_QUIET)
    assert binding.join("listed", ((frozenset({1}),), (frozenset(),))) == (frozenset({1}),)
    assert binding.join("listed", ((frozenset({1}),), (frozenset({1, 2}),))) != (frozenset({1, 2}),)
    assert binding.join("decision", (("one",), (None,))) == ("one", None)
    assert binding.join("decision", (("one",), ("other",)))[0] not in ("one", "other")  # type: ignore[index]


@pytest.mark.parametrize("core", CORES)
def test_every_planted_fault_is_tried_and_stands_on_the_page(core: str) -> None:
    caught = {fault: entry[1:] for (name, fault), entry in CAUGHT.items() if name == core}
    assert set(bound_protocol(core).faults) == set(caught)
    row = rf"^\| {core} \| `([a-z-]+)` \|.*\| (\d+) \| ([^|]+) \|$"
    told = re.findall(row, PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {fault: int(length) for fault, length, _ in told} == {
        f: length for f, (length, _) in caught.items()
    }
    assert all(what in caught[fault][1] for fault, _, what in told)


@pytest.mark.deep
@pytest.mark.parametrize(
    "core", [pytest.param(core, marks=(pytest.mark.deep,) * (core != "sequencer")) for core in FOUND]
)
def test_hypothesis_finds_a_fault_and_none_where_none_is(core: str) -> None:
    bound, (fault, runs) = bound_protocol(core), FOUND[core]
    faulty = run_stateful(bound.bind(fault=fault, **bound.random), runs=runs, seed_number=1, shrinks=0)
    assert faulty.outcome is Outcome.VIOLATED
    sound = run_stateful(bound.bind(**bound.random), runs=3, seed_number=1)
    assert (sound.outcome, sound.difference) == (Outcome.HOLDS, None)


@pytest.mark.parametrize(("core", "constants", "told"), UNBOUND)
def test_what_a_core_is_not_compared_in_is_refused(core: str, constants: dict[str, Any], told: str) -> None:
    with pytest.raises(SpecError, match=told):
        binding_of(core, **constants)
