"""Server that answers requests, alone or with the help of a database; no client gets an answer without its
request.

Source: Y. Feldman, O. Padon, N. Immerman, M. Sagiv, S. Shoham, "Bounded quantifier instantiation for checking
inductive invariants", TACAS 2017; problems `client_server_ae` and `client_server_db_ae` of mypyvy.

Which response answers which request is chosen at the beginning and stays.
"""

from __future__ import annotations

from antiphon.spec.lang import (
    Const,
    Index,
    Set,
    Spec,
    action,
    initial,
    invariant,
    record,
    require,
    witness,
)


class Client(Index, size="clients", symmetric=True):
    """Client that asks."""


class Request(Index, size="requests", symmetric=True):
    """A question."""


class Response(Index, size="responses", symmetric=True):
    """An answer."""


class Query(Index, size="queries", symmetric=True):
    """The number under which the server asks the database."""


@record
class Fit:
    """Match of a response and the request that it answers."""

    request: Request
    response: Response


@record
class Asked:
    """A client has sent a request."""

    client: Client
    request: Request


@record
class Answered:
    """A response is for this client."""

    client: Client
    response: Response


class ClientServer(Spec):
    """The server answers by itself."""

    clients: Const[int] = 2
    requests: Const[int] = 2
    responses: Const[int] = 2

    fits: Set[Fit] = Set()
    asked: Set[Asked] = Set()
    answered: Set[Answered] = Set()
    received: Set[Answered] = Set()

    @initial
    def begin(self, fits: Set[Fit]) -> None:
        """Any responses may fit any requests."""
        self.fits = fits

    @action
    def ask(self, c: Client, r: Request) -> None:
        """A client sends a request."""
        self.asked |= {Asked(c, r)}

    @action
    def answer(self, c: Client, r: Request, a: Response) -> None:
        """The server sends a response that fits."""
        require(Asked(c, r) in self.asked and Fit(r, a) in self.fits)
        self.answered |= {Answered(c, a)}

    @action
    def receive(self, c: Client, a: Response) -> None:
        """The response arrives."""
        require(Answered(c, a) in self.answered)
        self.received |= {Answered(c, a)}

    @invariant
    def OnlyAnswers(self) -> bool:
        """A response that a client has received fits a request that it has sent."""
        return all(
            any(
                Asked(got.client, r) in self.asked and Fit(r, got.response) in self.fits
                for r in self.each(Request)
            )
            for got in self.received
        )

    @witness
    def somebody_is_answered(self) -> bool:
        """Some client gets a response."""
        return len(self.received) > 0


class ClientServerProof(ClientServer):
    """Invariants of the proof: a response matches when it is sent."""

    @invariant
    def OnlyAnswersSent(self) -> bool:
        """A response on its way fits a request of its client."""
        return all(
            any(
                Asked(sent.client, r) in self.asked and Fit(r, sent.response) in self.fits
                for r in self.each(Request)
            )
            for sent in self.answered
        )


@record
class QueryAsked:
    """The server has asked the database."""

    query: Query
    request: Request


@record
class QueryAnswered:
    """The database has answered."""

    query: Query
    response: Response


@record
class Waiting:
    """The answer to a query is for this client."""

    query: Query
    client: Client


class ClientServerDatabase(Spec):
    """The server asks a database, and remembers for whom."""

    clients: Const[int] = 2
    requests: Const[int] = 1
    responses: Const[int] = 2
    queries: Const[int] = 2

    fits: Set[Fit] = Set()
    asked: Set[Asked] = Set()
    answered: Set[Answered] = Set()
    received: Set[Answered] = Set()
    queried: Set[QueryAsked] = Set()
    found: Set[QueryAnswered] = Set()
    waiting: Set[Waiting] = Set()

    @initial
    def begin(self, fits: Set[Fit]) -> None:
        """Any responses may fit any requests."""
        self.fits = fits

    @action
    def ask(self, c: Client, r: Request) -> None:
        """A client sends a request."""
        self.asked |= {Asked(c, r)}

    @action
    def query(self, c: Client, r: Request, i: Query) -> None:
        """The server asks the database under a number that nobody waits for."""
        require(Asked(c, r) in self.asked)
        require(all(Waiting(i, d) not in self.waiting for d in self.each(Client)))
        self.waiting |= {Waiting(i, c)}
        self.queried |= {QueryAsked(i, r)}

    @action
    def look_up(self, i: Query, r: Request, a: Response) -> None:
        """The database answers what fits."""
        require(QueryAsked(i, r) in self.queried and Fit(r, a) in self.fits)
        self.found |= {QueryAnswered(i, a)}

    @action
    def answer(self, c: Client, i: Query, a: Response) -> None:
        """The server passes the answer on to whom it is for."""
        require(QueryAnswered(i, a) in self.found and Waiting(i, c) in self.waiting)
        self.answered |= {Answered(c, a)}

    @action
    def receive(self, c: Client, a: Response) -> None:
        """The response arrives."""
        require(Answered(c, a) in self.answered)
        self.received |= {Answered(c, a)}

    @invariant
    def OnlyAnswers(self) -> bool:
        """A response that a client has received fits a request that it has sent."""
        return all(
            any(
                Asked(got.client, r) in self.asked and Fit(r, got.response) in self.fits
                for r in self.each(Request)
            )
            for got in self.received
        )

    @witness
    def somebody_is_answered(self) -> bool:
        """Some client gets a response."""
        return len(self.received) > 0


class ClientServerDatabaseProof(ClientServerDatabase):
    """Invariants of the proof on the way of an answer."""

    @invariant
    def OnlyAnswersSent(self) -> bool:
        """A response on its way fits a request of its client."""
        return all(
            any(
                Asked(sent.client, r) in self.asked and Fit(r, sent.response) in self.fits
                for r in self.each(Request)
            )
            for sent in self.answered
        )

    @invariant
    def QueriesAreForSomebody(self) -> bool:
        """Invariant: a client that waits for a query has sent its request."""
        return all(
            any(
                Waiting(q.query, c) in self.waiting and Asked(c, q.request) in self.asked
                for c in self.each(Client)
            )
            for q in self.queried
        )

    @invariant
    def FoundFits(self) -> bool:
        """Invariant: the database's answers match its questions."""
        return all(
            any(
                QueryAsked(a.query, r) in self.queried and Fit(r, a.response) in self.fits
                for r in self.each(Request)
            )
            for a in self.found
        )

    @invariant
    def OneWaits(self) -> bool:
        """One client waits for a query."""
        return all(
            one.query != other.query or one.client == other.client
            for one in self.waiting
            for other in self.waiting
        )
