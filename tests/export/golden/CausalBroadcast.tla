------------------------------------------- MODULE CausalBroadcast -------------------------------------------
(* CausalBroadcast, made by antiphon from its specification, digest bbbe46702701a530. *)

EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANT None

processes == 3
broadcasts == 1
first_in_first_out == FALSE
hasty == FALSE

Process == 0 .. 2
Message == [record : {"Message"}, sender : Process, clock : [Process -> (0 .. 1)]]
Name == [record : {"Name"}, sender : Process, number : (0 .. 1)]

VARIABLES clock, network, delivered, past

vars == <<clock, network, delivered, past>>

\* Return the componentwise maximum of two clocks.
later(a, b) == [k \in Process |-> (IF (a[k] < b[k]) THEN b[k] ELSE a[k])]

\* Return the number of messages of Q that P has delivered.
count(p, q, delivered_) == Cardinality({name \in delivered_[p] : (name.sender = q)})

\* Return True if P may deliver the message: it is the next one of its sender, and P has delivered all
\* that its sender had delivered.
may_deliver(p, message, clock_) == (LET mine == clock_[p] IN (LET stamp == message.clock IN (\A k \in Process : (IF (k = message.sender) THEN (stamp[k] = (mine[k] + 1)) ELSE (stamp[k] <= mine[k])))))

TypeOK ==
  /\ (DOMAIN clock = Process /\ \A k \in Process : (DOMAIN clock[k] = Process /\ \A k_1 \in Process : (clock[k][k_1] \in (0 .. 1))))
  /\ (\A e \in network : (e \in Message))
  /\ (DOMAIN delivered = Process /\ \A k_2 \in Process : (\A e_1 \in delivered[k_2] : (e_1 \in Name)))
  /\ (DOMAIN past = Name /\ \A k_3 \in Name : (\A e_2 \in past[k_3] : (e_2 \in Name)))

\* Invariant: a process that has delivered a message has delivered everything that happened before its
\* broadcast.
CausalDelivery == (\A p \in Process : \A name \in delivered[p] : (past[name] \subseteq delivered[p]))

\* Invariant: each clock counts the messages that its process has delivered.
ClocksCount == (\A p \in Process : (clock[p] = [q \in Process |-> count(p, q, delivered)]))

Init ==
  /\ clock = [k \in Process |-> [k_1 \in Process |-> 0]]
  /\ network = {}
  /\ delivered = [k_2 \in Process |-> {}]
  /\ past = [k_3 \in Name |-> {}]

\* Send P's next message, and deliver it at P at once.
broadcast(p) ==
  /\ clock[p][p] < broadcasts
  /\ LET name == [record |-> "Name", sender |-> p, number |-> (clock[p][p] + 1)]
         stamp == [clock[p] EXCEPT ![p] = (clock[p][p] + 1)]
     IN
       /\ past' = [past EXCEPT ![name] = delivered[p]]
       /\ clock' = [clock EXCEPT ![p] = stamp]
       /\ network' = network \cup {[record |-> "Message", sender |-> p, clock |-> stamp]}
       /\ delivered' = [delivered EXCEPT ![p] = (delivered[p] \cup {name})]

\* Deliver at P a message of another process.
deliver(p, message) ==
  /\ message \in network
  /\ LET name == [record |-> "Name", sender |-> message.sender, number |-> message.clock[message.sender]]
     IN
       /\ ~((name \in delivered[p]))
       /\ may_deliver(p, message, clock) = TRUE
       /\ clock' = [clock EXCEPT ![p] = later(clock[p], message.clock)]
       /\ delivered' = [delivered EXCEPT ![p] = (delivered[p] \cup {name})]
       /\ UNCHANGED <<network, past>>

Next ==
  \/ \E p \in Process : broadcast(p)
  \/ \E p \in Process : \E message \in network : deliver(p, message)

Spec == Init /\ [][Next]_vars

==============================================================================================================
