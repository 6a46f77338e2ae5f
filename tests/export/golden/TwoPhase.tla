---------------------------------------------- MODULE TwoPhase -----------------------------------------------
(* TwoPhase, made by antiphon from its specification, digest f1735e2c2c2ae0f4. *)

EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANT None

managers == 3

RM == 0 .. 2
Status == {"WORKING", "PREPARED", "COMMITTED", "ABORTED"}
Phase == {"INIT", "COMMITTED", "ABORTED"}
Prepared == [record : {"Prepared"}, rm : RM]
Commit == [record : {"Commit"}]
Abort == [record : {"Abort"}]

VARIABLES status, phase, prepared, messages

vars == <<status, phase, prepared, messages>>

TypeOK ==
  /\ (DOMAIN status = RM /\ \A k \in RM : (status[k] \in Status))
  /\ (phase \in Phase)
  /\ (\A e \in prepared : (e \in RM))
  /\ (\A e_1 \in messages : (e_1 \in (Prepared \cup Commit \cup Abort)))

\* Invariant: no resource manager has aborted while another has committed.
consistent == ~((\E a \in RM : \E b \in RM : ((status[a] = "ABORTED") /\ (status[b] = "COMMITTED"))))

Init ==
  /\ status = [k \in RM |-> "WORKING"]
  /\ phase = "INIT"
  /\ prepared = {}
  /\ messages = {}

\* Note at the transaction manager that a resource manager is prepared.
learn_prepared(message) ==
  /\ message \in messages
  /\ phase = "INIT"
  /\ prepared' = prepared \cup {message.rm}
  /\ UNCHANGED <<status, phase, messages>>

\* Decide to commit, when all resource managers are prepared.
commit ==
  /\ ((phase = "INIT") /\ (\A r \in RM : (r \in prepared))) = TRUE
  /\ phase' = "COMMITTED"
  /\ messages' = messages \cup {[record |-> "Commit"]}
  /\ UNCHANGED <<status, prepared>>

\* Decide to abort, as long as the transaction manager has not committed.
abort ==
  /\ phase = "INIT"
  /\ phase' = "ABORTED"
  /\ messages' = messages \cup {[record |-> "Abort"]}
  /\ UNCHANGED <<status, prepared>>

\* Prepare a resource manager that works, which says so to the transaction manager.
prepare(r) ==
  /\ status[r] = "WORKING"
  /\ status' = [status EXCEPT ![r] = "PREPARED"]
  /\ messages' = messages \cup {[record |-> "Prepared", rm |-> r]}
  /\ UNCHANGED <<phase, prepared>>

\* Abort a resource manager that works; it tells nobody.
choose_abort(r) ==
  /\ status[r] = "WORKING"
  /\ status' = [status EXCEPT ![r] = "ABORTED"]
  /\ UNCHANGED <<phase, prepared, messages>>

\* Commit resource manager r, once the transaction manager has ordered it.
obey_commit(r) ==
  /\ [record |-> "Commit"] \in messages
  /\ status' = [status EXCEPT ![r] = "COMMITTED"]
  /\ UNCHANGED <<phase, prepared, messages>>

\* Abort resource manager r, once the transaction manager has ordered it.
obey_abort(r) ==
  /\ [record |-> "Abort"] \in messages
  /\ status' = [status EXCEPT ![r] = "ABORTED"]
  /\ UNCHANGED <<phase, prepared, messages>>

Next ==
  \/ \E message \in {e \in messages : e.record \in {"Prepared"}} : learn_prepared(message)
  \/ commit
  \/ abort
  \/ \E r \in RM : prepare(r)
  \/ \E r \in RM : choose_abort(r)
  \/ \E r \in RM : obey_commit(r)
  \/ \E r \in RM : obey_abort(r)

Spec == Init /\ [][Next]_vars

==============================================================================================================
