--------------------------------------------- MODULE NbacgGuer01 ---------------------------------------------
(* NbacgGuer01, made by antiphon from its specification, digest 8a5fd865cdf99d3e. *)

EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANT None

processes == 3

Process == 0 .. 2
Status == {"YES", "NO", "SENT", "ABORT", "COMMIT", "BYZ"}

VARIABLES sent_no, sent_yes, faulty_no, faulty_yes, received_yes, received_no, some_fail, pc

vars == <<sent_no, sent_yes, faulty_no, faulty_yes, received_yes, received_no, some_fail, pc>>

\* Return True if some process will vote NO.
some_votes_no(pc_) == (\E i \in Process : (pc_[i] = "NO"))

\* Return True if no process has committed.
nobody_commits(pc_) == (\A i \in Process : (pc_[i] # "COMMIT"))

\* Return True if every process will vote YES and knows of no failure.
all_vote_yes(some_fail_, pc_) == (\A i \in Process : ((pc_[i] = "YES") /\ ~(some_fail_[i])))

\* Return True if no process has aborted.
nobody_aborts(pc_) == (\A i \in Process : (pc_[i] # "ABORT"))

\* Return True if no process has crashed, and none has a failure notice.
nobody_fails(some_fail_, pc_) == (\A i \in Process : ((pc_[i] # "BYZ") /\ ~(some_fail_[i])))

\* Return True if every process has committed or aborted.
all_decide(pc_) == (\A i \in Process : ((pc_[i] = "COMMIT") \/ (pc_[i] = "ABORT")))

TypeOK ==
  /\ (sent_no \in (0 .. 3))
  /\ (sent_yes \in (0 .. 3))
  /\ (faulty_no \in (0 .. 3))
  /\ (faulty_yes \in (0 .. 3))
  /\ (DOMAIN received_yes = Process /\ \A k \in Process : (received_yes[k] \in (0 .. 3)))
  /\ (DOMAIN received_no = Process /\ \A k_1 \in Process : (received_no[k_1] \in (0 .. 3)))
  /\ (DOMAIN some_fail = Process /\ \A k_2 \in Process : (some_fail[k_2] \in BOOLEAN))
  /\ (DOMAIN pc = Process /\ \A k_3 \in Process : (pc[k_3] \in Status))

\* Invariant: no two processes decide differently.
AgrrLtl == ~((\E i \in Process : \E j \in Process : ((pc[i] = "COMMIT") /\ (pc[j] = "ABORT"))))

Init ==
  \/ \E agree \in (SUBSET Process) : \E told \in (SUBSET Process) : 
      /\ sent_no = 0
      /\ sent_yes = 0
      /\ faulty_no = 0
      /\ faulty_yes = 0
      /\ received_yes = [k \in Process |-> 0]
      /\ received_no = [k_1 \in Process |-> 0]
      /\ some_fail = [[[[k_2 \in Process |-> FALSE] EXCEPT ![0] = (0 \in told)] EXCEPT ![1] = (1 \in told)] EXCEPT ![2] = (2 \in told)]
      /\ pc = [[[[k_3 \in Process |-> "YES"] EXCEPT ![0] = (IF (0 \in agree) THEN "YES" ELSE "NO")] EXCEPT ![1] = (IF (1 \in agree) THEN "YES" ELSE "NO")] EXCEPT ![2] = (IF (2 \in agree) THEN "YES" ELSE "NO")]

\* Crash a process; if it was about to vote, its vote may still be received.
crash(i) ==
  /\ pc[i] # "BYZ"
  /\ faulty_yes' = IF (pc[i] = "YES") THEN (faulty_yes + 1) ELSE faulty_yes
  /\ faulty_no' = IF (pc[i] = "NO") THEN (faulty_no + 1) ELSE faulty_no
  /\ pc' = [pc EXCEPT ![i] = "BYZ"]
  /\ UNCHANGED <<sent_no, sent_yes, received_yes, received_no, some_fail>>

\* Receive a vote YES.
receive_yes(i) ==
  /\ (pc[i] = "SENT") /\ (received_yes[i] < (sent_yes + faulty_yes))
  /\ received_yes' = [received_yes EXCEPT ![i] = (received_yes[i] + 1)]
  /\ UNCHANGED <<sent_no, sent_yes, faulty_no, faulty_yes, received_no, some_fail, pc>>

\* Receive a vote NO.
receive_no(i) ==
  /\ (pc[i] = "SENT") /\ (received_no[i] < (sent_no + faulty_no))
  /\ received_no' = [received_no EXCEPT ![i] = (received_no[i] + 1)]
  /\ UNCHANGED <<sent_no, sent_yes, faulty_no, faulty_yes, received_yes, some_fail, pc>>

\* Vote YES at a process that knows of no failure.
send_yes(i) ==
  /\ (pc[i] = "YES") /\ ~(some_fail[i])
  /\ pc' = [pc EXCEPT ![i] = "SENT"]
  /\ sent_yes' = sent_yes + 1
  /\ UNCHANGED <<sent_no, faulty_no, faulty_yes, received_yes, received_no, some_fail>>

\* Vote NO at a process that knows of no failure.
send_no(i) ==
  /\ (pc[i] = "NO") /\ ~(some_fail[i])
  /\ pc' = [pc EXCEPT ![i] = "SENT"]
  /\ sent_no' = sent_no + 1
  /\ UNCHANGED <<sent_yes, faulty_no, faulty_yes, received_yes, received_no, some_fail>>

\* Abort without a vote at a process that knows of a failure.
abort_no_yes(i) ==
  /\ some_fail[i]
  /\ ((pc[i] = "YES") \/ (pc[i] = "NO")) = TRUE
  /\ pc' = [pc EXCEPT ![i] = "ABORT"]
  /\ UNCHANGED <<sent_no, sent_yes, faulty_no, faulty_yes, received_yes, received_no, some_fail>>

\* Abort at a process that has received a vote NO.
abort_sent(i) ==
  /\ (pc[i] = "SENT") /\ (received_no[i] > 0)
  /\ pc' = [pc EXCEPT ![i] = "ABORT"]
  /\ UNCHANGED <<sent_no, sent_yes, faulty_no, faulty_yes, received_yes, received_no, some_fail>>

\* Commit at a process that has received YES from all.
commit(i) ==
  /\ (pc[i] = "SENT") /\ (received_no[i] = 0)
  /\ received_yes[i] >= processes
  /\ pc' = [pc EXCEPT ![i] = "COMMIT"]
  /\ UNCHANGED <<sent_no, sent_yes, faulty_no, faulty_yes, received_yes, received_no, some_fail>>

Next ==
  \/ \E i \in Process : crash(i)
  \/ \E i \in Process : receive_yes(i)
  \/ \E i \in Process : receive_no(i)
  \/ \E i \in Process : send_yes(i)
  \/ \E i \in Process : send_no(i)
  \/ \E i \in Process : abort_no_yes(i)
  \/ \E i \in Process : abort_sent(i)
  \/ \E i \in Process : commit(i)

Fairness ==
  /\ WF_vars((\E i \in Process : receive_yes(i)) \/ (\E i_1 \in Process : receive_no(i_1)) \/ (\E i_2 \in Process : send_yes(i_2)) \/ (\E i_3 \in Process : send_no(i_3)) \/ (\E i_4 \in Process : abort_no_yes(i_4)) \/ (\E i_5 \in Process : abort_sent(i_5)) \/ (\E i_6 \in Process : commit(i_6)))

Spec == Init /\ [][Next]_vars /\ Fairness

AbortValidityLtl == ((some_votes_no(pc)) => [](nobody_commits(pc)))

CommitValidityLtl == ((all_vote_yes(some_fail, pc)) => [](nobody_aborts(pc)))

TerminationLtl == ([](nobody_fails(some_fail, pc)) => <>(all_decide(pc)))

==============================================================================================================
