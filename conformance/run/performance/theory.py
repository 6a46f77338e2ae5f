"""Theory of the figures: values that are computed without a simulation, to compare with it.

The formulas are for members that are equally active, and whose messages take little time compared with 1/(n
lambda), the mean time between two requests of the group. The token of CM, Pinwheel and DTP passes with a
request, or after T without one.

1. An update of CM is stable n - 1 passes after its own ACK, by the definition of the protocol.
2. One of Pinwheel is stable once every member was holder or source since. After k passes k + 1 members were
   holders, and the sources of the requests are uniform among all: how probable it is that they hit all the
   others is counted exactly.
3. In DTP, for large n, each request brings news of a random member and of the one that was silent longest.
   Let ages be in units of 1/lambda: members lose their age at rate 1 at random, and as many lose it at the
   highest age A. So the density of ages is 2 exp(-a) up to A, and A = ln 2; what is older than A is stable.
4. The ring of Totem is a cyclic queue with gated service and constant walking times, whose waiting time is
   known (H. Takagi, "Queuing analysis of polling models", ACM Computing Surveys 20, 1988).
"""

from __future__ import annotations

import math

from antiphon.conformance.run.performance.setting import Setting

__all__ = ["delivery_ms", "overhead", "stability_ms"]


def stability_ms(setting: Setting) -> float:
    """Return the time from a request until all know that its update is stable; for DTP in large groups, for
    Totem approximately.
    """
    n = setting.members
    match setting.protocol:
        case "chang-maxemchuk":
            return delivery_ms(setting) + (n - 1) * _between_acks_ms(setting)
        case "pinwheel":
            return delivery_ms(setting) + _passes_until_all_spoke(setting) * _between_acks_ms(setting)
        case "dtp":
            return delivery_ms(setting) + math.log(2) * setting.interarrival_ms
        case _:
            return delivery_ms(setting) + (2 - 2 / n) * _rotation_ms(setting)


def delivery_ms(setting: Setting) -> float:
    """Return the time from a request until all others deliver its update, without waiting for the bus except
    in Totem.
    """
    if setting.protocol == "totem":
        return _waiting_ms(setting) + setting.message_ms + setting.delay_ms
    return setting.message_ms + setting.control_ms + 2 * setting.delay_ms


def overhead(setting: Setting) -> float:
    """Return the overhead: one ACK, and a NULL for each T without a request; for Totem the tokens between two
    messages.
    """
    if setting.protocol == "totem":
        return setting.interarrival_ms / _rotation_ms(setting)
    return 1 / (1 - _silent(setting))


def _between_acks_ms(setting: Setting) -> float:
    """Return the mean time between two passes of the token: it passes with a request, or after T without
    one.
    """
    return (1 - _silent(setting)) / setting.arrivals_a_ms


def _silent(setting: Setting) -> float:
    """Return the probability that no member has a message to send for `silence_ms` (T); 0 without NULLs."""
    return math.exp(-setting.arrivals_a_ms * setting.silence_ms) if setting.nulls else 0.0


def _passes_until_all_spoke(setting: Setting) -> float:
    """Return the mean number of passes of Pinwheel's token until the last member has spoken."""
    n, speaks = setting.members, 1 - _silent(setting)
    return sum(1 - _hit(n - 1 - k, k, speaks / n) for k in range(n))


def _hit(rest: int, draws: int, each: float) -> float:
    """Return the probability that `draws` draws hit every one of `rest` members, if a draw hits each of them
    with probability `each`.
    """
    if rest > draws:
        return 0.0
    missing = [0.0] * rest + [1.0]
    for _ in range(draws):
        following = [0.0] * (rest + 1)
        for left, chance in enumerate(missing):
            following[left] += chance * (1 - left * each)
            if left:
                following[left - 1] += chance * left * each
        missing = following
    return missing[0]


def _rotation_ms(setting: Setting) -> float:
    """Return the mean time of a round of Totem's token: n passes, and the messages sent in it."""
    busy = setting.arrivals_a_ms * setting.message_ms
    return setting.members * (setting.control_ms + setting.delay_ms) / (1 - busy)


def _waiting_ms(setting: Setting) -> float:
    """Return the mean time that a request waits for Totem's token, by the formula for a queue with gated
    service.
    """
    n, walk, service = setting.members, setting.control_ms + setting.delay_ms, setting.message_ms
    busy = setting.arrivals_a_ms * service
    return (setting.arrivals_a_ms * service**2 + walk * (n + busy)) / (2 * (1 - busy))
