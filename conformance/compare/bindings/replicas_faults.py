"""Planted faults in primary-backup: replicas with one mistake each.

`antiphon lockstep primary-backup-sessions --fault NAME` shows the shortest trace to where it differs.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from antiphon.impl.membership.member import Member, View
from antiphon.impl.replication import Answer, Outcome, Replica, Reply, Request, Update

__all__ = ["FAULTS"]


class CountsInAnyView(Replica[int]):
    """Planted fault in updates, missing condition: an update counts in a later view than that of its
    execution. Correct: in that view only.
    """

    def settle(self, update: Update, number: int) -> None:
        """Perform the update, whatever its view."""
        assert self._view is not None, "it is in a view"
        super().settle(replace(update, view=self._view.number), number)


class NamesTheNextView(Replica[int]):
    """Planted fault in updates, off by one: an update is for the view after that of its execution.
    Correct: that view.
    """

    def updates_to_broadcast(self) -> list[Update]:
        """Return the updates for the next view."""
        return [replace(update, view=update.view + 1) for update in super().updates_to_broadcast()]


class EverybodyLeads(Replica[int]):
    """Planted fault in the primary, missing condition: every replica executes requests. Correct: the
    first of the view.
    """

    @property
    def is_primary(self) -> bool:
        """Return True in every view."""
        return self._view is not None


class TheLastLeads(Replica[int]):
    """Planted fault in the primary, wrong end: the last member of the view leads. Correct: the first."""

    @property
    def primary(self) -> Member | None:
        """Return the last member."""
        return None if self._view is None else self._view.members[-1]


class AnswersAtOnce(Replica[int]):
    """Planted fault in answers, too early: the primary answers when it has executed. Correct: when the
    update is delivered.
    """

    def _execute(self) -> None:
        """Execute, and answer."""
        before = len(self._updates)
        super()._execute()
        for update in self._updates[before:]:
            self._replies.append(Reply(self._waiting[update.answer.client].sender, update.answer))


class AnswersTwice(Replica[int]):
    """Planted fault in answers, work done again: a request waits on after its answer. Correct: it is gone."""

    def settle(self, update: Update, number: int) -> None:
        """Perform the update, and put the answered request back."""
        waiting = self._waiting.get(update.answer.client)
        super().settle(update, number)
        if waiting is not None:
            self._waiting[update.answer.client] = waiting


class AnswersNobody(Replica[int]):
    """Planted fault in answers, forgotten message: an update is performed and its client hears nothing.
    Correct: the answer is sent.
    """

    def settle(self, update: Update, number: int) -> None:
        """Perform the update without an answer."""
        super().settle(update, number)
        self._replies.clear()


class AnswersAnyCounter(Replica[int]):
    """Planted fault in answers, missing comparison: the answer of a request goes to a later one of its
    client. Correct: the number has to be the same.
    """

    def settle(self, update: Update, number: int) -> None:
        """Perform the update, and answer whatever waits."""
        waiting = self._waiting.get(update.answer.client)
        if waiting is not None:
            same = replace(waiting.request, counter=update.answer.counter)
            self._waiting[update.answer.client] = waiting._replace(request=same)
        super().settle(update, number)


class ExecutesTwoAtOnce(Replica[int]):
    """Planted fault in execution, missing condition: a request is executed while another one's update is
    on its way. Correct: one by one.
    """

    def requested(self, request: Request, sender: int) -> None:
        """Handle a request as if nothing were on its way."""
        self._executing = False
        super().requested(request, sender)


class ExecutesTheLast(Replica[int]):
    """Planted fault in execution, wrong end: the request that came last is executed first. Correct: the
    one that came first.
    """

    def _execute(self) -> None:
        """Execute the last request."""
        if not self._executing:
            self._waiting = dict(reversed(self._waiting.items()))
        super()._execute()


class WaitsForTheLost(Replica[int]):
    """Planted fault in views, state that stays: a primary waits in the next view for the update of the
    one before. Correct: it executes again.
    """

    def enter(self, view: View) -> None:
        """Enter a view, and go on waiting."""
        executing = self._executing
        super().enter(view)
        if executing:
            self._updates.clear()


class DropsRequests(Replica[int]):
    """Planted fault in views, state that is lost: a primary drops the requests that wait. Correct: it
    executes them in the next view.
    """

    def enter(self, view: View) -> None:
        """Enter a view without requests."""
        self._waiting.clear()
        super().enter(view)


class OnlyThePrimaryRecords(Replica[int]):
    """Planted fault in the record, missing copies: backups do not keep answers. Correct: all do."""

    def settle(self, update: Update, number: int) -> None:
        """Perform the update, and record it at the primary."""
        answers = self._answers.copy()
        super().settle(update, number)
        if not self.is_primary:
            self._answers = answers


class OnlyThePrimaryPerforms(Replica[int]):
    """Planted fault in the state, missing copies: backups record an answer and do not perform the update.
    Correct: all do.
    """

    def settle(self, update: Update, number: int) -> None:
        """Perform the update at the primary."""
        super().settle(update if self.is_primary else replace(update, update=b""), number)


class RecordsNoFailure(Replica[int]):
    """Planted fault in the record, missing case: that a request failed is not recorded. Correct: it is,
    as any other answer.
    """

    def settle(self, update: Update, number: int) -> None:
        """Perform the update, and record it unless it failed."""
        answers = self._answers.copy()
        super().settle(update, number)
        if update.answer.outcome is Outcome.FAILED:
            self._answers = answers


class KeepsOneMore(Replica[int]):
    """Planted fault in the record, bound: one client more is kept. Correct: as many as were asked for."""

    def settle(self, update: Update, number: int) -> None:
        """Perform the update, with another bound."""
        self._clients_max += 1
        super().settle(update, number)
        self._clients_max -= 1


class ForgetsTheNewest(Replica[int]):
    """Planted fault in the record, wrong end: a client that asked just now is forgotten. Correct: the one
    that has not asked for longest.
    """

    def settle(self, update: Update, number: int) -> None:
        """Perform the update, and keep the older ones."""
        before = self._answers.copy()
        super().settle(update, number)
        if len(before) == self._clients_max and update.answer.client not in before:
            self._answers = before


class RecordsTheForgotten(Replica[int]):
    """Planted fault in the record, wrong entry: that a client is forgotten is recorded. Correct: it is
    not, and its requests stay refused.
    """

    def settle(self, update: Update, number: int) -> None:
        """Perform the update, and record every outcome."""
        super().settle(update, number)
        if update.answer.outcome is Outcome.FORGOTTEN:
            self._answers[update.answer.client] = update.answer


class AnswersEarlierOnes(Replica[int]):
    """Planted fault in the record, weak comparison: an earlier request is answered with the last answer.
    Correct: its client has gone on.
    """

    def requested(self, request: Request, sender: int) -> None:
        """Handle a request, and answer an earlier one, too."""
        last = self._answers.get(request.client)
        if last is not None and request.counter < last.counter:
            self._replies.append(Reply(sender, last))
        super().requested(request, sender)


class ExecutesAgain(Replica[int]):
    """Planted fault in the record, off by one: a request that was executed is executed again. Correct: it
    is answered from the record.
    """

    def requested(self, request: Request, sender: int) -> None:
        """Handle a request as if the last one had not been recorded."""
        last = self._answers.get(request.client)
        if last is not None and request.counter == last.counter > 0:
            self._answers[request.client] = replace(last, counter=last.counter - 1)
        super().requested(request, sender)
        if last is not None:
            self._answers[request.client] = last


class TakesForgottenForNew(Replica[int]):
    """Planted fault in sessions, missing case: a client that is not in the record counts as a new one.
    Correct: its request is not executed.
    """

    def _outcome(self, request: Request) -> tuple[Outcome, bytes, bytes]:
        """Return the result as if its client were in the record."""
        if request.client in self._answers or not request.counter:
            return super()._outcome(request)
        self._answers[request.client] = Answer(request.client, request.session, 0, Outcome.ANSWERED, b"")
        result = super()._outcome(request)
        del self._answers[request.client]
        return result


class ComparesNoSession(Replica[int]):
    """Planted fault in sessions, missing comparison: a request of an earlier session is executed.
    Correct: of the present one only.
    """

    def _outcome(self, request: Request) -> tuple[Outcome, bytes, bytes]:
        """Return the result in any session."""
        last = self._answers.get(request.client)
        return super()._outcome(request if last is None else replace(request, session=last.session))


class NamesNoSession(Replica[int]):
    """Planted fault in sessions, value not set: a session has no name. Correct: the place of its update."""

    def settle(self, update: Update, number: int) -> None:
        """Perform the update as if it had no place."""
        super().settle(update, 0 if not update.answer.counter else number)


class EarlierReplacesLater(Replica[int]):
    """Planted fault in waiting requests, missing comparison: an earlier request takes the place of a
    later one. Correct: the last request of a client counts.
    """

    def requested(self, request: Request, sender: int) -> None:
        """Handle a request, and forget the one that waits."""
        before = self._waiting.get(request.client)
        if before is not None:
            again = replace(before.request, counter=min(before.request.counter, request.counter))
            self._waiting[request.client] = before._replace(request=again)
        super().requested(request, sender)


class FirstStays(Replica[int]):
    """Planted fault in waiting requests, missing case: a later request of a client is dropped while an
    earlier one waits. Correct: it takes its place.
    """

    def requested(self, request: Request, sender: int) -> None:
        """Handle a request unless one of its client waits."""
        if request.client not in self._waiting:
            super().requested(request, sender)


class NamesItself(Replica[int]):
    """Planted fault in a backup, wrong address: it names itself. Correct: the primary."""

    def replies_to_send(self) -> list[Reply[int]]:
        """Return the replies with the own address."""
        assert self.me is not None, "it is in a view"
        own = self.me.address
        return [
            reply if isinstance(reply.content, Answer) else reply._replace(content=type(reply.content)(*own))
            for reply in super().replies_to_send()
        ]


class LoadsNothing(Replica[int]):
    """Planted fault in joining, forgotten step: the record is not taken over. Correct: with the state
    comes the record.
    """

    def load_record(self, record: bytes) -> None:
        """Keep the own answers."""


FAULTS: Mapping[str, type[Replica[int]]] = {
    "answers-any-counter": AnswersAnyCounter,
    "answers-at-once": AnswersAtOnce,
    "answers-earlier-ones": AnswersEarlierOnes,
    "answers-nobody": AnswersNobody,
    "answers-twice": AnswersTwice,
    "compares-no-session": ComparesNoSession,
    "counts-in-any-view": CountsInAnyView,
    "drops-requests": DropsRequests,
    "earlier-replaces-later": EarlierReplacesLater,
    "everybody-leads": EverybodyLeads,
    "executes-again": ExecutesAgain,
    "executes-the-last": ExecutesTheLast,
    "executes-two-at-once": ExecutesTwoAtOnce,
    "first-stays": FirstStays,
    "forgets-the-newest": ForgetsTheNewest,
    "keeps-one-more": KeepsOneMore,
    "loads-nothing": LoadsNothing,
    "names-itself": NamesItself,
    "names-no-session": NamesNoSession,
    "names-the-next-view": NamesTheNextView,
    "only-the-primary-performs": OnlyThePrimaryPerforms,
    "only-the-primary-records": OnlyThePrimaryRecords,
    "records-no-failure": RecordsNoFailure,
    "records-the-forgotten": RecordsTheForgotten,
    "takes-forgotten-for-new": TakesForgottenForNew,
    "the-last-leads": TheLastLeads,
    "waits-for-the-lost": WaitsForTheLost,
}
"""Replicas with one fault each, by the fault's name."""
