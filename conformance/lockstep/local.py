"""A local step is executed once on the real code, and remembered as masks over packed states.

A core is deterministic and takes all its input as arguments, so what it does is a function of its snapshot
and of the step or datagram that it is given. Snapshots and datagrams are numbered; a local step is remembered
as what it changes in the specification's packed state, if the two agree: `keep` and `add`, as the
specification's own steps are. See docs/decisions/0004-lockstep.md for why that is sound.

The implementation's side of a pair is one integer: the number of each process's snapshot in a field of its
own, and above them one bit for every datagram in flight that is not the first known for its packet.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from antiphon.conformance.bindings import Binding, Misreports, Refused
from antiphon.conformance.bindings.system import System
from antiphon.model.engines import Transitions
from antiphon.model.ground.parts import Parts
from antiphon.spec.lang import Step

FIELD_BITS = 24
"""The width of a process's field: so many different snapshots of one process can be numbered."""

FIELD = (1 << FIELD_BITS) - 1

NEVER = -1
"""Added to a packed state it gives no state: what cannot agree differs everywhere."""


@dataclass(slots=True)
class Local:
    """A local step: kept and added bits of the specification's state, the change of the fields, the packets
    that it touches.

    `shared` is true when the process's share of a variable that is no map changes; `sent` are the bits of
    packets with their datagrams.
    """

    keep: int
    add: int
    change: int = 0
    touched: int = 0
    taken: int = 0
    sent: tuple[tuple[int, int], ...] = ()
    events: tuple[object, ...] = ()
    shared: bool = False


@dataclass(slots=True)
class Known:
    """A step of the specification: the field of the process it concerns, the bit of the packet that it
    receives, its bit among internal steps, what it did.

    `locals` maps the number of a snapshot, or that and a datagram other than the first of its packet, to the
    local step.
    """

    step: Step
    process: int
    packet: int
    taken: int
    internal: int
    locals: dict[int | tuple[int, int], Local] = field(default_factory=dict)
    fired: int = 0


@dataclass(slots=True)
class Process:
    """The snapshots of one process by number, and of each: projected bits (None: outside the domains),
    offers, number of its shares.
    """

    snapshots: list[Hashable] = field(default_factory=list)
    numbers: dict[Hashable, int] = field(default_factory=dict)
    bits: list[int | None] = field(default_factory=list)
    offers: list[int] = field(default_factory=list)
    shares: list[tuple[object, ...]] = field(default_factory=list)


