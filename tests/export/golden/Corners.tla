----------------------------------------------- MODULE Corners -----------------------------------------------
(* Corners, made by antiphon from its specification, digest ac7bb255bc316768. *)

EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANT None

nodes == 2

Mood == {"GOOD", "BAD"}
Node == 0 .. 1
Note == [record : {"Note"}, to : Node, weight : ((-2) .. 2)]
Bell == [record : {"Bell"}]

VARIABLES level, mood, last, notes, others, queue, counts

vars == <<level, mood, last, notes, others, queue, counts>>

RECURSIVE SumOver(_, _)
SumOver(f, S) == IF S = {} THEN 0 ELSE LET x == CHOOSE x \in S : TRUE IN f[x] + SumOver(f, S \ {x})
MaxOf(S) == CHOOSE m \in S : \A x \in S : x <= m
MinOf(S) == CHOOSE m \in S : \A x \in S : m <= x
DropFirst(s) == IF s = <<>> THEN s ELSE Tail(s)

\* The greatest weight of a note.
heaviest(notes_) == (LET values == {note.weight : note \in notes_} IN IF values = {} THEN 0 ELSE MaxOf(values))

\* The sum over all nodes.
total(queue_, counts_) == ((LET f == [p \in Node |-> counts_[p]] IN SumOver(f, DOMAIN f)) + Cardinality({i \in 1 .. Len(queue_) : (queue_[i] > 0)}))

\* Nothing waits.
quiet(queue_) == (Len(queue_) = 0)

\* The first node that is not in the queue.
first_idle(queue_) == (LET found == SelectSeq(<<0, 1>>, LAMBDA p : ~((\E i \in 1 .. Len(queue_) : queue_[i] = p))) IN IF found = <<>> THEN None ELSE found[1])

\* Somebody waits.
busy(queue_) == ~(quiet(queue_))

TypeOK ==
  /\ (level \in ((-2) .. 2))
  /\ (mood \in Mood)
  /\ (last = None \/ (last \in (Note \cup Bell)))
  /\ (\A e \in notes : (e \in Note))
  /\ (\A e_1 \in others : (e_1 \in Note))
  /\ (Len(queue) <= 2 /\ \A i \in 1 .. Len(queue) : (queue[i] \in Node))
  /\ (DOMAIN counts = Node /\ \A k \in Node : (counts[k] \in (0 .. 2)))

\* Sums, maxima and all that.
Bounded == ((total(queue, counts) <= ((2 * nodes) + Len(queue))) /\ (heaviest(notes) <= 2) /\ (notes \subseteq (notes \cup others)))

Init ==
  \/ \E p \in Node : 
      /\ level = 0
      /\ mood = "GOOD"
      /\ last = None
      /\ notes = {}
      /\ others = {}
      /\ queue = <<>>
      /\ counts = [[k \in Node |-> 0] EXCEPT ![p] = 1]

\* A note, if there is room.
write(p) ==
  /\ Cardinality((notes \cup others)) < 2
  /\ notes' = IF (p > 0) THEN (notes \cup {[record |-> "Note", to |-> p, weight |-> level]}) ELSE notes
  /\ others' = IF (p > 0) THEN others ELSE (others \cup {[record |-> "Note", to |-> p, weight |-> (-1)]})
  /\ last' = [record |-> "Note", to |-> p, weight |-> level]
  /\ UNCHANGED <<level, mood, queue, counts>>

