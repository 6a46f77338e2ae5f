"""Catalogue: the one register of all named specifications, with the places of their parts.

1. A part stands at a place, "module:attribute", and is loaded when somebody asks for it. Importing this
   module imports no protocol, and a name can be listed, completed or refused without loading any.
2. A place names the module that defines the part, not one that passes it on, so that a part is recognised
   unloaded.
3. Places in `conformance` are only strings in this package, which must not import `conformance`; other
   packages resolve them.

To add a protocol, add its folder, and its entry here.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from antiphon.spec.lang.errors import SpecError
from antiphon.spec.lang.hints import known_names

if TYPE_CHECKING:
    from antiphon.spec.claims.claim import Claim
    from antiphon.spec.lang import Spec
    from antiphon.spec.refinement import Refinement


@dataclass(frozen=True)
class Entry:
    """A specification under its name.

    Attributes:
        name: what people type.
        about: one sentence.
        spec_at: the specification with the service that judges it, a `type[Spec]`.
        claims_at: the documents' claims about the specification, a `tuple[Claim, ...]`; entries may share
            them.
        family: the letters with which the identifiers of these claims begin, in lower case.
        refinement_at: the sense in which it is an abstract machine of `spec.services`, a `Refinement`.
        binding_at: what joins it to its implementation, an `antiphon.conformance.compare.bindings.Bound`.
        runs: whether a group can run what is bound. A part, such as the consensus of a membership, is walked
            in lockstep alone.
    """

    name: str
    about: str
    spec_at: str
    claims_at: str = ""
    family: str = ""
    refinement_at: str = ""
    binding_at: str = ""
    runs: bool = True

    @property
    def spec(self) -> type[Spec]:
        """Return the specification of this entry."""
        found: type[Spec] = resolve(self.spec_at)
        return found

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Return the claims about the specification; empty if there are none."""
        return resolve(self.claims_at) if self.claims_at else ()

    @property
    def refinement(self) -> Refinement | None:
        """Return the refinement of the specification, or None if none is stated."""
        return resolve(self.refinement_at) if self.refinement_at else None


