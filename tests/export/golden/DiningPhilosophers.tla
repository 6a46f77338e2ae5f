----------------------------------------- MODULE DiningPhilosophers ------------------------------------------
(* DiningPhilosophers, made by antiphon from its specification, digest 067cfdc52d86f6b9. *)

EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANT None

philosophers == 5
alike == FALSE

Philosopher == 0 .. 4
Place == {"LOOP", "EAT", "THINK"}

VARIABLES holder, clean, hungry, place

vars == <<holder, clean, hungry, place>>

\* Return the neighbour of p on the left (-1) or on the right (1). As forks have the numbers of
\* philosophers, p's right neighbour also stands for the fork on p's right.
beside(p, distance) == ((p + distance) % philosophers)

\* Return True if p has the fork, and the fork is dirty.
must_hand_over(p, fork, holder_, clean_) == ((holder_[fork] = p) /\ ~(clean_[fork]))

\* Return True if p has both forks, and both are clean.
can_eat(p, holder_, clean_) == (LET right == beside(p, 1) IN ((holder_[p] = p) /\ (holder_[right] = p) /\ clean_[p] /\ clean_[right]))

\* Return True if p is not hungry.
is_sated(p, hungry_) == ~(hungry_[p])

TypeOK ==
  /\ (DOMAIN holder = Philosopher /\ \A k \in Philosopher : (holder[k] \in Philosopher))
  /\ (DOMAIN clean = Philosopher /\ \A k_1 \in Philosopher : (clean[k_1] \in BOOLEAN))
  /\ (DOMAIN hungry = Philosopher /\ \A k_2 \in Philosopher : (hungry[k_2] \in BOOLEAN))
  /\ (DOMAIN place = Philosopher /\ \A k_3 \in Philosopher : (place[k_3] \in Place))

\* Invariant: philosophers who share a fork do not eat at the same time.
ExclusiveAccess == ~((\E p \in Philosopher : \E q \in Philosopher : ((p # q) /\ ((q = beside(p, 1)) \/ (p = beside(q, 1))) /\ (place[p] = "EAT") /\ (place[q] = "EAT"))))

Init ==
  \/
      /\ LET holder_6 == [[[[[[k \in Philosopher |-> 0] EXCEPT ![0] = 0] EXCEPT ![1] = 1] EXCEPT ![2] = 2] EXCEPT ![3] = 3] EXCEPT ![4] = 4]
         IN
           /\ holder = IF (~(alike) /\ (philosophers > 1)) THEN [holder_6 EXCEPT ![(1 % philosophers)] = 0] ELSE holder_6
           /\ clean = [k_1 \in Philosopher |-> FALSE]
           /\ hungry = [k_2 \in Philosopher |-> TRUE]
           /\ place = [k_3 \in Philosopher |-> "LOOP"]

\* Hand over one dirty fork of p, the left one first; and let p go to think if it is not hungry, or to
\* eat if it can.
loop(p) ==
  /\ LET right == beside(p, 1)
     IN
       /\ place[p] = "LOOP"
       /\ (must_hand_over(p, p, holder, clean) \/ must_hand_over(p, right, holder, clean) \/ ~(hungry[p]) \/ can_eat(p, holder, clean)) = TRUE
       /\ place' = IF ~(hungry[p]) THEN [place EXCEPT ![p] = "THINK"] ELSE (IF can_eat(p, holder, clean) THEN [place EXCEPT ![p] = "EAT"] ELSE place)
       /\ holder' = IF must_hand_over(p, p, holder, clean) THEN [holder EXCEPT ![p] = beside(p, (-1))] ELSE (IF must_hand_over(p, right, holder, clean) THEN [holder EXCEPT ![right] = right] ELSE holder)
       /\ clean' = IF must_hand_over(p, p, holder, clean) THEN [clean EXCEPT ![p] = TRUE] ELSE (IF must_hand_over(p, right, holder, clean) THEN [clean EXCEPT ![right] = TRUE] ELSE clean)
       /\ UNCHANGED <<hungry>>

\* Let p eat, which makes both forks dirty.
eat(p) ==
  /\ place[p] = "EAT"
  /\ hungry' = [hungry EXCEPT ![p] = FALSE]
  /\ clean' = [[clean EXCEPT ![p] = FALSE] EXCEPT ![beside(p, 1)] = FALSE]
  /\ place' = [place EXCEPT ![p] = "LOOP"]
  /\ UNCHANGED <<holder>>

\* Let p think, which makes p hungry.
think(p) ==
  /\ place[p] = "THINK"
  /\ hungry' = [hungry EXCEPT ![p] = TRUE]
  /\ place' = [place EXCEPT ![p] = "LOOP"]
  /\ UNCHANGED <<holder, clean>>

Next ==
  \/ \E p \in Philosopher : loop(p)
  \/ \E p \in Philosopher : eat(p)
  \/ \E p \in Philosopher : think(p)

Fairness ==
  /\ \A p \in Philosopher : WF_vars(loop(p))
  /\ \A p \in Philosopher : WF_vars(eat(p))
  /\ \A p \in Philosopher : WF_vars(think(p))

Spec == Init /\ [][Next]_vars /\ Fairness

NobodyStarves == \A p \in Philosopher : []<>(is_sated(p, hungry))

==============================================================================================================
