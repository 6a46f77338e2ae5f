"""Claims of the authors of DTP on their simulation and on their program.

Figures 2 to 5 of the paper are simulated again in docs/dtp-figures.md, with the implementation's cores and as
many messages as the authors used; the measurements of this module ask the same of shorter runs.
"""

from __future__ import annotations

from antiphon.spec.claims.claim import (
    Check,
    Claim,
    Document,
    Kind,
    Measurement,
    RecordedOutcome,
    Source,
    Standing,
)
from antiphon.spec.protocols.totem.properties import TotemChecked


def _ring(property: str, length: int | None = None, **constants: int | bool) -> Check:
    return Check(TotemChecked, property, "holds", (), (), constants, length)


def _says(section: str, quotation: str) -> Source:
    return Source(Document.DTP, section, quotation)


def _simulated(
    identifier: str,
    section: str,
    quotation: str,
    claim: str,
    because: str,
    *measurements: tuple[str, str, RecordedOutcome],
    verdict: RecordedOutcome = "holds",
) -> Claim:
    """Return a claim about the authors' simulation, whose drawings are lost in the copy that was read.

    `measurements` are triples: the name, the expected result, and the expected outcome.
    """
    checks = tuple(Measurement(*measurement) for measurement in measurements)
    return Claim(
        identifier,
        _says(section, quotation),
        claim,
        Standing.STATED,
        Kind.PERFORMANCE,
        verdict,
        because,
        checks,
    )