ENTRIES: tuple[Entry, ...] = (
    Entry(
        "figure-2",
        "reliable broadcast with a token that carries the messages (RBP report, figure 2)",
        "antiphon.spec.protocols.token_broadcast.properties:Figure2Checked",
        claims_at="antiphon.spec.claims.token_broadcast:TOKEN_BROADCAST",
        family="rbc",
        refinement_at="antiphon.spec.protocols.token_broadcast.refinement:FIGURE_2",
    ),
    Entry(
        "figure-5",
        "reliable broadcast with a token that carries identifiers (RBP report, figure 5)",
        "antiphon.spec.protocols.token_broadcast.properties:Figure5Checked",
        claims_at="antiphon.spec.claims.token_broadcast:TOKEN_BROADCAST",
        family="rbc",
        refinement_at="antiphon.spec.protocols.token_broadcast.refinement:FIGURE_5",
    ),
    Entry(
        "moving-sequencer",
        "total order by a moving sequencer (RBP report, figure 12)",
        "antiphon.spec.protocols.moving_sequencer.properties:MovingSequencerChecked",
        claims_at="antiphon.spec.claims.moving_sequencer:MOVING_SEQUENCER",
        family="msq",
        refinement_at="antiphon.spec.protocols.moving_sequencer.refinement:MOVING_SEQUENCER",
    ),
    Entry(
        "rbp",
        "RBP without failures (RBP report, figure 16)",
        "antiphon.spec.protocols.rbp.properties:RbpChecked",
        claims_at="antiphon.spec.claims.rbp:RBP",
        family="rbp",
        refinement_at="antiphon.spec.protocols.rbp.refinement:RBP",
        binding_at="antiphon.conformance.compare.bindings.rbp:RBP",
    ),
    Entry(
        "rbp-resilient",
        "RBP with failures, up to Reformation (RBP report, figure 25)",
        "antiphon.spec.protocols.rbp_resilient.properties:RbpResilientChecked",
        claims_at="antiphon.spec.claims.rbp_resilient:RBP_RESILIENT",
        family="rbp",
        refinement_at="antiphon.spec.protocols.rbp_resilient.refinement:RBP_RESILIENT",
        binding_at="antiphon.conformance.compare.bindings.rbp_resilient:RBP_RESILIENT",
    ),
    Entry(
        "vsc",
        "the view change of view-synchronous communication (RBP report, figure 29)",
        "antiphon.spec.protocols.vsc.properties:VscChecked",
        claims_at="antiphon.spec.claims.vsc:VSC",
        family="vsc",
        refinement_at="antiphon.spec.protocols.vsc.refinement:VSC",
        binding_at="antiphon.conformance.compare.bindings.vsc:VSC",
        runs=False,
    ),
    Entry(
        "primary-backup",
        "primary-backup replication, by the prose of the RBP report",
        "antiphon.spec.protocols.primary_backup.properties:PrimaryBackupChecked",
        claims_at="antiphon.spec.claims.primary_backup:PRIMARY_BACKUP",
        family="pbk",
    ),
    Entry(
        "primary-backup-vsc",
        "primary-backup replication over view-synchronous communication (RBP report, figure 29)",
        "antiphon.spec.protocols.primary_backup.properties:PrimaryBackupOverVscChecked",
        claims_at="antiphon.spec.claims.primary_backup:PRIMARY_BACKUP",
        family="pbk",
    ),
    Entry(
        "primary-backup-sessions",
        "primary-backup over a group with views: an update counts in one view, and clients have sessions",
        "antiphon.spec.protocols.primary_backup.sessions:PrimaryBackupSessionsChecked",
        binding_at="antiphon.conformance.compare.bindings.replicas:REPLICAS",
        runs=False,
    ),
    Entry(
        "reformation",
        "RBP's Reformation over an abstract normal phase (RBP report, figures 23 and 24)",
        "antiphon.spec.protocols.reformation.properties:ReformationChecked",
        claims_at="antiphon.spec.claims.reformation:REFORMATION",
        family="ref",
        binding_at="antiphon.conformance.compare.bindings.reformation:REFORMATION",
        runs=False,
    ),
    Entry(
        "irbp",
        "iRBP: RBP's normal phase under a view change with suicide (RBP report, figure 32)",
        "antiphon.spec.protocols.irbp.properties:IrbpChecked",
        claims_at="antiphon.spec.claims.irbp:IRBP",
        family="irb",
        refinement_at="antiphon.spec.protocols.irbp.refinement:IRBP",
        binding_at="antiphon.conformance.compare.bindings.irbp:IRBP",
        runs=False,
    ),
    Entry(
        "irbp-iviews",
        "iRBP with a core and external processes: i-views (RBP report, figure 34)",
        "antiphon.spec.protocols.irbp.iviews:IViewsChecked",
        claims_at="antiphon.spec.claims.irbp_iviews:IVIEWS",
        family="irb",
    ),
    Entry(
        "irbp-two-views",
        "iRBP with i-views and regular views in one group (RBP report, figures 32 and 34)",
        "antiphon.spec.protocols.irbp.two_views_checked:TwoViewsChecked",
        claims_at="antiphon.spec.claims.irbp_two_views:TWO_VIEWS",
        family="irb",
        binding_at="antiphon.conformance.compare.bindings.irbp_two_views:TWO_VIEWS",
        runs=False,
    ),
    Entry(
        "irbp-whole-view",
        "iRBP with i-views and regular views, where all members of the view decide and not the core alone",
        "antiphon.spec.protocols.irbp.whole_view:WholeViewChecked",
        claims_at="antiphon.spec.claims.irbp_whole_view:WHOLE_VIEW",
        family="irb",
    ),
    Entry(
        "rmp",
        "RBP's normal phase with several messages an acknowledgement and levels of resiliency (RMP)",
        "antiphon.spec.protocols.rmp.properties:RmpChecked",
        claims_at="antiphon.spec.claims.rmp:RMP",
        family="rmp",
    ),
    Entry(
        "trmp",
        "a ring that orders for processes below it (TRMP)",
        "antiphon.spec.protocols.rmp.properties:RingsChecked",
        claims_at="antiphon.spec.claims.rmp:RMP",
        family="rmp",
    ),
    Entry(
        "rbp-reforming",
        "RBP with failures and Reformation (RBP report, figures 23 to 25)",
        "antiphon.spec.protocols.reformation.over_figure25:RbpReformingChecked",
        claims_at="antiphon.spec.claims.rbp_resilient:RBP_RESILIENT",
        family="rbp",
    ),
    Entry(
        "sequencer",
        "total order by a coordinator that multicasts for all (Ban, SEQUENCER)",
        "antiphon.spec.protocols.sequencer.properties:SequencerChecked",
        claims_at="antiphon.spec.claims.sequencer:SEQUENCER",
        family="seq",
        refinement_at="antiphon.spec.protocols.sequencer.refinement:SEQUENCER",
        binding_at="antiphon.conformance.compare.bindings.sequencer:SEQUENCER",
    ),
    Entry(
        "sequencer-listed",
        "SEQUENCER under the view change of figure 32: a message is delivered when all of the list have it",
        "antiphon.spec.protocols.sequencer.on_lists:SequencerOnListsChecked",
        binding_at="antiphon.conformance.compare.bindings.sequencer_listed:SEQUENCER_ON_LISTS",
        runs=False,
    ),
    Entry(
        "dtp",
        "dynamic token passing: the least active process orders next (Kim and Kim)",
        "antiphon.spec.protocols.dtp.properties:DtpChecked",
        claims_at="antiphon.spec.claims.dtp:DTP",
        family="dtp",
        refinement_at="antiphon.spec.protocols.dtp.refinement:DTP",
        binding_at="antiphon.conformance.compare.bindings.dtp:DTP",
    ),
    Entry(
        "dtp-crashing",
        "dynamic token passing while processes stop and nobody changes the group",
        "antiphon.spec.protocols.dtp.properties:DtpCrashing",
        claims_at="antiphon.spec.claims.dtp:DTP",
        family="dtp",
    ),
    Entry(
        "dtp-figure-1",
        "when the first update is stable in CM, Pinwheel and DTP (Kim and Kim, figure 1)",
        "antiphon.spec.protocols.dtp.figure1:Figure1",
        claims_at="antiphon.spec.claims.dtp:DTP",
        family="dtp",
    ),
    Entry(
        "chang-maxemchuk",
        "the token of CM and what it makes stable (as Kim and Kim describe it)",
        "antiphon.spec.protocols.chang_maxemchuk.properties:ChangMaxemchukChecked",
        claims_at="antiphon.spec.claims.dtp:DTP",
        family="dtp",
        refinement_at="antiphon.spec.protocols.chang_maxemchuk.refinement:CHANG_MAXEMCHUK",
        binding_at="antiphon.conformance.compare.bindings.chang_maxemchuk:CHANG_MAXEMCHUK",
    ),
    Entry(
        "pinwheel",
        "CM with positive notification (as Kim and Kim describe it)",
        "antiphon.spec.protocols.pinwheel.properties:PinwheelChecked",
        claims_at="antiphon.spec.claims.dtp:DTP",
        family="dtp",
        refinement_at="antiphon.spec.protocols.pinwheel.refinement:PINWHEEL",
        binding_at="antiphon.conformance.compare.bindings.pinwheel:PINWHEEL",
    ),
    Entry(
        "totem",
        "the ordering of Totem's single ring (as Kim and Kim describe it)",
        "antiphon.spec.protocols.totem.properties:TotemChecked",
        claims_at="antiphon.spec.claims.dtp:DTP",
        family="dtp",
        refinement_at="antiphon.spec.protocols.totem.refinement:TOTEM",
        binding_at="antiphon.conformance.compare.bindings.totem:TOTEM",
    ),
    Entry(
        "totem-ring",
        "Totem's single ring with its token and updates as messages between the members",
        "antiphon.spec.protocols.totem.ring_properties:TotemRingChecked",
        refinement_at="antiphon.spec.protocols.totem.ring_refinement:TOTEM_RING",
    ),
    Entry(
        "horus-nak",
        "NAK:COM of Horus over a network that loses, judged as FIFO broadcast",
        "antiphon.spec.protocols.horus.fifo_stacks:NakStack",
        claims_at="antiphon.spec.claims.horus:HORUS",
        family="hor",
        binding_at="antiphon.conformance.compare.bindings.horus:NAK",
    ),
    Entry(
        "horus-frag",
        "FRAG:NAK:COM of Horus, judged as FIFO broadcast",
        "antiphon.spec.protocols.horus.fifo_stacks:FragStack",
        claims_at="antiphon.spec.claims.horus:HORUS",
        family="hor",
        binding_at="antiphon.conformance.compare.bindings.horus:FRAG",
    ),
    Entry(
        "horus-total",
        "TOTAL of Horus over an abstract MBRSHIP, judged as total order broadcast",
        "antiphon.spec.protocols.horus.ordered_stacks:TotalStack",
        claims_at="antiphon.spec.claims.horus:HORUS",
        family="hor",
        refinement_at="antiphon.spec.protocols.horus.refinement:HORUS_TOTAL",
        binding_at="antiphon.conformance.compare.bindings.horus_total:TOTAL",
    ),
    Entry(
        "horus-flush",
        "MBRSHIP of Horus with its flush as messages, judged as view-synchronous communication",
        "antiphon.spec.protocols.horus.flushed_stacks:FlushViews",
        claims_at="antiphon.spec.claims.horus:HORUS",
        family="hor",
        refinement_at="antiphon.spec.protocols.horus.refinement:FLUSHED_VIEWS",
    ),
    Entry(
        "horus-flush-total",
        "TOTAL of Horus over MBRSHIP with its flush as messages, judged as total order broadcast",
        "antiphon.spec.protocols.horus.flushed_stacks:FlushTotal",
        claims_at="antiphon.spec.claims.horus:HORUS",
        family="hor",
        refinement_at="antiphon.spec.protocols.horus.refinement:FLUSHED_TOTAL",
    ),
    Entry(
        "horus-flush-stack",
        "the stack TOTAL:MBRSHIP:FRAG:NAK:COM of Horus with its flush as messages, judged as total order "
        "broadcast",
        "antiphon.spec.protocols.horus.flushed_stacks:HorusFlushChecked",
        claims_at="antiphon.spec.claims.horus:HORUS",
        family="hor",
    ),
    Entry(
        "horus",
        "the stack TOTAL:MBRSHIP:FRAG:NAK:COM of Horus, judged as total order broadcast",
        "antiphon.spec.protocols.horus.ordered_stacks:HorusChecked",
        claims_at="antiphon.spec.claims.horus:HORUS",
        family="hor",
        refinement_at="antiphon.spec.protocols.horus.refinement:HORUS",
        binding_at="antiphon.conformance.compare.bindings.horus_total:STACK",
    ),
    Entry(
        "total",
        "total order by a fixed sequencer, through view changes (JavaGroups' TOTAL)",
        "antiphon.spec.protocols.total.properties:TotalChecked",
        claims_at="antiphon.spec.claims.total:TOTAL",
        family="tot",
        refinement_at="antiphon.spec.protocols.total.refinement:TOTAL",
        binding_at="antiphon.conformance.compare.bindings.total:TOTAL",
    ),
    Entry(
        "total-listed",
        "JavaGroups' TOTAL under the view change of figure 32: a message is delivered when all of the list "
        "have it",
        "antiphon.spec.protocols.total.on_lists:TotalOnListsChecked",
        binding_at="antiphon.conformance.compare.bindings.total_listed:TOTAL_ON_LISTS",
        runs=False,
    ),
    Entry(
        "ordering",
        "the abstract machine that every protocol of total order refines: assign a number, learn it, deliver",
        "antiphon.spec.services.ordering:OrderingChecked",
        claims_at="antiphon.spec.claims.ordering:ORDERING",
        family="x",
    ),
    Entry(
        "chandra-toueg",
        "consensus by rotating coordinators with a detector of class eventually S (Chandra and Toueg)",
        "antiphon.spec.protocols.chandra_toueg.properties:ChandraTouegChecked",
        claims_at="antiphon.spec.claims.chandra_toueg:CHANDRA_TOUEG",
        family="ct",
        binding_at="antiphon.conformance.compare.bindings.chandra_toueg:CHANDRA_TOUEG",
        runs=False,
        refinement_at="antiphon.spec.protocols.chandra_toueg.refinement:CHANDRA_TOUEG",
    ),
    Entry(
        "view-synchrony",
        "the abstract machine of view synchrony: send and deliver within views, go on with what the others "
        "took",
        "antiphon.spec.services.view_machine:ViewSynchronyChecked",
        claims_at="antiphon.spec.claims.definitions:DEFINITIONS",
        family="def",
    ),
    Entry(
        "any-history",
        "whatever may be logged where views change: which definitions follow from which",
        "antiphon.spec.services.histories:AnyHistory",
        claims_at="antiphon.spec.claims.definitions:VSC_DEFINITIONS",
        family="vsc",
    ),
    Entry(
        "two-phase",
        "two-phase commit, an example whose state counts are public",
        "antiphon.spec.examples.two_phase:TwoPhase",
    ),
    Entry(
        "die-hard",
        "two jugs that must measure four gallons: the counterexample is the solution",
        "antiphon.spec.examples.die_hard:DieHard",
    ),
    Entry(
        "dining-philosophers",
        "philosophers who hand over clean forks (Chandy and Misra)",
        "antiphon.spec.examples.dining_philosophers:DiningPhilosophers",
    ),
    Entry(
        "ewd840",
        "termination detection on a ring (Dijkstra, EWD 840)",
        "antiphon.spec.examples.ewd840:EWD840",
    ),
    Entry(
        "alternating-bit",
        "one bit tells a new value from one that is sent again (Lamport)",
        "antiphon.spec.examples.alternating_bit:AlternatingBit",
    ),
    Entry(
        "voting",
        "acceptors that choose a value by voting: Paxos without its messages (Lamport)",
        "antiphon.spec.examples.voting:Voting",
    ),
    Entry(
        "bcast-byz",
        "reliable broadcast with Byzantine faults (Srikanth and Toueg)",
        "antiphon.spec.examples.bcast_byz:BcastByz",
    ),
    Entry(
        "nbacg-guer01",
        "non-blocking atomic commitment with a failure detector (Guerraoui)",
        "antiphon.spec.examples.nbacg_guer01:NbacgGuer01",
    ),
    Entry(
        "causal-broadcast",
        "causal broadcast with vector clocks (Birman, Schiper, Stephenson)",
        "antiphon.spec.examples.causal_broadcast:CausalBroadcast",
    ),
    Entry(
        "raft",
        "Raft with logs: election, replication and commitment (Ongaro and Ousterhout)",
        "antiphon.spec.examples.raft:Raft",
    ),
    Entry(
        "raft-members",
        "Raft whose cluster changes, one server at a time (Ongaro; etcd)",
        "antiphon.spec.examples.raft_members:RaftMembers",
    ),
    Entry(
        "chang-roberts",
        "leader election on a ring (Chang and Roberts)",
        "antiphon.spec.examples.chang_roberts:ChangRoberts",
    ),
    Entry(
        "chameneos",
        "creatures that meet in pairs and change colour",
        "antiphon.spec.examples.chameneos:Chameneos",
    ),
)
"""Entries in the order of the ledger: first the families of the RBP report, last the examples."""


