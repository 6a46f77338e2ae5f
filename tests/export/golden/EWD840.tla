----------------------------------------------- MODULE EWD840 ------------------------------------------------
(* EWD840, made by antiphon from its specification, digest c6dc317e4ca4d02c. *)

EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANT None

nodes == 3

Node == 0 .. 2
Color == {"WHITE", "BLACK"}

VARIABLES active, color, token_at, token_color

vars == <<active, color, token_at, token_color>>

\* Return True if no node is active.
terminated(active_) == ~((\E p \in Node : active_[p]))

\* Return True if node 0 knows that no node works.
detected(active_, color_, token_at_, token_color_) == (LET first == 0 IN ((token_at_ = first) /\ (token_color_ = "WHITE") /\ (color_[first] = "WHITE") /\ ~(active_[first])))

TypeOK ==
  /\ (DOMAIN active = Node /\ \A k \in Node : (active[k] \in BOOLEAN))
  /\ (DOMAIN color = Node /\ \A k_1 \in Node : (color[k_1] \in Color))
  /\ (token_at \in Node)
  /\ (token_color \in Color)

\* Invariant: when node 0 detects termination, no node is active.
TerminationDetection == (~(detected(active, color, token_at, token_color)) \/ terminated(active))

\* Dijkstra's invariant: all nodes behind the token are idle, or a node ahead of the token is black,
\* or the token is black.
Inv == ((\A p \in {p \in Node : (token_at < p)} : ~(active[p])) \/ (\E p_2 \in {p_2 \in Node : (p_2 <= token_at)} : (color[p_2] = "BLACK")) \/ (token_color = "BLACK"))

Init ==
  \/ \E working \in (SUBSET Node) : \E black \in (SUBSET Node) : \E place \in Node : 
      /\ active = [[[[k \in Node |-> FALSE] EXCEPT ![0] = (0 \in working)] EXCEPT ![1] = (1 \in working)] EXCEPT ![2] = (2 \in working)]
      /\ color = [[[[k_1 \in Node |-> "WHITE"] EXCEPT ![0] = (IF (0 \in black) THEN "BLACK" ELSE "WHITE")] EXCEPT ![1] = (IF (1 \in black) THEN "BLACK" ELSE "WHITE")] EXCEPT ![2] = (IF (2 \in black) THEN "BLACK" ELSE "WHITE")]
      /\ token_at = place
      /\ token_color = "BLACK"

\* Send a white token from node 0, which has learned nothing from the last round.
initiate_probe ==
  /\ LET first == 0
     IN
       /\ token_at = first
       /\ ((token_color = "BLACK") \/ (color[first] = "BLACK")) = TRUE
       /\ token_at' = nodes - 1
       /\ token_color' = "WHITE"
       /\ color' = [color EXCEPT ![first] = "WHITE"]
       /\ UNCHANGED <<active>>

\* Pass the token on at a node that does not work, or if the token or the node is black, so that this
\* round detects nothing; the node turns white.
pass_token(p) ==
  /\ (p > 0) /\ (token_at = p)
  /\ (~(active[p]) \/ (color[p] = "BLACK") \/ (token_color = "BLACK")) = TRUE
  /\ token_at' = p - 1
  /\ token_color' = IF (color[p] = "BLACK") THEN "BLACK" ELSE token_color
  /\ color' = [color EXCEPT ![p] = "WHITE"]
  /\ UNCHANGED <<active>>

\* Give work from a working node p to another, q; if q is later in the ring, so that the token may
\* have passed q, p turns black.
send_message(p, q) ==
  /\ active[p] /\ (p # q)
  /\ active' = [active EXCEPT ![q] = TRUE]
  /\ color' = IF (q > p) THEN [color EXCEPT ![p] = "BLACK"] ELSE color
  /\ UNCHANGED <<token_at, token_color>>

\* End the work of a node.
deactivate(p) ==
  /\ active[p]
  /\ active' = [active EXCEPT ![p] = FALSE]
  /\ UNCHANGED <<color, token_at, token_color>>

Next ==
  \/ initiate_probe
  \/ \E p \in Node : pass_token(p)
  \/ \E p \in Node : \E q \in Node : send_message(p, q)
  \/ \E p \in Node : deactivate(p)

Fairness ==
  /\ WF_vars(initiate_probe)
  /\ WF_vars(\E p \in Node : pass_token(p))

Spec == Init /\ [][Next]_vars /\ Fairness

Liveness == (terminated(active) ~> detected(active, color, token_at, token_color))

==============================================================================================================
