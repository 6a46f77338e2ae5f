"""Sentences of Kim and Kim about their figures, each with its question and the expected result.

Source: J. Kim and C. Kim 1997, abstract and sections 5 and 6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from antiphon.conformance.run.performance.questions import (
    CM,
    DTP,
    PINWHEEL,
    Scale,
    at_figure,
    delivery,
    dtp_stable_sooner,
    end_points,
    even_order_load,
    evens_out,
    extended_points,
    figure_points,
    load_points,
    more_even_than_others,
    overhead,
    pinwheel_later_at_high_rate,
    silent_end_raises_means,
    small_buffer,
    stability_near_mean,
    two_thirds,
)
from antiphon.conformance.run.performance.setting import Setting
from antiphon.conformance.run.performance.sweep import Runs

__all__ = ["SENTENCES", "Sentence"]


class Sentence(NamedTuple):
    """Sentence of the paper and its question: `asked` is the condition under which it is true.

    `is_ours` is True if the question is not the sentence's own, so that the sentence cannot be refuted by it.
    """

    claim: str
    where: str
    quotation: str
    asked: str
    points: Callable[[Scale], list[Setting]]
    judge: Callable[[Runs, Scale], tuple[bool, str]]
    is_ours: bool = False

    def answer(self, agrees: bool) -> str:
        """Return the answer of the runs, in a word."""
        if self.is_ours:
            return "our question: yes" if agrees else "our question: no"
        return "agrees" if agrees else "differs"


SENTENCES: dict[str, Sentence] = {
    "stability of DTP": Sentence(
        "DTP-32",
        "section 5, figure 2",
        "The stability time of the DTP protocol is bounded to about two-thirds of 1/λ when the group size "
        "increases.",
        "0.60 to 0.75 in the largest group, nowhere more",
        lambda scale: figure_points(scale, (DTP,)),
        two_thirds,
    ),
    "stability of CM and Pinwheel": Sentence(
        "DTP-33",
        "section 5, figure 2",
        "But the stability times of the CM protocol and the Pinwheel protocol approach nearly 1/λ as the "
        "group size increases.",
        "0.80 to 1.05 in the largest group, less in small ones",
        lambda scale: figure_points(scale, (CM, PINWHEEL)),
        stability_near_mean,
    ),
    "DTP is stable sooner": Sentence(
        "DTP-34",
        "section 5, figure 2",
        "The results show that for three cases where 1/λ = 50, 100 and 200 ms, the DTP protocol is superior "
        "to the others except the Totem.",
        "Totem is below DTP, DTP below Pinwheel and CM at every point of three members or more",
        figure_points,
        dtp_stable_sooner,
    ),
    "Pinwheel at a high rate": Sentence(
        "DTP-34",
        "section 5, figure 2",
        "When the message transmission rate at the LTM is very high, this scheme may help to shorten the "
        "average delivery time of the messages, but it extends the stability time as seen in the case where "
        "group size is 40 and 1/λ is 50 ms.",
        "there Pinwheel takes longer than CM, at 200 ms less long",
        extended_points,
        pinwheel_later_at_high_rate,
    ),
    "size of buffers": Sentence(
        "DTP-35",
        "section 5, figure 3",
        "The DTP protocol requires small buffer size compared to the others except the Totem. The difference "
        "increases as the group size increases.",
        "Totem keeps less than DTP, DTP less than Pinwheel and CM, by more in each larger group",
        at_figure(),
        small_buffer,
    ),
    "time of delivery": Sentence(
        "DTP-36",
        "section 5, figure 4",
        "As shown in figure 4, the average delivery time of the DTP protocol is comparable with the other "
        "protocols except the Totem. In the Totem, since a LTM defers multicasting updates until it has "
        "hold of the token, the average delivery time increases when the group size grows.",
        "CM, Pinwheel and DTP within 5 % of one another; Totem grows to more than 1.5 times that",
        at_figure(),
        delivery,
    ),
    "overhead messages": Sentence(
        "DTP-37",
        "section 5, figure 5",
        "The average number of overhead messages per message is comparable with the other protocols except "
        "the Totem, i.e. about 1 message per message. In the Totem, due to the continuous token "
        "circulation, the number of overhead messages increases when the group size is small, and decreases "
        "when the group size grows",
        "0.90 to 1.25 but in Totem; Totem falls with the size of the group, and stays above 2",
        at_figure(),
        overhead,
    ),
    "load, equally active": Sentence(
        "DTP-39",
        "abstract",
        "The proposed protocol … distributes evenly the load of ordering messages to accomplish a total "
        "message ordering.",
        "more evenly than a random choice of who orders",
        load_points(False),
        even_order_load,
    ),
    "load beside the others": Sentence(
        "DTP-39",
        "section 6",
        "In the DTP protocol the processing load for ordering messages is more effectively distributed "
        "among LTMs than in the other protocols",
        "what *effectively* means is not said, and the ledger leaves it open; if evenly, as in the abstract: "
        "the share of the control messages varies less between the members of DTP than of any other",
        load_points(False),
        more_even_than_others,
    ),
    "load, unequally active": Sentence(
        "DTP-39",
        "section 6",
        "… such that the most inactive group member is in charge.",
        "where half are more active, all that a member sends varies less in DTP than in CM and Pinwheel",
        load_points(True),
        evens_out,
    ),
    "silent end": Sentence(
        "DTP-41",
        "section 5",
        "So, we have simulated in the absence of failures the behaviour of these protocols on an Ethernet by "
        "sending ten thousand 500 byte long messages.",
        "whether the end of a run, where nobody sends any more, was left out is not said; does it matter? "
        "The means of a run that ends with the last message are more than 2 % above those where it goes on",
        end_points,
        silent_end_raises_means,
        is_ours=True,
    ),
}
"""All sentences by the name of their measurement in the ledger."""