def resolve(place: str) -> Any:
    """Return the object at the place "module:Name" of a catalogue entry."""
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


def names() -> tuple[str, ...]:
    """Return every name, in the order of the catalogue."""
    return tuple(entry.name for entry in ENTRIES)


def run_by_groups() -> tuple[str, ...]:
    """Return the names of the protocols whose bound implementation a group can run."""
    return tuple(entry.name for entry in ENTRIES if entry.binding_at and entry.runs)


def entry_named(name: str) -> Entry | None:
    """Return the entry with this name, or None."""
    return next((entry for entry in ENTRIES if entry.name == name), None)


def entry_of(spec: type[Spec]) -> Entry | None:
    """Return the entry whose specification is `spec`, or None; no module is loaded."""
    place = f"{spec.__module__}:{spec.__qualname__}"
    return next((entry for entry in ENTRIES if entry.spec_at == place), None)


def refined() -> tuple[str, ...]:
    """Return the names of the protocols whose refinement is stated; no module is loaded."""
    return tuple(entry.name for entry in ENTRIES if entry.refinement_at)


def refinement_named(name: str) -> Refinement:
    """Return the refinement of the protocol with this name.

    Raises:
        SpecError: none is stated; the known ones are listed.
    """
    entry = entry_named(name)
    refinement = entry.refinement if entry else None
    if refinement is None:
        raise SpecError(f"no refinement is stated for {name!r}; {known_names(name, refined())}")
    return refinement


def entry_refined_by(spec: type[Spec]) -> Entry | None:
    """Return the entry whose refinement has `spec` as its mapping, or None; only the module of that
    refinement is loaded.
    """
    stated = [entry for entry in ENTRIES if entry.refinement_at.startswith(f"{spec.__module__}:")]
    return next((entry for entry in stated if entry.refinement and entry.refinement.concrete is spec), None)


def refinement_of(spec: type[Spec]) -> Refinement | None:
    """Return the refinement that has `spec` as its mapping, or that `spec` states itself; None if there is
    none.
    """
    entry = entry_refined_by(spec)
    if entry is not None:
        return entry.refinement
    from antiphon.spec.refinement import refinement_stated_by  # here: a process of a group needs none

    return refinement_stated_by(spec)
