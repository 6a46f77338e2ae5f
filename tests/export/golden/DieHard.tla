----------------------------------------------- MODULE DieHard -----------------------------------------------
(* DieHard, made by antiphon from its specification, digest a4c7a56daea3d3fb. *)

EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANT None

big_jug == 5
small_jug == 3
goal == 4

VARIABLES big, small

vars == <<big, small>>

TypeOK ==
  /\ (big \in (0 .. 5))
  /\ (small \in (0 .. 3))

\* Property that the heroes have not measured four gallons; it is meant to be violated, since its
\* counterexample is the solution.
NotSolved == (big # goal)

Init ==
  /\ big = 0
  /\ small = 0

\* Fill the small jug from the faucet.
fill_small_jug ==
  /\ small' = small_jug
  /\ UNCHANGED <<big>>

\* Fill the big jug from the faucet.
fill_big_jug ==
  /\ big' = big_jug
  /\ UNCHANGED <<small>>

\* Empty the small jug onto the ground.
empty_small_jug ==
  /\ small' = 0
  /\ UNCHANGED <<big>>

\* Empty the big jug onto the ground.
empty_big_jug ==
  /\ big' = 0
  /\ UNCHANGED <<small>>

\* Pour until the small jug is empty or the big one full.
small_to_big ==
  /\ LET poured == IF (small > (big_jug - big)) THEN (big_jug - big) ELSE small
     IN
       /\ big' = big + poured
       /\ small' = small - poured

\* Pour until the big jug is empty or the small one full.
big_to_small ==
  /\ LET poured == IF (big > (small_jug - small)) THEN (small_jug - small) ELSE big
     IN
       /\ small' = small + poured
       /\ big' = big - poured

Next ==
  \/ fill_small_jug
  \/ fill_big_jug
  \/ empty_small_jug
  \/ empty_big_jug
  \/ small_to_big
  \/ big_to_small

Spec == Init /\ [][Next]_vars

==============================================================================================================
