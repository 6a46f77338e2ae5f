"""Programs in any language behind a protocol of JSON lines on standard input and output.

The envelope is Maelstrom's, so that its nodes work as they are; `messages` has its superset for steps, time,
state and restarts. A `Node` is such a program, started, asked and ended; `cases` tells which messages of the
protocol it answers rightly.

This package knows neither a specification nor a fault of the network.
"""

from antiphon.conformance.adapters.child import CommandError
from antiphon.conformance.adapters.messages import Ability
from antiphon.conformance.adapters.node import Declined, Done, Misbehaves, Node

__all__ = ["Ability", "CommandError", "Declined", "Done", "Misbehaves", "Node"]
