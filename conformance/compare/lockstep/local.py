"""Cache of local steps: each is executed once on the real code, and stored as masks over packed states.

A core is deterministic and takes all its input as arguments, so that its step is a function of its snapshot
and of the step or datagram. Snapshots and datagrams are numbered. A local step is stored as its change of the
specification's packed state, if the two agree: `keep` and `add`, as the specification's own steps are.
docs/decisions/0004-lockstep.md says why that is sound.

The implementation's side of a pair is one integer: a field for the number of each process's snapshot, a field
for the number of each link's contents, and above them one bit for every datagram in flight that is not the
first known one for its packet. A link also has a bit beyond those of the specification's state, which stands
for the link in masks of touched packets.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from antiphon.conformance.compare.bindings import (
    BindingError,
    Effect,
    Forgets,
    Guarded,
    Misreports,
    Refused,
    Unsteady,
)
from antiphon.conformance.compare.bindings.binding import is_own
from antiphon.conformance.compare.bindings.guarded import equal
from antiphon.conformance.compare.bindings.links import Content, Link
from antiphon.conformance.compare.bindings.system import System
from antiphon.model.bounds import Enough
from antiphon.model.engines import Transitions
from antiphon.model.ground.parts import Parts
from antiphon.spec.lang import Step
from antiphon.spec.lang.foreign import Raised, foreign
from antiphon.spec.lang.watch import working

FIELD_BITS = 24
"""Width of a field, which bounds the number of different snapshots of a process or contents of a link."""

FIELD = (1 << FIELD_BITS) - 1

TWICE = 5_000
"""Number of local steps that are executed twice, and of snapshots that are projected twice, as a check that
the implementation is deterministic; later ones are sampled.
"""

NEVER = -1
"""Addend that turns a packed state into no state, for values that cannot agree."""


@dataclass(slots=True)
class Local:
    """Local step: kept and added bits of the specification's state, the change of the processes' fields, the
    touched packets and links.

    `sent` pairs bits of packets with their datagrams. If `takes`, `reader` takes a datagram from the link
    `lines[0]`; `queued` are datagrams put into links. `wider` is True when more changes than the process's
    own part: its share of a variable that is no map, or the contents of a link.
    """

    keep: int
    add: int
    change: int = 0
    touched: int = 0
    taken: int = 0
    sent: tuple[tuple[int, int], ...] = ()
    events: tuple[object, ...] = ()
    wider: bool = False
    lines: tuple[int, ...] = ()
    takes: bool = False
    reader: int = -1
    queued: tuple[tuple[int, object, int], ...] = ()


@dataclass(slots=True)
class Known:
    """Step of the specification, with the steps of the implementation that were executed for it so far, so
    that each is executed once.

    Attributes:
        step: the step.
        process: the number of the process that takes it.
        packet: the bit of the packet that it receives, or of the link that it reads; 0 for neither.
        taken: the same bit if the step removes the packet from the channel; else 0.
        internal: its bit in masks of internal steps that a process offers; 0 if it is not internal.
        line: the index of the link that it reads.
        locals: the executed step, by the number of the process's snapshot before it. The key has the number
            of the datagram too, where that comes from a link or is not the first one known for its packet.
        fired: how often the step was taken.
    """

    step: Step
    process: int
    packet: int
    taken: int
    internal: int
    line: int | None = None
    locals: dict[int | tuple[int, int], Local] = field(default_factory=dict)
    fired: int = 0


@dataclass(slots=True)
class Process:
    """Numbered snapshots of a process, with each one's projected bits (None: outside the domains), offers,
    and shares of the variables that are no maps over processes.
    """

    snapshots: list[Hashable] = field(default_factory=list)
    numbers: dict[Hashable, int] = field(default_factory=dict)
    bits: list[int | None] = field(default_factory=list)
    offers: list[int] = field(default_factory=list)
    shares: list[tuple[object, ...]] = field(default_factory=list)


class Line:
    """Link with its numbered contents, and each one's bits in a packed state (NEVER: outside the domains)."""

    def __init__(self, link: Link, parts: Parts, flag: int, shift: int) -> None:
        self.link, self.flag, self.shift = link, flag, shift
        self.contents: list[Content] = []
        self.bits: list[int] = []
        self.mask = sum(parts.mask(name, *keys) for (name, keys), _ in link.values(link.empty))
        self._parts = parts
        self._numbers: dict[Content, int] = {}
        self._put: dict[tuple[int, int], int] = {}
        self._taken: dict[tuple[int, int], int] = {}

    def number(self, content: Content) -> int:
        """Return the number of a content; a new content is packed."""
        found = self._numbers.setdefault(content, len(self.contents))
        if found == len(self.contents):
            if found > FIELD:
                raise OverflowError(f"{self.link} has had more than {FIELD} different contents")
            packed = 0
            for (name, keys), value in self.link.values(content):
                bits = self._parts.bits(name, value, *keys)
                packed = NEVER if bits is None else packed | bits
            self.contents.append(content)
            self.bits.append(packed)
        return found

    def content(self, implementation: int) -> Content:
        """Return the content of the link."""
        return self.contents[implementation >> self.shift & FIELD]

    def put(self, implementation: int, packet: object, datagram: int, content: bytes) -> int:
        """Return the implementation's integer with one more datagram in the link."""
        number = implementation >> self.shift & FIELD
        after = self._put.get((number, datagram))
        if after is None:
            after = self.number(self.link.put(self.contents[number], packet, content))
            self._put[number, datagram] = after
        return implementation + (after - number << self.shift)

    def take(self, implementation: int, reader: int) -> int:
        """Return the implementation's integer after `reader` took the next datagram."""
        number = implementation >> self.shift & FIELD
        after = self._taken.get((number, reader))
        if after is None:
            after = self.number(self.link.take(self.contents[number], reader))
            self._taken[number, reader] = after
        return implementation + (after - number << self.shift)


