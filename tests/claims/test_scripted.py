"""Runs that decide a claim where the whole state space is too large, told step by step."""

from __future__ import annotations

import pytest

from antiphon.conformance.ledger.measurements import measure
from antiphon.conformance.ledger.scripted import ASKED_ONCE, ahead, follow
from antiphon.spec.lang import Program, program
from antiphon.spec.protocols.rbp.properties import RbpChecked


@pytest.fixture
def repaired() -> Program:
    return program(RbpChecked, repairs="all", processes=3, messages=2, losses=2, unlimited=True, urgent=True)


@pytest.mark.deep
def test_a_body_that_is_asked_for_once_never_arrives_when_the_request_is_lost_too() -> None:
    """Claim RBP-40, figure 16, lines 28-31."""
    arrives, found = measure("asked once")
    assert not arrives
    assert (
        found
        == "after 20 steps, two of them losses, 168 states lie ahead without faults, and p0 has m0 in none "
        "of them"
    )


@pytest.mark.deep
def test_as_repaired_the_same_run_is_possible_and_does_no_harm(repaired: Program) -> None:
    _, met = ahead(repaired, follow(repaired, ASKED_ONCE), "UniformAgreement")
    assert met


def test_a_script_that_does_not_run_says_where(repaired: Program) -> None:
    with pytest.raises(
        LookupError, match=r"step 2, accept\(p1\), is not enabled; enabled are .*broadcast\(p1, m0\)"
    ):
        follow(repaired, (ASKED_ONCE[0], "accept(p1)"))


def test_a_process_of_dtp_keeps_more_messages_than_the_paper_allows() -> None:
    """Claim DTP-22, section 4.2: `BUF_i holds 2n-1 MSG and n-1 ACK messages at most`."""
    tight, found = measure("fullest buffers")
    assert tight
    assert found.split("; ") == [
        "after 26 steps of 3 processes, no loss among them, one keeps 7 MSGs and 2 ACKs",
        "2n - 1 is 5, 3n - 2 is 7",
        "after 47 steps of 4 processes, no loss among them, one keeps 10 MSGs and 3 ACKs",
        "2n - 1 is 7, 3n - 2 is 10",
    ]


def test_without_the_status_in_every_ack_the_buffers_of_dtp_grow_for_ever() -> None:
    """Claim DTP-23, section 4.2: `MSG becomes stable after its subsequent n-1 MSGs are acknowledged`."""
    grows, found = measure("idle rounds")
    assert grows
    assert (
        found
        == "after 2 and 4 rounds of 10 steps, no loss among them, a process keeps 2 and 4 MSGs, 2 and 4 "
        "ACKs; where every ACK carries the status, 0 and 0"
    )
