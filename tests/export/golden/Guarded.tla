----------------------------------------------- MODULE Guarded -----------------------------------------------
(* Guarded, made by antiphon from its specification, digest 2911d55afb734045. *)

EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANT None

size == 0

VARIABLES count, queue

vars == <<count, queue>>

DropFirst(s) == IF s = <<>> THEN s ELSE Tail(s)

fits(n) == ((size = 0) \/ ((n % size) = 0))

TypeOK ==
  /\ (count \in (0 .. 3))
  /\ (Len(queue) <= 2 /\ \A i \in 1 .. Len(queue) : (queue[i] \in (0 .. 3)))

Init ==
  /\ count = 0
  /\ queue = <<>>

\* A disjunction.
raise_count ==
  /\ count < 3
  /\ ((size = 0) \/ ((count % size) = 0)) = TRUE
  /\ count' = count + 1
  /\ UNCHANGED <<queue>>

\* A helper that is one, beside another condition.
put ==
  /\ ((Len(queue) < 2) /\ fits(count)) = TRUE
  /\ queue' = Append(queue, count)
  /\ UNCHANGED <<count>>

\* A conditional and a quantifier.
take ==
  /\ (IF (Len(queue) > 0) THEN (queue[0 + 1] = count) ELSE FALSE) = TRUE
  /\ ((size = 0) \/ (\E i \in 1 .. Len(queue) : ((queue[i] % size) = count))) = TRUE
  /\ queue' = DropFirst(queue)
  /\ UNCHANGED <<count>>

Next ==
  \/ raise_count
  \/ put
  \/ take

Spec == Init /\ [][Next]_vars

==============================================================================================================
