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
    """Client that sends requests."""


class Request(Index, size="requests", symmetric=True):
    """Request of a client to the server."""


class Response(Index, size="responses", symmetric=True):
    """Response of the server to a client."""


class Query(Index, size="queries", symmetric=True):
    """Number under which the server queries the database."""


@record
class Fit:
    """Fact that a response fits a request."""

    request: Request
    response: Response


@record
class Asked:
    """Fact that a client has sent a request."""

    client: Client
    request: Request


@record
class Answered:
    """Message: a response on its way to a client."""

    client: Client
    response: Response


class ClientServer(Spec):
    """Server that answers requests by itself."""

    clients: Const[int] = 2
    requests: Const[int] = 2
    responses: Const[int] = 2

    fits: Set[Fit] = Set()
    asked: Set[Asked] = Set()
    answered: Set[Answered] = Set()
    received: Set[Answered] = Set()

    @initial
    def begin(self, fits: Set[Fit]) -> None:
        """Begin with any relation between requests and the responses that fit them."""
        self.fits = fits

    @action
    def ask(self, c: Client, r: Request) -> None:
        """Send a request from a client."""
        self.asked |= {Asked(c, r)}

    @action
    def answer(self, c: Client, r: Request, a: Response) -> None:
        """Send a response that fits a request of the client."""
        require(Asked(c, r) in self.asked and Fit(r, a) in self.fits)
        self.answered |= {Answered(c, a)}

    @action
    def receive(self, c: Client, a: Response) -> None:
        """Receive a response at its client."""
        require(Answered(c, a) in self.answered)
        self.received |= {Answered(c, a)}

    @invariant
    def OnlyAnswers(self) -> bool:
        """Invariant: a response that a client has received fits a request that the client has sent."""
        return all(
            any(
                Asked(got.client, r) in self.asked and Fit(r, got.response) in self.fits
                for r in self.each(Request)
            )
            for got in self.received
        )

    @witness
    def somebody_is_answered(self) -> bool:
        """Witness: some client gets a response."""
        return len(self.received) > 0


class ClientServerProof(ClientServer):
    """Invariants of the proof: a response matches when it is sent."""

    @invariant
    def OnlyAnswersSent(self) -> bool:
        """Invariant: a response on its way fits a request of its client."""
        return all(
            any(
                Asked(sent.client, r) in self.asked and Fit(r, sent.response) in self.fits
                for r in self.each(Request)
            )
            for sent in self.answered
        )


@record
class QueryAsked:
    """Fact that the server has sent a query to the database."""

    query: Query
    request: Request


@record
class QueryAnswered:
    """Message: the database's answer to a query."""

    query: Query
    response: Response


@record
class Waiting:
    """Fact that the answer to a query is for a certain client."""

    query: Query
    client: Client


class ClientServerDatabase(Spec):
    """Server that queries a database, and remembers which client waits for which query."""

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
        """Begin with any relation between requests and the responses that fit them."""
        self.fits = fits

    @action
    def ask(self, c: Client, r: Request) -> None:
        """Send a request from a client."""
        self.asked |= {Asked(c, r)}

    @action
    def query(self, c: Client, r: Request, i: Query) -> None:
        """Query the database for a request, under a number for which no client waits."""
        require(Asked(c, r) in self.asked)
        require(all(Waiting(i, d) not in self.waiting for d in self.each(Client)))
        self.waiting |= {Waiting(i, c)}
        self.queried |= {QueryAsked(i, r)}

    @action
    def look_up(self, i: Query, r: Request, a: Response) -> None:
        """Answer a query at the database, with a response that fits."""
        require(QueryAsked(i, r) in self.queried and Fit(r, a) in self.fits)
        self.found |= {QueryAnswered(i, a)}

    @action
    def answer(self, c: Client, i: Query, a: Response) -> None:
        """Pass the database's answer on to the client that waits for it."""
        require(QueryAnswered(i, a) in self.found and Waiting(i, c) in self.waiting)
        self.answered |= {Answered(c, a)}

    @action
    def receive(self, c: Client, a: Response) -> None:
        """Receive a response at its client."""
        require(Answered(c, a) in self.answered)
        self.received |= {Answered(c, a)}

    @invariant
    def OnlyAnswers(self) -> bool:
        """Invariant: a response that a client has received fits a request that the client has sent."""
        return all(
            any(
                Asked(got.client, r) in self.asked and Fit(r, got.response) in self.fits
                for r in self.each(Request)
            )
            for got in self.received
        )

    @witness
    def somebody_is_answered(self) -> bool:
        """Witness: some client gets a response."""
        return len(self.received) > 0


class ClientServerDatabaseProof(ClientServerDatabase):
    """Invariants of the proof, one for each stage of an answer's way through the database."""

    @invariant
    def OnlyAnswersSent(self) -> bool:
        """Invariant: a response on its way fits a request of its client."""
        return all(
            any(
                Asked(sent.client, r) in self.asked and Fit(r, sent.response) in self.fits
                for r in self.each(Request)
            )
            for sent in self.answered
        )

    @invariant
    def QueriesAreForSomebody(self) -> bool:
        """Invariant: for each query some client waits that has sent the query's request."""
        return all(
            any(
                Waiting(q.query, c) in self.waiting and Asked(c, q.request) in self.asked
                for c in self.each(Client)
            )
            for q in self.queried
        )

    @invariant
    def FoundFits(self) -> bool:
        """Invariant: an answer of the database fits the request of its query."""
        return all(
            any(
                QueryAsked(a.query, r) in self.queried and Fit(r, a.response) in self.fits
                for r in self.each(Request)
            )
            for a in self.found
        )

    @invariant
    def OneWaits(self) -> bool:
        """Invariant: at most one client waits for each query."""
        return all(
            one.query != other.query or one.client == other.client
            for one in self.waiting
            for other in self.waiting
        )
