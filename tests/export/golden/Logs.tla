------------------------------------------------ MODULE Logs -------------------------------------------------
(* Logs, made by antiphon from its specification, digest 1b2e17513a750efb. *)

EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANT None

entries == 2
length == 3

VARIABLES leader, follower, rising

vars == <<leader, follower, rising>>

Slice(s, l, u) == SubSeq(s, IF l < 0 THEN 1 ELSE l + 1, IF u < Len(s) THEN u ELSE Len(s))
Reverse(s) == [i \in 1 .. Len(s) |-> s[Len(s) + 1 - i]]

\* What the follower has is a prefix of what the leader has, and not all of it.
lags(leader_, follower_) == ((Slice(leader_, 0, Len(follower_)) = follower_) /\ (Len(follower_) < Len(leader_)))

\* Where the leader has an entry last, the length of its log where nowhere.
place_of(e, leader_) == (LET last == (Len(leader_) - 1) IN (LET found == (LET found_1 == SelectSeq([i \in 1 .. (Len(leader_) - 0) |-> 0 + i - 1], LAMBDA i_1 : (Reverse(leader_)[i_1 + 1] = e)) IN IF found_1 = <<>> THEN None ELSE found_1[1]) IN (IF (found = None) THEN Len(leader_) ELSE (last - found))))

TypeOK ==
  /\ (Len(leader) <= 3 /\ \A i \in 1 .. Len(leader) : (leader[i] \in (0 .. 1)))
  /\ (Len(follower) <= 3 /\ \A i_1 \in 1 .. Len(follower) : (follower[i_1] \in (0 .. 1)))
  /\ (rising \in BOOLEAN)

\* A prefix is not longer, and a log is a prefix of itself.
bounded == (LET whole == (Slice(leader, 0, Len(leader)) = leader) IN (whole /\ (~(lags(leader, follower)) \/ (Len(follower) < length))))

\* No entry of the follower is followed by a smaller one: some are.
in_order == (\A i \in 0 .. ((Len(follower) - 1) - 1) : (follower[i + 1] <= follower[(i + 1) + 1]))

Init ==
  /\ leader = <<>>
  /\ follower = <<>>
  /\ rising = TRUE

\* At the end.
append(e) ==
  /\ Len(leader) < length
  /\ leader' = Append(leader, e)
  /\ UNCHANGED <<follower, rising>>

\* The next entry.
replicate ==
  /\ lags(leader, follower) = TRUE
  /\ follower' = Append(follower, leader[Len(follower) + 1])
  /\ UNCHANGED <<leader, rising>>

\* The last entries are lost; those that remain are the first.
truncate(k) ==
  /\ (0 < k) /\ (k <= Len(leader))
  /\ follower' = Slice(leader, (Len(leader) - k), Len(leader))
  /\ leader' = Slice(leader, 0, (Len(leader) - k))
  /\ UNCHANGED <<rising>>

\* The last entry is lost, unless it is greater than the one before it.
undo ==
  /\ (Len(follower) >= 2) /\ (follower[Len(follower)] <= follower[(Len(follower) - 2) + 1])
  /\ follower' = Slice(follower, 0, (Len(follower) - 1))
  /\ UNCHANGED <<leader, rising>>

\* One entry is taken out.
cut(i) ==
  /\ i < Len(follower)
  /\ follower' = Slice(follower, 0, i) \o Slice(follower, (i + 1), Len(follower))
  /\ UNCHANGED <<leader, rising>>

\* The last entry is another one.
overwrite(e) ==
  /\ place_of(e, leader) < (Len(leader) - 1)
  /\ leader' = Append(Slice(leader, 0, (Len(leader) - 1)), e)
  /\ UNCHANGED <<follower, rising>>

\* All of one kind are taken out, and the rest counted on.
drop(e) ==
  /\ (\E i \in 1 .. Len(Slice(leader, 1, (Len(leader) - 1))) : Slice(leader, 1, (Len(leader) - 1))[i] = e) = TRUE
  /\ leader' = LET items == SelectSeq(leader, LAMBDA x : (x # e)) IN [i_1 \in 1 .. Len(items) |-> ((items[i_1] + 1) % entries)]
  /\ UNCHANGED <<follower, rising>>

\* Both change places, and one is turned round.
turn ==
  /\ leader' = follower
  /\ follower' = Reverse(leader)
  /\ UNCHANGED <<rising>>

\* Whether no entry is less than the one before it; and the follower begins with everything.
survey ==
  /\ (Len(leader) + entries) <= length
  /\ LET rising_1 == TRUE
         items == [i \in 1 .. (Len(leader) - 1) |-> 1 + i - 1]
         rising_4 == IF (1 <= Len(items)) THEN (IF (leader[items[1]] > leader[items[1] + 1]) THEN FALSE ELSE rising_1) ELSE rising_1
         rising_7 == IF (2 <= Len(items)) THEN (IF (leader[items[2]] > leader[items[2] + 1]) THEN FALSE ELSE rising_4) ELSE rising_4
     IN
       /\ rising' = IF (3 <= Len(items)) THEN (IF (leader[items[3]] > leader[items[3] + 1]) THEN FALSE ELSE rising_7) ELSE rising_7
       /\ follower' = <<0, 1>> \o leader
       /\ UNCHANGED <<leader>>

Next ==
  \/ \E e \in (0 .. 1) : append(e)
  \/ replicate
  \/ \E k \in (0 .. 3) : truncate(k)
  \/ undo
  \/ \E i \in (0 .. 3) : cut(i)
  \/ \E e \in (0 .. 1) : overwrite(e)
  \/ \E e \in (0 .. 1) : drop(e)
  \/ turn
  \/ survey

Spec == Init /\ [][Next]_vars

==============================================================================================================
