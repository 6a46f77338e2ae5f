-------------------------------------------- MODULE ChangRoberts ---------------------------------------------
(* ChangRoberts, made by antiphon from its specification, digest 3b401fc743ec040f. *)

EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANT None

nodes == 3

Node == 0 .. 2
Standing == {"CANDIDATE", "LOST", "WON"}

VARIABLES messages, started, initiator, standing

vars == <<messages, started, initiator, standing>>

\* Return the next node of the ring.
successor(p) == ((p + 1) % nodes)

\* Return True if some node is still a candidate, which may win.
has_candidate(standing_) == (\E p \in Node : (standing_[p] = "CANDIDATE"))

\* Return True if a node has won.
is_decided(standing_) == (\E p \in Node : (standing_[p] = "WON"))

TypeOK ==
  /\ (DOMAIN messages = Node /\ \A k \in Node : (\A e \in messages[k] : (e \in Node)))
  /\ (DOMAIN started = Node /\ \A k_1 \in Node : (started[k_1] \in BOOLEAN))
  /\ (DOMAIN initiator = Node /\ \A k_2 \in Node : (initiator[k_2] \in BOOLEAN))
  /\ (DOMAIN standing = Node /\ \A k_3 \in Node : (standing[k_3] \in Standing))

\* Invariant: the winner is the initiator with the smallest identity, and every other node has
\* lost.
Correctness == (\A p \in Node : ((standing[p] # "WON") \/ (initiator[p] /\ (\A q \in {q \in Node : (q # p)} : ((standing[q] = "LOST") /\ (~(initiator[q]) \/ (q > p)))))))

Init ==
  \/ \E initiators \in (SUBSET Node) : 
      /\ LET initiator_1 == [k_2 \in Node |-> FALSE]
             standing_1 == [k_3 \in Node |-> "LOST"]
             initiator_3 == IF (0 \in initiators) THEN [initiator_1 EXCEPT ![0] = TRUE] ELSE initiator_1
             standing_3 == IF (0 \in initiators) THEN [standing_1 EXCEPT ![0] = "CANDIDATE"] ELSE standing_1
             initiator_5 == IF (1 \in initiators) THEN [initiator_3 EXCEPT ![1] = TRUE] ELSE initiator_3
             standing_5 == IF (1 \in initiators) THEN [standing_3 EXCEPT ![1] = "CANDIDATE"] ELSE standing_3
         IN
           /\ messages = [k \in Node |-> {}]
           /\ started = [k_1 \in Node |-> FALSE]
           /\ initiator = IF (2 \in initiators) THEN [initiator_5 EXCEPT ![2] = TRUE] ELSE initiator_5
           /\ standing = IF (2 \in initiators) THEN [standing_5 EXCEPT ![2] = "CANDIDATE"] ELSE standing_5

\* Send the identity of an initiator to its neighbour.
start(p) ==
  /\ ~(started[p])
  /\ started' = [started EXCEPT ![p] = TRUE]
  /\ messages' = IF initiator[p] THEN [messages EXCEPT ![successor(p)] = (messages[successor(p)] \cup {p})] ELSE messages
  /\ UNCHANGED <<initiator, standing>>

\* Receive an identity at p. A smaller one is passed on, and p has lost; a loser passes on any; a
\* process that receives its own identity has won.
receive(p, identity) ==
  /\ started[p] /\ (identity \in messages[p])
  /\ LET messages_1 == [messages EXCEPT ![p] = (messages[p] \ {identity})]
         c == (standing[p] = "LOST") \/ (identity < p)
     IN
       /\ messages' = IF c THEN [messages_1 EXCEPT ![successor(p)] = (messages_1[successor(p)] \cup {identity})] ELSE messages_1
       /\ standing' = IF c THEN [standing EXCEPT ![p] = "LOST"] ELSE (IF (identity = p) THEN [standing EXCEPT ![p] = "WON"] ELSE standing)
       /\ UNCHANGED <<started, initiator>>

Next ==
  \/ \E p \in Node : start(p)
  \/ \E p \in Node : \E identity \in Node : receive(p, identity)

Fairness ==
  /\ \A p \in Node : WF_vars(start(p))
  /\ \A p \in Node : WF_vars(\E identity \in Node : receive(p, identity))

Spec == Init /\ [][Next]_vars /\ Fairness

Liveness == (has_candidate(standing) ~> is_decided(standing))

==============================================================================================================