class LocalSteps:
    """Cache of all local steps of a binding's processes; events are stored only if the binding `hears`.

    Attributes:
        known: the steps of the specification by number; `learn` adds to them.
        compared: the bits of a packed state that are compared.
        several: the bits of the packets with several known datagrams, and of all links.
        executed: the number of local steps that were run on the code.
    """

    def __init__(self, binding: Guarded, edges: Transitions, *, hears: bool = True) -> None:
        self.binding, self.edges, self._hears = binding, edges, hears
        self.parts = Parts(binding.program, edges.packing)
        self.processes = [Process() for _ in range(binding.members)]
        self.known: list[Known] = []
        self.executed = 0
        self.lines = [
            Line(link, self.parts, 1 << edges.packing.bits + at, FIELD_BITS * (binding.members + 1 + at))
            for at, link in enumerate(binding.links)
        ]
        self.several = sum(line.flag for line in self.lines)
        self._line = {line.flag: at for at, line in enumerate(self.lines)}
        network = {name for link in binding.links for (name, _), _ in link.values(link.empty)}
        network |= {binding.channel} - {""}
        names = [
            name for name in binding.program.variables if name not in binding.exempt and name not in network
        ]
        self._maps = [name for name in names if is_own(binding, name)]
        self._shared = [name for name in names if name not in self._maps]
        self._own = [sum(self.parts.mask(name, me) for name in self._maps) for me in range(binding.members)]
        self._joint = sum(self.parts.mask(name) for name in self._shared)
        self._set = self.parts.mask(binding.channel) if binding.channel else 0
        self.compared = sum(self._own) + self._joint + self._set + sum(line.mask for line in self.lines)
        self._base = FIELD_BITS * (binding.members + 1 + len(self.lines))
        self._datagrams: list[bytes] = []
        self._numbers: dict[tuple[int, bytes], int] = {}
        self._variants: dict[int, list[int]] = {}
        self._packets: dict[int, object] = {}
        self._offers: dict[Step, int] = {}
        self._joined: dict[tuple[tuple[object, ...], ...], int] = {}

    # Steps --------------------------------------------------------------------------------------------------

    def learn(self, number: int) -> Known:
        """Add the steps of the specification with numbers up to this one."""
        while len(self.known) <= number:
            step = self.edges.step(len(self.known))
            stimulus = self.binding.stimulus(step)
            packet, line = 0, None
            if stimulus.packet is not None:
                packet = self._element(stimulus.packet) or 0
                if not packet:
                    raise BindingError(
                        f"{stimulus.packet} is taken from {self.binding.channel!r}, which cannot hold it"
                    )
            elif stimulus.link is not None:
                line = self.binding.links.index(stimulus.link)
                packet = self.lines[line].flag
            taken = packet if stimulus.consumed and line is None else 0
            process = self.binding.members if stimulus.process is None else stimulus.process
            internal = self._offer(step) if step.action in self.binding.internal else 0
            known = Known(step, process, packet, taken, internal, line)
            if stimulus.process is None:
                known.packet = 0
                known.locals[0] = Local(
                    keep=~taken, add=0, touched=packet, taken=taken,
                    wider=line is not None, lines=() if line is None else (line,), takes=line is not None,
                )  # fmt: skip
            self.known.append(known)
        return self.known[number]

    def execute(self, known: Known, snapshot: int, datagram: int | None) -> Local:
        """Execute a local step on the code, and store it. With `datagram` None the packet's first datagram is
        received, if the step takes a packet.
        """
        self.executed += 1
        working("walking", large=True)
        me, process = known.process, self.processes[known.process]
        key = snapshot if datagram is None else (snapshot, datagram)
        try:
            before, given = process.snapshots[snapshot], self._given(known, datagram)
            effect = self.binding.perform(me, before, known.step, given)
            if self.executed <= TWICE and not equal(
                self.binding.perform(me, before, known.step, given), effect
            ):
                raise Unsteady
            self.binding.drive(me, before, known.step, given)
            self.binding.drive(me, effect.after, None, None)
        except Forgets:
            raise
        except (Refused, Misreports, Raised):
            local = known.locals[key] = Local(0, NEVER)
            return local
        local = known.locals[key] = self._remembered(known, snapshot, effect)
        return local

    def _given(self, known: Known, datagram: int | None) -> bytes | None:
        """Return the datagram that a step receives. Raise Refused if no process has sent one."""
        if not known.packet:
            return None
        if datagram is not None:
            return self._datagrams[datagram]
        if known.packet not in self._variants:
            raise Refused("no process has sent it")
        return self._datagrams[self._variants[known.packet][0]]

    def _remembered(self, known: Known, snapshot: int, effect: Effect) -> Local:
        """Return the effect of a local step, as changes of packed states."""
        me, process = known.process, self.processes[known.process]
        after = self.number(me, effect.after)
        sent = [(self._element(packet), packet, content) for packet, content in effect.sent]
        bits = process.bits[after]
        if bits is None or any(bit is None for bit, _, _ in sent):
            return Local(0, NEVER)
        numbered = tuple(
            (bit, self._datagram(bit, packet, content)) for bit, packet, content in sent if bit is not None
        )
        added = 0
        for bit, _ in numbered:
            added |= bit
        queued = tuple(self._entry(link, packet, content) for link, packet, content in effect.queued)
        source = () if known.line is None else (known.line,)
        lines = dict.fromkeys([*source, *(line for line, _, _ in queued)])
        return Local(
            keep=~(self._own[me] | known.taken),
            add=bits | added,
            change=after - snapshot << FIELD_BITS * me,
            touched=known.packet | added | sum(self.lines[line].flag for line in lines),
            taken=known.taken,
            sent=numbered,
            events=effect.events if self._hears else (),
            wider=bool(lines) or process.shares[after] != process.shares[snapshot],
            lines=tuple(lines),
            takes=known.line is not None,
            reader=me,
            queued=queued,
        )

    # Snapshots ----------------------------------------------------------------------------------------------

    def number(self, me: int, snapshot: Hashable) -> int:
        """Return the number of a snapshot of process `me`; a new snapshot is projected and its offers are
        computed.
        """
        process = self.processes[me]
        with foreign(Enough):  # a snapshot compares itself
            number = process.numbers.setdefault(snapshot, len(process.snapshots))
        if number < len(process.snapshots):
            return number
        if number > FIELD:
            raise OverflowError(f"process {me} has more than {FIELD} different snapshots")
        view, offered = self.binding.project(me, snapshot), self.binding.offers(me, snapshot)
        if number < TWICE:
            self._see_again(me, snapshot, view, offered)
        missing = [name for name in (*self._maps, *self._shared) if name not in view]
        if missing:
            raise self.binding.missing(missing)
        bits: int | None = 0
        for name in self._maps:
            part = self._bits(name, view[name], me)
            bits = None if part is None or bits is None else bits | part
        offers = 0
        for step in offered:
            offers |= self._offer(step)
        process.snapshots.append(snapshot)
        process.bits.append(bits)
        process.offers.append(offers)
        process.shares.append(tuple(view[name] for name in self._shared))
        return number

    def joined(self, implementation: int) -> int:
        """Return the bits of the variables that are no maps over processes; their values are joined from the
        shares of all processes.
        """
        fields = [implementation >> FIELD_BITS * me & FIELD for me in range(self.binding.members)]
        shares = tuple(process.shares[number] for process, number in zip(self.processes, fields, strict=True))
        if shares not in self._joined:
            packed = 0
            for name, values in zip(self._shared, zip(*shares, strict=True), strict=True):
                bits = self._bits(name, self.binding.join(name, values))
                packed = NEVER if bits is None else packed | bits
            self._joined[shares] = packed
        return self._joined[shares]

    def widened(self, expected: int, implementation: int, local: Local) -> int:
        """Return `expected` with two parts as the implementation has them: the variables that are joined from
        shares, and the contents of the step's links.
        """
        if self._shared:
            expected = expected & ~self._joint | self.joined(implementation)
        for at in local.lines:
            line = self.lines[at]
            expected = expected & ~line.mask | line.bits[implementation >> line.shift & FIELD]
        return expected

    def _see_again(
        self, me: int, snapshot: Hashable, view: Mapping[str, object], offered: frozenset[Step]
    ) -> None:
        """Raise Unsteady if a snapshot is projected to other values, or offers other steps, the second
        time.
        """
        again = self.binding.project(me, snapshot)
        with foreign(Enough):
            same = dict(again) == dict(view)
        if not same or self.binding.offers(me, snapshot) != offered:
            raise Unsteady

    # Flight -------------------------------------------------------------------------------------------------

    def variant(self, packet: int, implementation: int, reader: int = -1) -> int | None:
        """Return which of a packet's known datagrams is in flight in a state of the implementation: its
        number, or None for the first known one. Where the packet is on a link, return the number of the
        datagram that `reader` would take next. Raises Refused: nothing is on the link.
        """
        at = self._line.get(packet)
        if at is not None:
            line = self.lines[at]
            try:
                return self._numbers[packet, line.link.head(line.content(implementation), reader)]
            except IndexError:
                raise Refused(f"nothing is in {line.link}: no process has sent it") from None
        for number in self._variants[packet][1:]:
            if implementation >> self._base + number & 1:
                return number
        return None

    def mixed(self, packed: int, implementation: int, local: Local) -> int:
        """Return the implementation's integer after a local step that touches links, or packets with several
        datagrams; of equal packets the least datagram stays.
        """
        after = implementation + local.change
        if local.takes:
            after = self.lines[local.lines[0]].take(after, local.reader)
        for at, packet, datagram in local.queued:
            after = self.lines[at].put(after, packet, datagram, self._datagrams[datagram])
        if local.taken:
            after = self._put(after, local.taken, None)
        packed &= ~local.taken
        for bit, number in local.sent:
            if packed & bit:
                standing = self.variant(bit, after)
                first = self._variants[bit][0] if standing is None else standing
                number = min(number, first, key=self._datagrams.__getitem__)
            after = self._put(after, bit, number)
            packed |= bit
        return after

    def _put(self, implementation: int, packet: int, datagram: int | None) -> int:
        first, *others = self._variants.get(packet, [None])
        for number in others:
            assert number is not None
            implementation &= ~(1 << self._base + number)
        return (
            implementation
            if datagram is None or datagram == first
            else implementation | 1 << self._base + datagram
        )

    def _datagram(self, bit: int, packet: object, content: bytes) -> int:
        number = self._numbers.setdefault((bit, content), len(self._datagrams))
        if number == len(self._datagrams):
            self._datagrams.append(content)
            self._packets[bit] = packet
            variants = self._variants.setdefault(bit, [])
            variants.append(number)
            if len(variants) > 1:
                self.several |= bit
        return number

    def _entry(self, link: Link, packet: object, content: bytes) -> tuple[int, object, int]:
        """Return the entry of a datagram for a link: the link, the packet, and the datagram's number."""
        at = self.binding.links.index(link)
        number = self._numbers.setdefault((self.lines[at].flag, content), len(self._datagrams))
        if number == len(self._datagrams):
            self._datagrams.append(content)
        return at, packet, number

    def _element(self, packet: object) -> int | None:
        """Return the bit of a packet in the set of packets in flight. Raise BindingError if the specification
        has no such set.
        """
        if not self.binding.channel:
            raise BindingError(
                "a packet goes into the set of packets in flight, and the binding has no channel"
            )
        with foreign(Enough):
            return self.parts.element(self.binding.channel, packet)

    def _bits(self, name: str, value: object, *keys: int) -> int | None:
        """Return the bits in a packed state of a value that the implementation gave; None if it is outside
        the domain.
        """
        with foreign(Enough):
            return self.parts.bits(name, value, *keys)

    def _offer(self, step: Step) -> int:
        return 1 << self._offers.setdefault(step, len(self._offers))

    # Whole systems ------------------------------------------------------------------------------------------

    def pack(self, system: System) -> int:
        """Return the implementation's integer for a whole system: the numbers of its snapshots and links, and
        its datagrams.
        """
        implementation = 0
        for me, snapshot in enumerate(system.processes):
            implementation |= self.number(me, snapshot) << FIELD_BITS * me
        for line, entries in zip(self.lines, system.links, strict=True):
            for packet, datagram in line.link.entries(entries):
                self._entry(line.link, packet, datagram)
            implementation |= line.number(entries) << line.shift
        for packet, content in sorted(system.flight, key=lambda item: item[1]):
            bit = self._element(packet)
            if bit is not None:
                implementation = self._put(implementation, bit, self._datagram(bit, packet, content))
        return implementation

    def unpack(self, packed: int, implementation: int) -> System:
        """Return the whole system for a pair of a packed state of the specification and the implementation's
        integer.
        """
        snapshots = (
            process.snapshots[implementation >> FIELD_BITS * me & FIELD]
            for me, process in enumerate(self.processes)
        )
        flight: dict[object, bytes] = {}
        present = packed & self._set
        while present:
            bit = present & -present
            present ^= bit
            number = self.variant(bit, implementation)
            flight[self._packets[bit]] = self._datagrams[self._variants[bit][0] if number is None else number]
        links = tuple(line.content(implementation) for line in self.lines)
        return System(tuple(snapshots), frozenset(flight.items()), links)
