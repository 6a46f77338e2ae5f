"""What happens to a protocol that it does not want: channels that lose and duplicate, processes that crash; each fault has a budget."""

from antiphon.spec.environment.channels import Duplications, InFlight, Losses
from antiphon.spec.environment.crashes import Crashes

__all__ = ["Crashes", "Duplications", "InFlight", "Losses"]
