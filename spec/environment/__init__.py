"""Environments of a protocol: channels that lose and duplicate, processes that crash, each with a budget, and
the views that a membership service supplies.
"""

from antiphon.spec.environment.channels import Duplications, InFlight, Losses
from antiphon.spec.environment.crashes import Crashes
from antiphon.spec.environment.membership import HandOvers, Membership

__all__ = ["Crashes", "Duplications", "HandOvers", "InFlight", "Losses", "Membership"]
