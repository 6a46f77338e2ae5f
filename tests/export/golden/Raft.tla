------------------------------------------------ MODULE Raft -------------------------------------------------
(* Raft, made by antiphon from its specification, digest a036a1992ef8a626. *)

EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANT None

servers == 3
terms == 1
entries == 1
vote_for_anybody == FALSE
vote_again == FALSE
count_all_copies == FALSE

Server == 0 .. 2
Role == {"FOLLOWER", "CANDIDATE", "LEADER"}
RequestVote == [record : {"RequestVote"}, term : (0 .. 1), candidate : Server, length : (0 .. 1), last_term : (0 .. 1)]
Vote == [record : {"Vote"}, term : (0 .. 1), voter : Server, candidate : Server]
AppendEntries == [record : {"AppendEntries"}, term : (0 .. 1), previous : (0 .. 1), previous_term : (0 .. 1), entries : (UNION {[1 .. n -> (1 .. 1)] : n \in 0 .. 1}), commit : (0 .. 1)]
Accepted == [record : {"Accepted"}, term : (0 .. 1), server : Server, length : (0 .. 1)]

VARIABLES term, voted_for, role, log, commit, messages

vars == <<term, voted_for, role, log, commit, messages>>

Slice(s, l, u) == SubSeq(s, IF l < 0 THEN 1 ELSE l + 1, IF u < Len(s) THEN u ELSE Len(s))

\* Return True if s leads in its term, or believes so.
is_leader(s, role_) == (role_[s] = "LEADER")

\* Return the term of the last entry in the log of s; 0 if the log is empty.
last_term(s, log_) == (IF (Len(log_[s]) > 0) THEN log_[s][Len(log_[s])] ELSE 0)

\* Return True if s has not voted in its term.
has_its_vote(s, voted_for_) == (voted_for_[s] = None)

\* Return True if the candidate's log is at least as up to date as that of s (section 5.4.1).
is_up_to_date(s, request, log_) == ((request.last_term > last_term(s, log_)) \/ ((request.last_term = last_term(s, log_)) /\ (request.length >= Len(log_[s]))))

\* Return True if s has said that its log is that of the leader up to this length, or beyond.
has_accepted(s, term_1, length, messages_) == (\E n \in {n \in (0 .. 1) : (n >= length)} : ([record |-> "Accepted", term |-> term_1, server |-> s, length |-> n] \in messages_))

\* Return True if leader s may commit its log up to this length by counting copies: the last entry is
\* of its own term (section 5.4.2).
may_commit(s, length, term_, log_) == (IF (length > 0) THEN (log_[s][length] = term_[s]) ELSE FALSE)

TypeOK ==
  /\ (DOMAIN term = Server /\ \A k \in Server : (term[k] \in (0 .. 1)))
  /\ (DOMAIN voted_for = Server /\ \A k_1 \in Server : (voted_for[k_1] = None \/ (voted_for[k_1] \in Server)))
  /\ (DOMAIN role = Server /\ \A k_2 \in Server : (role[k_2] \in Role))
  /\ (DOMAIN log = Server /\ \A k_3 \in Server : (Len(log[k_3]) <= 1 /\ \A i \in 1 .. Len(log[k_3]) : (log[k_3][i] \in (1 .. 1))))
  /\ (DOMAIN commit = Server /\ \A k_4 \in Server : (commit[k_4] \in (0 .. 1)))
  /\ (\A e \in messages : (e \in (RequestVote \cup Vote \cup AppendEntries \cup Accepted)))