\* Both sets change places, but for what they share.
exchange ==
  /\ (notes # others) /\ ~((notes \subseteq others /\ notes # others))
  /\ LET both == (notes \ others) \cup (others \ notes)
     IN
       /\ others' = both \cap others
       /\ notes' = {note : note \in {note \in both : (note \in notes)}} \ UNION {{[record |-> "Note", to |-> q, weight |-> w] : w \in {w \in ((-2) .. 2) : (w > 1)}} : q \in Node}
       /\ UNCHANGED <<level, mood, last, queue, counts>>

\* A note is read; whom it is for is called.
read(note) ==
  /\ note \in notes
  /\ LET by == ((note.weight \div 2) + ((level - 1) % 3)) - 1
         c == ((level + by) > 2) \/ ((level + by) < (-2))
         idle == first_idle(queue)
         event == [record |-> "Rung", node |-> idle]
     IN
       /\ Assert(((~(idle = None)) => (counts[event.node] < 3)), "NeverThree")
       /\ notes' = notes \ {note}
       /\ mood' = IF c THEN "BAD" ELSE mood
       /\ level' = IF c THEN level ELSE (level + by)
       /\ last' = IF (idle = None) THEN [record |-> "Bell"] ELSE last
       /\ queue' = IF (idle = None) THEN queue ELSE Append(queue, idle)
       /\ counts' = IF (idle = None) THEN counts ELSE (IF (counts[event.node] < 2) THEN [counts EXCEPT ![event.node] = (counts[event.node] + 1)] ELSE counts)
       /\ UNCHANGED <<others>>

\* The first of the queue.
serve ==
  /\ Len(queue) > 0
  /\ LET first == queue[0 + 1]
         items == queue
         counts_3 == IF (1 <= Len(items)) THEN (IF ((items[1] # first) /\ (counts[items[1]] > 0)) THEN [counts EXCEPT ![items[1]] = (counts[items[1]] - 1)] ELSE counts) ELSE counts
         elements == others
         others_3 == IF ([record |-> "Note", to |-> 0, weight |-> (-2)] \in elements) THEN (IF ([record |-> "Note", to |-> 0, weight |-> (-2)].to = first) THEN (others \ {[record |-> "Note", to |-> 0, weight |-> (-2)]}) ELSE others) ELSE others
         others_6 == IF ([record |-> "Note", to |-> 0, weight |-> (-1)] \in elements) THEN (IF ([record |-> "Note", to |-> 0, weight |-> (-1)].to = first) THEN (others_3 \ {[record |-> "Note", to |-> 0, weight |-> (-1)]}) ELSE others_3) ELSE others_3
         others_9 == IF ([record |-> "Note", to |-> 0, weight |-> 0] \in elements) THEN (IF ([record |-> "Note", to |-> 0, weight |-> 0].to = first) THEN (others_6 \ {[record |-> "Note", to |-> 0, weight |-> 0]}) ELSE others_6) ELSE others_6
         others_12 == IF ([record |-> "Note", to |-> 0, weight |-> 1] \in elements) THEN (IF ([record |-> "Note", to |-> 0, weight |-> 1].to = first) THEN (others_9 \ {[record |-> "Note", to |-> 0, weight |-> 1]}) ELSE others_9) ELSE others_9
         others_15 == IF ([record |-> "Note", to |-> 0, weight |-> 2] \in elements) THEN (IF ([record |-> "Note", to |-> 0, weight |-> 2].to = first) THEN (others_12 \ {[record |-> "Note", to |-> 0, weight |-> 2]}) ELSE others_12) ELSE others_12
         others_18 == IF ([record |-> "Note", to |-> 1, weight |-> (-2)] \in elements) THEN (IF ([record |-> "Note", to |-> 1, weight |-> (-2)].to = first) THEN (others_15 \ {[record |-> "Note", to |-> 1, weight |-> (-2)]}) ELSE others_15) ELSE others_15
         others_21 == IF ([record |-> "Note", to |-> 1, weight |-> (-1)] \in elements) THEN (IF ([record |-> "Note", to |-> 1, weight |-> (-1)].to = first) THEN (others_18 \ {[record |-> "Note", to |-> 1, weight |-> (-1)]}) ELSE others_18) ELSE others_18
         others_24 == IF ([record |-> "Note", to |-> 1, weight |-> 0] \in elements) THEN (IF ([record |-> "Note", to |-> 1, weight |-> 0].to = first) THEN (others_21 \ {[record |-> "Note", to |-> 1, weight |-> 0]}) ELSE others_21) ELSE others_21
         others_27 == IF ([record |-> "Note", to |-> 1, weight |-> 1] \in elements) THEN (IF ([record |-> "Note", to |-> 1, weight |-> 1].to = first) THEN (others_24 \ {[record |-> "Note", to |-> 1, weight |-> 1]}) ELSE others_24) ELSE others_24
     IN
       /\ counts' = IF (2 <= Len(items)) THEN (IF ((items[2] # first) /\ (counts_3[items[2]] > 0)) THEN [counts_3 EXCEPT ![items[2]] = (counts_3[items[2]] - 1)] ELSE counts_3) ELSE counts_3
       /\ others' = IF ([record |-> "Note", to |-> 1, weight |-> 2] \in elements) THEN (IF ([record |-> "Note", to |-> 1, weight |-> 2].to = first) THEN (others_27 \ {[record |-> "Note", to |-> 1, weight |-> 2]}) ELSE others_27) ELSE others_27
       /\ queue' = DropFirst(queue)
       /\ level' = IF ((last # None) /\ (last # None /\ last.record \in {"Note"})) THEN (LET values == {note_2.weight : note_2 \in notes} IN IF values = {} THEN last.weight ELSE MinOf(values)) ELSE level
       /\ UNCHANGED <<mood, last, notes>>

Next ==
  \/ \E p \in Node : write(p)
  \/ exchange
  \/ \E note \in notes : read(note)
  \/ serve

Fairness ==
  /\ WF_vars(\E note \in notes : read(note))
  /\ WF_vars(serve)

Spec == Init /\ [][Next]_vars /\ Fairness

Served == (busy(queue) ~> quiet(queue))

==============================================================================================================
