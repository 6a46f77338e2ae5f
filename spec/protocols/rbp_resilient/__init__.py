"""What does RBP do when processes fail? NULL acknowledgements, stability, garbage collection and failure detection, short of Reformation.

Source: L. A. Barchet-Estefanel, "Analysing RBP, a Total Order Broadcast Protocol for Unreliable Channels", 2002, sections 3.2.1, 3.2.2 and 4.2,
figure 25, printed lines 1-82 (64 is printed twice).

What is modelled: everything in figure 25 up to a call of `Reformation()`; what the call does is figures 22 to 24 and not here. recvQ_p is
`received[p]`, seqQ_p `numbered[p]`, stableQ_p `stable[p]`, ts_p `last_number[p]`, lastdelivered_p `last_delivered[p]`. Where a process stands in
its loops is `pending` (13-16), `arriving` (36-50), `holding` (51), `passed` (53-55, 60-62); `reforming` says that it has called Reformation.
The lines that figure 16 has too were judged there, packet by packet; as printed again they let nobody ever hold the token (RBP-01, RBP-02, RBP-11),
so that nothing of what is new here can happen before they are repaired. This module keeps of them what stability and failures depend on:

1. B is the message itself: line 14 is read with the repair of RBP-03. Line 22 cannot be reached (RBP-08) and is left out.
2. A request and its answer are one step (`obtain_number`, `obtain_body`) of whoever misses something and whoever has it: a request or an answer
   that is lost is one that was not made. An answer that comes late is as an ACK or a message that was sent twice and comes late, which is modelled.
3. Of several messages without a number the first is the one that was broadcast first (line 59 leaves open what is first).
4. Lines 45-63 stand at the level of line 35, as in figure 16. As they are aligned here they belong to the `else` of line 41, and a token that
   comes after a gap would be dropped.
5. `failure(q)` is true of a process that has stopped; `suspicions` are wrong ones. ActivityFailure is detected where no process that is up
   holds the token, waits for it or sends it, and no packet carries it: a timeout that is long enough. What is sent to a stopped process is not kept.
6. A token list has one version here. A packet with another one is a `stray`: a NULL acknowledgement of a process that was excluded. With
   `late` the last process installs the list after the others have begun to use it.

`resilience` 0: messages are delivered when they are stable, as printed. Otherwise a message is delivered when `resilience` processes have
acknowledged since (its own ACK counts), and collected when it is stable (sections 3.2.2 and 4.2). `passes` is how many numbers NULL may take.
`urgent`: what a process can do alone (accept, sequence, make stable, deliver) it does before anything else happens. `assigned`: message k comes
from p_(k mod n). `patient`: what is in flight arrives before it is asked for or sent again. `brief`: NULL is passed only while a message that
was broadcast is not delivered by all that are up.
"""

from antiphon.spec.protocols.rbp_resilient.properties import RbpResilient, RbpResilientJudged
from antiphon.spec.protocols.rbp_resilient.state import Ack, Data, Numbered, Sequenced

__all__ = ["Ack", "Data", "Numbered", "RbpResilient", "RbpResilientJudged", "Sequenced"]