\* Invariant: a term has at most one leader.
ElectionSafety == ~((\E a \in Server : \E b \in Server : ((a # b) /\ is_leader(a, role) /\ is_leader(b, role) /\ (term[a] = term[b]))))

\* Invariant: logs that have an entry in common are equal up to that entry.
LogMatching == (\A a \in Server : \A b \in Server : \A i \in 0 .. ((IF (Len(log[a]) > Len(log[b])) THEN Len(log[b]) ELSE Len(log[a])) - 1) : ((log[a][i + 1] # log[b][i + 1]) \/ (Slice(log[a], 0, i) = Slice(log[b], 0, i))))

\* Invariant: a leader has every entry that was committed before its term.
LeaderCompleteness == (\A a \in Server : \A b \in Server : (~(is_leader(a, role)) \/ (term[b] > term[a]) \/ (Slice(log[a], 0, commit[b]) = Slice(log[b], 0, commit[b]))))

\* Invariant: no two servers have committed different entries at one place.
StateMachineSafety == (\A a \in Server : \A b \in Server : ((commit[a] > commit[b]) \/ (Slice(log[a], 0, commit[a]) = Slice(log[b], 0, commit[a]))))

Init ==
  /\ term = [k \in Server |-> 0]
  /\ voted_for = [k_1 \in Server |-> None]
  /\ role = [k_2 \in Server |-> "FOLLOWER"]
  /\ log = [k_3 \in Server |-> <<>>]
  /\ commit = [k_4 \in Server |-> 0]
  /\ messages = {}

\* Let s, which hears nothing of a leader, stand for election in a new term.
time_out(s) ==
  /\ ~(is_leader(s, role)) /\ (term[s] < terms)
  /\ LET term_1 == term[s] + 1
     IN
       /\ messages' = messages \cup {[record |-> "RequestVote", term |-> term_1, candidate |-> s, length |-> Len(log[s]), last_term |-> last_term(s, log)], [record |-> "Vote", term |-> term_1, voter |-> s, candidate |-> s]}
       /\ term' = [term EXCEPT ![s] = term_1]
       /\ voted_for' = [voted_for EXCEPT ![s] = s]
       /\ role' = [role EXCEPT ![s] = "CANDIDATE"]
       /\ UNCHANGED <<log, commit>>

\* Let s learn of a later term, and follow in it.
update_term(s, message) ==
  /\ message \in messages
  /\ message.term > term[s]
  /\ term' = [term EXCEPT ![s] = message.term]
  /\ voted_for' = [voted_for EXCEPT ![s] = None]
  /\ role' = [role EXCEPT ![s] = "FOLLOWER"]
  /\ UNCHANGED <<log, commit, messages>>

\* Vote at s for a candidate, for one in each term.
vote(s, request) ==
  /\ request \in messages
  /\ ((request.term = term[s]) /\ has_its_vote(s, voted_for)) = TRUE
  /\ is_up_to_date(s, request, log) = TRUE
  /\ voted_for' = [voted_for EXCEPT ![s] = request.candidate]
  /\ messages' = messages \cup {[record |-> "Vote", term |-> request.term, voter |-> s, candidate |-> request.candidate]}
  /\ UNCHANGED <<term, role, log, commit>>

\* Make s the leader, for which a majority has voted.
become_leader(s) ==
  /\ role[s] = "CANDIDATE"
  /\ (2 * Cardinality({q \in Server : ([record |-> "Vote", term |-> term[s], voter |-> q, candidate |-> s] \in messages)})) > servers
  /\ role' = [role EXCEPT ![s] = "LEADER"]
  /\ UNCHANGED <<term, voted_for, log, commit, messages>>

\* Append an entry to the log of a leader.
client_request(s) ==
  /\ (is_leader(s, role) /\ (Len(log[s]) < entries)) = TRUE
  /\ log' = [log EXCEPT ![s] = Append(log[s], term[s])]
  /\ UNCHANGED <<term, voted_for, role, commit, messages>>

\* Send the leader's entries after the first `previous` ones, to all servers.
append_entries(s, previous) ==
  /\ LET mine == log[s]
     IN
       /\ (is_leader(s, role) /\ (previous <= Len(mine))) = TRUE
       /\ messages' = messages \cup {[record |-> "AppendEntries", term |-> term[s], previous |-> previous, previous_term |-> (IF (previous > 0) THEN mine[previous] ELSE 0), entries |-> Slice(mine, previous, Len(mine)), commit |-> commit[s]]}
       /\ UNCHANGED <<term, voted_for, role, log, commit>>

\* Append the leader's entries at s, which has the entry that they follow; they replace other entries
\* that s may have there.
accept(s, message) ==
  /\ message \in messages
  /\ LET mine == log[s]
         previous == message.previous
         new == message.entries
     IN
       /\ (message.term = term[s]) /\ ~(is_leader(s, role))
       /\ ((previous = 0) \/ ((previous <= Len(mine)) /\ (mine[previous] = message.previous_term))) = TRUE
       /\ LET length == previous + Len(new)
          IN
            /\ log' = IF (Slice(mine, previous, length) # new) THEN [log EXCEPT ![s] = (Slice(mine, 0, previous) \o new)] ELSE log
            /\ role' = [role EXCEPT ![s] = "FOLLOWER"]
            /\ commit' = [commit EXCEPT ![s] = (IF (commit[s] < (IF (message.commit > length) THEN length ELSE message.commit)) THEN (IF (message.commit > length) THEN length ELSE message.commit) ELSE commit[s])]
            /\ messages' = messages \cup {[record |-> "Accepted", term |-> message.term, server |-> s, length |-> length]}
            /\ UNCHANGED <<term, voted_for>>

\* Commit at leader s its log up to this length, which a majority has stored.
advance_commit(s, length) ==
  /\ (is_leader(s, role) /\ ((commit[s] < length) /\ (length <= Len(log[s])))) = TRUE
  /\ may_commit(s, length, term, log) = TRUE
  /\ (2 * Cardinality({q \in Server : ((q = s) \/ has_accepted(q, term[s], length, messages))})) > servers
  /\ commit' = [commit EXCEPT ![s] = length]
  /\ UNCHANGED <<term, voted_for, role, log, messages>>

Next ==
  \/ \E s \in Server : time_out(s)
  \/ \E s \in Server : \E message \in {e \in messages : e.record \in {"RequestVote", "AppendEntries"}} : update_term(s, message)
  \/ \E s \in Server : \E request \in {e \in messages : e.record \in {"RequestVote"}} : vote(s, request)
  \/ \E s \in Server : become_leader(s)
  \/ \E s \in Server : client_request(s)
  \/ \E s \in Server : \E previous \in (0 .. 1) : append_entries(s, previous)
  \/ \E s \in Server : \E message \in {e \in messages : e.record \in {"AppendEntries"}} : accept(s, message)
  \/ \E s \in Server : \E length \in (0 .. 1) : advance_commit(s, length)

Spec == Init /\ [][Next]_vars

==============================================================================================================
