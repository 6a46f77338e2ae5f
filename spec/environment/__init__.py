"""What happens to a protocol that it does not want: channels that lose and duplicate, processes that crash; each fault has a budget;
and the views that a membership service supplies.
"""

from antiphon.spec.environment.channels import Duplications, InFlight, Losses
from antiphon.spec.environment.crashes import Crashes
from antiphon.spec.environment.membership import Installed, Membership, View

__all__ = ["Crashes", "Duplications", "InFlight", "Installed", "Losses", "Membership", "View"]
