"""Text of `docs/dtp-figures.md` around its tables, with placeholders for the numbers of a sweep."""

__all__ = ["COMPUTED", "END", "HEAD", "PROSE", "SILENT"]

HEAD = """# The figures of Kim and Kim, simulated again

J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme" (1997), compare their protocol DTP with CM of Chang and
Maxemchuk, Pinwheel and Totem by a simulation (section 5, figures 2 to 5). The copy that was read has their
sentences without their drawings. This page compares these sentences with a new simulation: the cores of
`impl/protocols`, bare, in virtual time. The command

    {command}

writes this page and its drawings. Every number is computed: sentences are judged by
[`sentences`](../conformance/run/performance/sentences.py), and two runs of the command give the same bytes.

## The setting

As the paper has it (section 5): *"So, we have simulated in the absence of failures the behaviour of these protocols on an Ethernet by sending ten
thousand 500 byte long messages. We assume that the CPU time needed to process a message is zero [9]. We also assume that update arrivals at every
LTM_i form an independent Poisson process with the same rate λ. A silence period (T) of 100 ms is used."*

Open points of the paper, and our assumptions:

- The Ethernet is a bus of 10 Mb/s, first come first served, without collisions: a message of 500 bytes takes 0.4 ms, a control message of 64
  bytes 0.0512 ms, and a message arrives at all others at its end. [Other networks](#where-the-text-is-silent) are below.
- A process whose LTM may not send yet waits. CM and DTP have one outstanding message, Pinwheel m = 2.
- Nothing is sent again: the timeouts of DTP are longer than a run, since nothing is lost.
- The cores of CM and Pinwheel have no NULL. Where T passes without a message, the holder of the token passes it as if it had one; that counts
  as one overhead message.
- In Totem *"it immediately passes the token"*: it never rests.
- Members go on until the last of the {messages:,} measured messages is stable everywhere; later messages are in no mean. The last row of the next table
 has the effect of members that fall silent.
- DTP is the repaired protocol ([errata](errata.md)): every ACK carries its sender's knowledge of all members. Without losses, and with
 arrival at all members at once, that adds nothing to their own knowledge.

Each point is {messages:,} messages, with the seeds {seeds}; at a point all protocols get the same requests at the same times. An interval
is of 95 % confidence, by Student's t over the seeds.

"""

PROSE = """## What the paper says, and what was measured

`antiphon claims DTP-32` and its neighbours ask the same of fewer messages and smaller groups.

"""

COMPUTED = """## Computed values

The dashed lines are computed, not fitted ([`theory`](../conformance/run/performance/theory.py)), for a bus that is nearly free.

- **CM.** n - 1 passes after its own ACK an update is stable; a pass comes with each request or after T. With N = nλ the time between two is
  (1 - exp(-NT)) / N, so that stability takes (n - 1)/n of 1/λ where silences are rare: *"nearly 1/λ"*.
- **Pinwheel.** Stable once every member was holder or source. After k passes k + 1 members were holders; that the k sources, drawn from all,
  hit the other n - 1 - k is counted exactly. It is less than in CM, by little: the last few are seldom hit.
- **DTP.** With each request a random member is heard of, and the one that was silent longest. Let ages be counted in 1/λ: members lose their
  age at rate 1 by speaking, and as many at the highest age A by being given the token. The density of ages is then 2 exp(-a) from 0 to A,
  so that 2 (1 - exp(-A)) = 1 and **A = ln 2 = 0.693**. It is *"about two-thirds of 1/λ"*, and where it comes from.
- **Totem.** The ring is a cyclic queue with gated service: the wait for the token is (Nb² + w(n + Nb)) / (2 (1 - Nb)), with b the time of a
  message and w that of a pass; a round takes nw / (1 - Nb), and 2 - 2/n rounds after it was sent all know that an update is stable.
- **Overhead.** One ACK, and a NULL for each T without a request: 1 / (1 - exp(-NT)). In Totem, a token for each pass that fits between messages.

"""

SILENT = """## Where the text is silent

40 members, {messages:,} messages a run, the same seeds: stability in units of 1/λ, and in the last three columns the delivery time in ms.

"""

END = """
Of these networks only the first fits the prose. On a bus of 10 Mb/s Pinwheel takes longer than CM at 1/λ = 50 ms and less long at 100 ms, as the paper says;
on a faster one less long at both, on a slower one longer at both: its holder numbers several messages, so that the token goes round more slowly
than requests come. The longer ACKs of the repaired DTP change little.

Where every message takes 1 ms, however many are on their way, the order is another: a round of Totem's token takes n times that, and DTP is
stable first. What *"may help to shorten the average delivery time"* is seen there too: a holder of DTP orders one message, one of Pinwheel all
that it has.
"""
