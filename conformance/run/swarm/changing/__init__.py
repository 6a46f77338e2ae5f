"""Groups whose members change, under faults that a seed draws: what they meet, what they do, what they owe.

A seed draws a schedule (`chance`), the simulated members of `antiphon.impl` live through it (`running`), and
the judge of the logs of members says what they have kept (`judging`). Everything else a swarm has in common.
"""

from antiphon.conformance.run.swarm.changing.chance import draw
from antiphon.conformance.run.swarm.changing.judging import gaps, judge, judged, met, shows, symptoms
from antiphon.conformance.run.swarm.changing.log import Log
from antiphon.conformance.run.swarm.changing.picture import Picture
from antiphon.conformance.run.swarm.changing.running import Ending, run

__all__ = ["Ending", "Log", "Picture", "draw", "gaps", "judge", "judged", "met", "run", "shows", "symptoms"]
