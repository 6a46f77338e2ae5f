---------------------------------------------- MODULE BcastByz -----------------------------------------------
(* BcastByz, made by antiphon from its specification, digest 8d28eb1f39760703. *)

EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANT None

processes == 4
tolerated == 1
faulty == 1

Process == 0 .. 3
Control == {"V0", "V1", "SE", "AC"}

VARIABLES correct, pc, received, sent

vars == <<correct, pc, received, sent>>

\* Return True if all these ECHO messages come from correct processes that have sent ECHO.
from_correct_senders(new, sent_) == (new \subseteq sent_)

\* Return True if all these ECHO messages can be received: each sender has sent ECHO, or is faulty.
from_any_sender(new, correct_, sent_) == (\A q \in new : ((q \in sent_) \/ ~((q \in correct_))))

\* Return the number of processes from which P has heard ECHO, those in `new` included.
heard(p, new, received_) == Cardinality((received_[p] \cup new))

\* Return True if every correct process has heard of the broadcast.
all_correct_heard(correct_, pc_) == (\A p \in correct_ : (pc_[p] = "V1"))

\* Return True if no correct process has heard of the broadcast.
no_correct_heard(correct_, pc_) == (\A p \in correct_ : (pc_[p] = "V0"))

\* Return True if a correct process has accepted.
some_accepts(correct_, pc_) == (\E p \in correct_ : (pc_[p] = "AC"))

\* Return True if no correct process has accepted.
none_accepts(correct_, pc_) == ~(some_accepts(correct_, pc_))

\* Return True if every correct process has accepted.
all_accept(correct_, pc_) == (\A p \in correct_ : (pc_[p] = "AC"))

TypeOK ==
  /\ (\A e \in correct : (e \in Process))
  /\ (DOMAIN pc = Process /\ \A k \in Process : (pc[k] \in Control))
  /\ (DOMAIN received = Process /\ \A k_1 \in Process : (\A e_1 \in received[k_1] : (e_1 \in Process)))
  /\ (\A e_2 \in sent : (e_2 \in Process))

\* Invariant: at most the tolerated number of processes is faulty.
FCConstraints == (Cardinality(correct) >= (processes - tolerated))

Init ==
  \/ \E correct_2 \in (SUBSET Process) : \E informed \in (SUBSET Process) : 
      /\ Cardinality(correct_2) = (processes - faulty)
      /\ correct = correct_2
      /\ pc = [[[[[k \in Process |-> "V0"] EXCEPT ![0] = (IF (0 \in informed) THEN "V1" ELSE "V0")] EXCEPT ![1] = (IF (1 \in informed) THEN "V1" ELSE "V0")] EXCEPT ![2] = (IF (2 \in informed) THEN "V1" ELSE "V0")] EXCEPT ![3] = (IF (3 \in informed) THEN "V1" ELSE "V0")]
      /\ received = [k_1 \in Process |-> {}]
      /\ sent = {}

\* Send ECHO at a process that has heard of the broadcast: the first `if` of the figure.
upon_v1(p, new) ==
  /\ ((p \in correct) /\ from_any_sender(new, correct, sent)) = TRUE
  /\ pc[p] = "V1"
  /\ received' = [received EXCEPT ![p] = (received[p] \cup new)]
  /\ pc' = [pc EXCEPT ![p] = "SE"]
  /\ sent' = sent \cup {p}
  /\ UNCHANGED <<correct>>

\* Send ECHO at a process that has certainly heard ECHO from a correct process: the third `if`.
upon_non_faulty(p, new) ==
  /\ ((p \in correct) /\ from_any_sender(new, correct, sent)) = TRUE
  /\ ((pc[p] = "V0") \/ (pc[p] = "V1")) = TRUE
  /\ heard(p, new, received) >= (processes - (2 * tolerated))
  /\ heard(p, new, received) < (processes - tolerated)
  /\ received' = [received EXCEPT ![p] = (received[p] \cup new)]
  /\ pc' = [pc EXCEPT ![p] = "SE"]
  /\ sent' = sent \cup {p}
  /\ UNCHANGED <<correct>>

\* Send ECHO and accept at a process that has heard ECHO from enough processes: the second and third
\* `if`.
upon_accept_not_sent_before(p, new) ==
  /\ ((p \in correct) /\ from_any_sender(new, correct, sent)) = TRUE
  /\ ((pc[p] = "V0") \/ (pc[p] = "V1")) = TRUE
  /\ heard(p, new, received) >= (processes - tolerated)
  /\ received' = [received EXCEPT ![p] = (received[p] \cup new)]
  /\ pc' = [pc EXCEPT ![p] = "AC"]
  /\ sent' = sent \cup {p}
  /\ UNCHANGED <<correct>>

\* Accept at a process that has heard ECHO from enough processes: the second `if`.
upon_accept_sent_before(p, new) ==
  /\ ((p \in correct) /\ from_any_sender(new, correct, sent)) = TRUE
  /\ pc[p] = "SE"
  /\ heard(p, new, received) >= (processes - tolerated)
  /\ received' = [received EXCEPT ![p] = (received[p] \cup new)]
  /\ pc' = [pc EXCEPT ![p] = "AC"]
  /\ UNCHANGED <<correct, sent>>

Next ==
  \/ \E p \in Process : \E new \in (SUBSET Process) : upon_v1(p, new)
  \/ \E p \in Process : \E new \in (SUBSET Process) : upon_non_faulty(p, new)
  \/ \E p \in Process : \E new \in (SUBSET Process) : upon_accept_not_sent_before(p, new)
  \/ \E p \in Process : \E new \in (SUBSET Process) : upon_accept_sent_before(p, new)

Fairness ==
  /\ WF_vars((\E p \in Process : \E new \in (SUBSET Process) : from_correct_senders(new, sent) /\ upon_v1(p, new)) \/ (\E p_1 \in Process : \E new_1 \in (SUBSET Process) : from_correct_senders(new_1, sent) /\ upon_non_faulty(p_1, new_1)) \/ (\E p_2 \in Process : \E new_2 \in (SUBSET Process) : from_correct_senders(new_2, sent) /\ upon_accept_not_sent_before(p_2, new_2)) \/ (\E p_3 \in Process : \E new_3 \in (SUBSET Process) : from_correct_senders(new_3, sent) /\ upon_accept_sent_before(p_3, new_3)))

Spec == Init /\ [][Next]_vars /\ Fairness

CorrLtl == ((all_correct_heard(correct, pc)) => <>(all_accept(correct, pc)))

RelayLtl == (some_accepts(correct, pc) ~> all_accept(correct, pc))

UnforgLtl == ((no_correct_heard(correct, pc)) => [](none_accepts(correct, pc)))

==============================================================================================================
