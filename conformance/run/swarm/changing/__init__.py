"""Swarms of groups whose members change, under faults that a seed draws.

A seed draws a schedule (`chance`), the simulated members of `antiphon.impl` run it (`running`), and the judge
of the logs of members judges it (`judging`). The rest is common to all swarms.
"""

from antiphon.conformance.run.swarm.changing.chance import draw
from antiphon.conformance.run.swarm.changing.judging import gaps, judge, judged, met, shows, symptoms
from antiphon.conformance.run.swarm.changing.log import Log
from antiphon.conformance.run.swarm.changing.observed import Observed
from antiphon.conformance.run.swarm.changing.picture import Picture
from antiphon.conformance.run.swarm.changing.running import Ending, run

__all__ = [
    "Ending", "Log", "Observed", "Picture", "draw", "gaps", "judge", "judged", "met", "run", "shows",
    "symptoms",
]  # fmt: skip