class LocalSteps:
    """All that the processes of a binding did so far.

    Attributes:
        known: the steps of the specification by number; `learn` adds to them.
        compared: the bits of a packed state that are compared.
        several: the bits of the packets for which several datagrams are known.
        executed: how many local steps were run on the code.
    """

    def __init__(self, binding: Binding, edges: Transitions) -> None:
        self.binding, self.edges = binding, edges
        self.parts = Parts(binding.program, edges.packing)
        self.processes = [Process() for _ in range(binding.members)]
        self.known: list[Known] = []
        self.executed = 0
        self.several = 0
        names = [
            name
            for name in binding.program.variables
            if name not in binding.exempt and name != binding.channel
        ]
        self._maps = [name for name in names if self.parts.is_map(name)]
        self._shared = [name for name in names if not self.parts.is_map(name)]
        self._own = [sum(self.parts.mask(name, me) for name in self._maps) for me in range(binding.members)]
        self._joint = sum(self.parts.mask(name) for name in self._shared)
        self.compared = sum(self._own) + self._joint + self.parts.mask(binding.channel)
        self._base = FIELD_BITS * (binding.members + 1)
        self._datagrams: list[bytes] = []
        self._numbers: dict[tuple[int, bytes], int] = {}
        self._variants: dict[int, list[int]] = {}
        self._packets: dict[int, object] = {}
        self._offers: dict[Step, int] = {}
        self._joined: dict[tuple[tuple[object, ...], ...], int] = {}

    # Steps --------------------------------------------------------------------------------------------------

    def learn(self, number: int) -> Known:
        """Steps up to this number, as the binding reads them."""
        while len(self.known) <= number:
            step = self.edges.step(len(self.known))
            stimulus = self.binding.stimulus(step)
            packet = 0
            if stimulus.packet is not None:
                packet = self.parts.element(self.binding.channel, stimulus.packet) or 0
                assert packet, f"{stimulus.packet} is taken from {self.binding.channel}, which cannot hold it"
            taken = packet if stimulus.consumed else 0
            process = self.binding.members if stimulus.process is None else stimulus.process
            internal = self._offer(step) if step.action in self.binding.internal else 0
            known = Known(step, process, packet, taken, internal)
            if stimulus.process is None:
                known.packet = 0
                known.locals[0] = Local(~taken, 0, touched=packet, taken=taken)
            self.known.append(known)
        return self.known[number]

    def execute(self, known: Known, snapshot: int, datagram: int | None) -> Local:
        """Run a local step on the code, and remember it. With `datagram` None the packet's first one is
        received, if it takes a packet.
        """
        self.executed += 1
        me, process = known.process, self.processes[known.process]
        key = snapshot if datagram is None else (snapshot, datagram)
        if known.packet:
            content = self._datagrams[self._variants[known.packet][0] if datagram is None else datagram]
        before, given = process.snapshots[snapshot], content if known.packet else None
        try:
            effect = self.binding.perform(me, before, known.step, given)
            self.binding.drive(me, before, known.step, given)
            self.binding.drive(me, effect.after, None, None)
        except (Refused, Misreports):
            local = known.locals[key] = Local(0, NEVER)
            return local
        after = self.number(me, effect.after)
        sent = [
            (self.parts.element(self.binding.channel, packet), packet, content)
            for packet, content in effect.sent
        ]
        bits = process.bits[after]
        if bits is None or any(bit is None for bit, _, _ in sent):
            local = known.locals[key] = Local(0, NEVER)
            return local
        numbered = tuple(
            (bit, self._datagram(bit, packet, content)) for bit, packet, content in sent if bit is not None
        )
        added = 0
        for bit, _ in numbered:
            added |= bit
        local = known.locals[key] = Local(
            keep=~(self._own[me] | known.taken),
            add=bits | added,
            change=after - snapshot << FIELD_BITS * me,
            touched=known.packet | added,
            taken=known.taken,
            sent=numbered,
            events=effect.events,
            shared=process.shares[after] != process.shares[snapshot],
        )
        return local

    # Snapshots ----------------------------------------------------------------------------------------------

    def number(self, me: int, snapshot: Hashable) -> int:
        """The number of a snapshot of process `me`; a new one is projected and asked for its offers."""
        process = self.processes[me]
        found = process.numbers.get(snapshot)
        if found is not None:
            return found
        number = process.numbers[snapshot] = len(process.snapshots)
        if number > FIELD:
            raise OverflowError(f"process {me} has more than {FIELD} different snapshots")
        view = self.binding.project(me, snapshot)
        missing = [name for name in (*self._maps, *self._shared) if name not in view]
        if missing:
            raise ValueError(f"the binding neither projects nor exempts {', '.join(missing)}")
        bits: int | None = 0
        for name in self._maps:
            part = self.parts.bits(name, view[name], me)
            bits = None if part is None or bits is None else bits | part
        offers = 0
        for step in self.binding.offers(me, snapshot):
            offers |= self._offer(step)
        process.snapshots.append(snapshot)
        process.bits.append(bits)
        process.offers.append(offers)
        process.shares.append(tuple(view[name] for name in self._shared))
        return number

    def joined(self, implementation: int) -> int:
        """The bits of the variables that are no maps, put together from the shares of all processes."""
        fields = [implementation >> FIELD_BITS * me & FIELD for me in range(self.binding.members)]
        shares = tuple(process.shares[number] for process, number in zip(self.processes, fields, strict=True))
        if shares not in self._joined:
            packed = 0
            for name, values in zip(self._shared, zip(*shares, strict=True), strict=True):
                bits = self.parts.bits(name, self.binding.join(name, values))
                packed = NEVER if bits is None else packed | bits
            self._joined[shares] = packed
        return self._joined[shares]

    def with_shares(self, expected: int, implementation: int) -> int:
        """`expected` with the joint variables as the implementation has them."""
        return expected & ~self._joint | self.joined(implementation)

    # Flight -------------------------------------------------------------------------------------------------

    def variant(self, packet: int, implementation: int) -> int | None:
        """The datagram in flight for a packet; None for the first known one."""
        for number in self._variants[packet][1:]:
            if implementation >> self._base + number & 1:
                return number
        return None

    def mixed(self, packed: int, implementation: int, local: Local) -> int:
        """The implementation's integer after a local step that touches packets with several datagrams; of
        equal packets the least stays.
        """
        after = implementation + local.change
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

    def _offer(self, step: Step) -> int:
        return 1 << self._offers.setdefault(step, len(self._offers))

    # Whole systems ------------------------------------------------------------------------------------------

    def pack(self, system: System) -> int:
        """The integer of a whole system."""
        implementation = 0
        for me, snapshot in enumerate(system.processes):
            implementation |= self.number(me, snapshot) << FIELD_BITS * me
        for packet, content in sorted(system.flight, key=lambda item: item[1]):
            bit = self.parts.element(self.binding.channel, packet)
            if bit is not None:
                implementation = self._put(implementation, bit, self._datagram(bit, packet, content))
        return implementation

    def unpack(self, packed: int, implementation: int) -> System:
        """The whole system of a pair: a packed state with which it agrees, and its own integer."""
        snapshots = (
            process.snapshots[implementation >> FIELD_BITS * me & FIELD]
            for me, process in enumerate(self.processes)
        )
        flight: dict[object, bytes] = {}
        present = packed & self.parts.mask(self.binding.channel)
        while present:
            bit = present & -present
            present ^= bit
            number = self.variant(bit, implementation)
            flight[self._packets[bit]] = self._datagrams[self._variants[bit][0] if number is None else number]
        return System(tuple(snapshots), frozenset(flight.items()))
