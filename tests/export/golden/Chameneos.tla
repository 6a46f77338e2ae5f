---------------------------------------------- MODULE Chameneos ----------------------------------------------
(* Chameneos, made by antiphon from its specification, digest 3916358d6691ee68. *)

EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANT None

creatures == 4
meetings == 4

Creature == 0 .. 3
Color == {"BLUE", "RED", "YELLOW", "FADED"}

VARIABLES color, met, waiting, held

vars == <<color, met, waiting, held>>

RECURSIVE SumOver(_, _)
SumOver(f, S) == IF S = {} THEN 0 ELSE LET x == CHOOSE x \in S : TRUE IN f[x] + SumOver(f, S \ {x})

\* Return the colour that both creatures have after a meeting of colours a and b.
complement(a, b) == (IF (a = b) THEN a ELSE (LET found == SelectSeq(<<"BLUE", "RED", "YELLOW", "FADED">>, LAMBDA c : ((c # a) /\ (c # b))) IN found[1]))

TypeOK ==
  /\ (DOMAIN color = Creature /\ \A k \in Creature : (color[k] \in Color))
  /\ (DOMAIN met = Creature /\ \A k_1 \in Creature : (met[k_1] \in (0 .. 4)))
  /\ (waiting = None \/ (waiting \in Creature))
  /\ (held \in (0 .. 4))

\* Invariant: after the last meeting the creatures' counts of their meetings sum to twice the number
\* of meetings.
SumMet == ((held < meetings) \/ ((LET f == [c \in Creature |-> met[c]] IN SumOver(f, DOMAIN f)) = (2 * meetings)))

Init ==
  \/ \E blue \in (SUBSET Creature) : \E red \in (SUBSET Creature) : 
      /\ (\A c \in Creature : ~(((c \in blue) /\ (c \in red)))) = TRUE
      /\ color = [[[[[k \in Creature |-> "YELLOW"] EXCEPT ![0] = (IF (0 \in blue) THEN "BLUE" ELSE (IF (0 \in red) THEN "RED" ELSE "YELLOW"))] EXCEPT ![1] = (IF (1 \in blue) THEN "BLUE" ELSE (IF (1 \in red) THEN "RED" ELSE "YELLOW"))] EXCEPT ![2] = (IF (2 \in blue) THEN "BLUE" ELSE (IF (2 \in red) THEN "RED" ELSE "YELLOW"))] EXCEPT ![3] = (IF (3 \in blue) THEN "BLUE" ELSE (IF (3 \in red) THEN "RED" ELSE "YELLOW"))]
      /\ met = [k_1 \in Creature |-> 0]
      /\ waiting = None
      /\ held = 0

\* Enter the empty meeting place as creature c, if another meeting may still be held.
enter(c) ==
  /\ (color[c] # "FADED") /\ (waiting = None) /\ (held < meetings)
  /\ waiting' = c
  /\ UNCHANGED <<color, met, held>>

\* Fade as creature c, if all meetings are over.
fade(c) ==
  /\ (color[c] # "FADED") /\ (waiting = None) /\ (held = meetings)
  /\ color' = [color EXCEPT ![c] = "FADED"]
  /\ UNCHANGED <<met, waiting, held>>

\* Let c meet the creature that waits: both take the third colour if their colours differ, and both
\* leave.
meet(c) ==
  /\ LET other == waiting
     IN
       /\ (color[c] # "FADED") /\ (other # None) /\ (other # c)
       /\ LET color_1 == complement(color[c], color[other])
              met_1 == [met EXCEPT ![c] = (met[c] + 1)]
          IN
            /\ color' = IF (other # None) THEN [[color EXCEPT ![c] = color_1] EXCEPT ![other] = color_1] ELSE color
            /\ met' = IF (other # None) THEN [met_1 EXCEPT ![other] = (met_1[other] + 1)] ELSE met
            /\ waiting' = IF (other # None) THEN None ELSE waiting
            /\ held' = IF (other # None) THEN (held + 1) ELSE held

Next ==
  \/ \E c \in Creature : enter(c)
  \/ \E c \in Creature : fade(c)
  \/ \E c \in Creature : meet(c)

Spec == Init /\ [][Next]_vars

==============================================================================================================
