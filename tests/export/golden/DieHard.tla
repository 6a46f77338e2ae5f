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

\* The heroes have not measured what they need. It is hoped to be false: a run that breaks it is the
\* solution.
NotSolved == (big # goal)

Init ==
  /\ big = 0
  /\ small = 0

\* From the faucet.
fill_small_jug ==
  /\ small' = small_jug
  /\ UNCHANGED <<big>>

\* From the faucet.
fill_big_jug ==
  /\ big' = big_jug
  /\ UNCHANGED <<small>>

\* Onto the ground.
empty_small_jug ==
  /\ small' = 0
  /\ UNCHANGED <<big>>

\* Onto the ground.
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