DTP_FIGURES: tuple[Claim, ...] = (
    _simulated(
        "DTP-32",
        "5",
        "The stability time of the DTP protocol is bounded to about two-thirds of 1/λ when the group size "
        "increases.",
        "DTP is stable after two thirds of 1/lambda.",
        "Simulated with the implementation's cores on a bus of 10 Mb/s (docs/dtp-figures.md), it comes to "
        "0.70 of 1/lambda with 40 members, and is less in smaller groups. For large groups ln 2 = 0.693 of "
        "it can be computed: each request brings news of a random member and of the one that was silent "
        "longest.",
        ("stability of DTP", "0.60 to 0.75 of 1/lambda in the largest group, nowhere more", "holds"),
    ),
    _simulated(
        "DTP-33",
        "5",
        "But the stability times of the CM protocol and the Pinwheel protocol approach nearly 1/λ as the "
        "group size increases.",
        "CM and Pinwheel are stable after nearly 1/lambda as the group grows.",
        "In CM n - 1 requests of n lambda a second have to come, so that it is (n - 1)/n of 1/lambda by the "
        "definition of the protocol; Pinwheel is a little below it. Simulated as for DTP-32.",
        (
            "stability of CM and Pinwheel",
            "0.80 to 1.05 of 1/lambda in the largest group, less in small ones",
            "holds",
        ),
    ),
    _simulated(
        "DTP-34",
        "5",
        "The results show that for three cases where 1/λ = 50, 100 and 200 ms, the DTP protocol is superior "
        "to the others except the Totem.",
        "Stability takes Totem least, then DTP, Pinwheel, CM; where 40 members have 1/lambda = 50 ms, "
        "Pinwheel most.",
        "Simulated as for DTP-32. Two members are too few for a difference: there DTP, Pinwheel and CM are "
        "one. It is the Ethernet's merit: where every message takes 1 ms however many are on their way, DTP "
        "is first with 40 members, and Totem last at 50 ms. Pinwheel is above CM only where the bus is slow "
        "enough, as at 10 Mb/s; with m = 1 nearly as much, so that it is the holder's several ACKs that "
        "delay.",
        ("DTP is stable sooner", "Totem < DTP < Pinwheel and CM for three members or more", "holds"),
        ("Pinwheel at a high rate", "above CM with 40 members at 50 ms, below it at 200 ms", "holds"),
    ),
    _simulated(
        "DTP-35",
        "5",
        "The DTP protocol requires small buffer size compared to the others except the Totem.",
        "DTP needs smaller buffers than the others but Totem, the more so in larger groups.",
        "Simulated as for DTP-32, in messages that a member keeps: what arrives at n lambda a second stays "
        "for the stability time.",
        ("size of buffers", "Totem < DTP < Pinwheel and CM, by more in each larger group", "holds"),
    ),
    _simulated(
        "DTP-36",
        "5",
        "the average delivery time of the DTP protocol is comparable with the other protocols except the "
        "Totem",
        "Delivery takes equally long except in Totem, where it grows with the group.",
        "Simulated as for DTP-32: a message and its ACK cross the bus, whoever sends the ACK. In Totem a "
        "message waits for the token, half a round and more, as the theory of cyclic queues has it.",
        ("time of delivery", "CM, Pinwheel and DTP within 5 %; Totem grows to 1.5 times that", "holds"),
    ),
    _simulated(
        "DTP-37",
        "5",
        "The average number of overhead messages per message is comparable with the other protocols "
        "except the Totem, i.e. about 1 message per message.",
        "There is about one overhead message for each message, except in Totem.",
        "Simulated as for DTP-32: one ACK, and a NULL for each 100 ms without a request, which only the "
        "smallest groups know: two members at 1/lambda = 200 ms have 1.6. Totem's token makes as many "
        "passes as fit between messages.",
        (
            "overhead messages",
            "0.90 to 1.25 but in Totem, which falls with the group, and stays above 2",
            "holds",
        ),
    ),
    Claim(
        "DTP-38",
        _says("5", "In Totem, the stability time is approximately two token rotation times"),
        "In Totem an update is known to be stable everywhere after two rotations of the token.",
        Standing.STATED,
        Kind.PERFORMANCE,
        "holds",
        "Counted in passes of the token, where everything arrives before the token moves; and not two passes "
        "earlier.",
        (
            _ring("StableInTwoRotations", processes=3, messages=2, visits=8, instant=True),
            _ring("UnstableBefore", length=10, processes=3, messages=2, visits=8, instant=True),
            _ring("StableIsDelivered", processes=3, messages=2, visits=5),
            _ring("UniformIntegrity", processes=3, messages=2, visits=5),
            _ring("UniformPrefixOrder", processes=3, messages=2, visits=5),
        ),
    ),
    _simulated(
        "DTP-39",
        "6",
        "In the DTP protocol the processing load for ordering messages is more effectively distributed "
        "among LTMs than in the other protocols such that the most inactive group member is in charge.",
        "The load of ordering is distributed more effectively than in the other protocols.",
        "What an effective distribution is, is not said, and the runs answer both ways. By how evenly the "
        "load that ordering makes is distributed, it is not: where all members are equally active, as in "
        "the simulation, the rings of CM, Pinwheel and Totem give all the same share, and the shares of DTP "
        "deviate by some per cent, though by less than chance would have it. By who is in charge it is: who "
        "sends less orders more, so that where members are unequally active all that a member sends, ACKs "
        "and messages, is spread more evenly than in CM and Pinwheel.",
        ("load beside the others", "the shares in ordering vary less in DTP than in the others", "violated"),
        ("load, equally active", "the shares in ordering vary less than by chance", "holds"),
        ("load, unequally active", "all that a member sends varies less than in CM and Pinwheel", "holds"),
        verdict="unknown",
    ),
    Claim(
        "DTP-40",
        _says(
            "5",
            "When we have each node ready to broadcast messages at all times, we have observed that about "
            "1000 thousand byte long messages can be handled per second for ordering.",
        ),
        "The authors' implementation orders about 1000 messages of a thousand bytes a second.",
        Standing.STATED,
        Kind.PERFORMANCE,
        "unknown",
        "By reading: it was measured on three workstations of 1996 with a program that is not at hand.",
    ),
    Claim(
        "DTP-41",
        _says("5", "we have simulated in the absence of failures"),
        "The end of a finite simulation, where the last updates become stable only by NULLs, lifts the "
        "means.",
        Standing.QUESTION,
        Kind.PERFORMANCE,
        "holds",
        "Whether the authors left the end out is not said, and they are not charged with it. The last of "
        "ten thousand messages wait for up to n - 1 NULLs, T each: with 40 members at 1/lambda = 50 ms that "
        "alone lifts the mean of CM by 0.15 of 1/lambda, beyond 1/lambda, and that of DTP beyond two "
        "thirds. What the paper says of its figures agrees with runs whose members go on.",
        (
            Measurement(
                "silent end",
                "a run that ends with its last message has means more than 2 % above one that goes on",
                "holds",
            ),
        ),
    ),
)
"""Claims DTP-32 to DTP-41."""
