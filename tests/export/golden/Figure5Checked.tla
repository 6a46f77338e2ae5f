------------------------------------------- MODULE Figure5Checked --------------------------------------------
(* Figure5Checked, made by antiphon from its specification, digest e8a8dffd5d976e87. *)

EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANT None

processes == 2
messages == 1
losses == 1
own_copy == "at once"
missed == "the announced"
start_token == TRUE
deliver_once == TRUE
recover_all == TRUE

Process == 0 .. 1
Message == 0 .. 0
Data == [record : {"Data"}, to : Process, message : Message]
Notice == [record : {"Notice"}, to : Process, message : Message]
Request == [record : {"Request"}, to : Process, sender : Process, message : Message]
Stage == {"checking", "waiting", "passing"}

VARIABLES crashed, origin, delivered, network, lost, received, delivered_queue, token_to, holder, stage, wanted, listed, broadcasts

vars == <<crashed, origin, delivered, network, lost, received, delivered_queue, token_to, holder, stage, wanted, listed, broadcasts>>

\* Return True if p has not crashed.
correct(p, crashed_) == ~(crashed_[p])

\* Return the next holder of the token, s + 1 mod n (line 18).
successor(p) == ((p + 1) % processes)

\* Return the stage of line 8, so that the holder tests again for a missing message.
stage_after_one == "checking"

\* Return True for the announced message, since p does not have the token's list (lines 28-29, reading
\* `missed`).
is_missed(p, m, packet) == (m = packet.message)

TypeOK ==
  /\ (DOMAIN crashed = Process /\ \A k \in Process : (crashed[k] \in BOOLEAN))
  /\ (DOMAIN origin = Message /\ \A k_1 \in Message : (origin[k_1] = None \/ (origin[k_1] \in Process)))
  /\ (DOMAIN delivered = Process /\ \A k_2 \in Process : (DOMAIN delivered[k_2] = Message /\ \A k_3 \in Message : (delivered[k_2][k_3] \in BOOLEAN)))
  /\ (\A e_1 \in network : (e_1 \in (Data \cup Notice \cup Request)))
  /\ (lost \in (0 .. 1))
  /\ (DOMAIN received = Process /\ \A k_4 \in Process : (\A e_2 \in received[k_4] : (e_2 \in Message)))
  /\ (DOMAIN delivered_queue = Process /\ \A k_5 \in Process : (\A e_3 \in delivered_queue[k_5] : (e_3 \in Message)))
  /\ (token_to = None \/ (token_to \in Process))
  /\ (holder = None \/ (holder \in Process))
  /\ (stage \in Stage)
  /\ (wanted = None \/ (wanted \in Message))
  /\ (\A e_4 \in listed : (e_4 \in Message))
  /\ (broadcasts \in (0 .. 1))

\* Invariant: no process holds the token at line 15 with a listed message that it has not
\* delivered.
ListedWherePassed == (\A p \in Process : ((holder # p) \/ (stage # "passing") \/ (\A m \in listed : (m \in delivered_queue[p]))))

Init ==
  \/
      /\ crashed = [k \in Process |-> FALSE]
      /\ origin = [k_1 \in Message |-> None]
      /\ delivered = [k_2 \in Process |-> [k_3 \in Message |-> FALSE]]
      /\ network = {}
      /\ lost = 0
      /\ received = [k_4 \in Process |-> {}]
      /\ delivered_queue = [k_5 \in Process |-> {}]
      /\ token_to = 0
      /\ holder = None
      /\ stage = "checking"
      /\ wanted = None
      /\ listed = {}
      /\ broadcasts = 0

\* Lose a packet in flight, if fewer than `losses` were lost.
lose(packet) ==
  /\ packet \in network
  /\ lost < losses
  /\ network' = network \ {packet}
  /\ lost' = lost + 1
  /\ UNCHANGED <<crashed, origin, delivered, received, delivered_queue, token_to, holder, stage, wanted, listed, broadcasts>>

\* Broadcast a message (lines 1-3).
broadcast(p, m) ==
  /\ m = broadcasts
  /\ LET event == [record |-> "Broadcast", process |-> p, message |-> m]
         first == origin[event.message]
         origin_2 == IF (first # None) THEN origin ELSE [origin EXCEPT ![event.message] = event.process]
         event_1 == [record |-> "Deliver", process |-> p, message |-> m]
         m_1 == event_1.message
     IN
       /\ Assert((((first # None)) => FALSE), "BroadcastOnce")
       /\ Assert(((~((m \in delivered_queue[p])) /\ (m_1 = None)) => FALSE), "UniformIntegrity")
       /\ Assert(((~((m \in delivered_queue[p])) /\ (m_1 = None)) => FALSE), "Integrity")
       /\ Assert(((~((m \in delivered_queue[p])) /\ ~(m_1 = None)) => ~(delivered[event_1.process][m_1])), "UniformIntegrity")
       /\ Assert(((~((m \in delivered_queue[p])) /\ ~(m_1 = None)) => ~(delivered[event_1.process][m_1])), "Integrity")
       /\ Assert(((~((m \in delivered_queue[p])) /\ ~(m_1 = None)) => (origin_2[m_1] # None)), "UniformIntegrity")
       /\ Assert(((~((m \in delivered_queue[p])) /\ ~(m_1 = None)) => (origin_2[m_1] # None)), "Integrity")
       /\ broadcasts' = broadcasts + 1
       /\ origin' = origin_2
       /\ network' = network \cup {[record |-> "Data", to |-> q, message |-> m] : q \in {q \in Process : (q # p)}}
       /\ received' = [received EXCEPT ![p] = (received[p] \cup {m})]
       /\ delivered_queue' = IF ~((m \in delivered_queue[p])) THEN [delivered_queue EXCEPT ![p] = (delivered_queue[p] \cup {m})] ELSE delivered_queue
       /\ delivered' = IF ~((m \in delivered_queue[p])) THEN (IF (m_1 = None) THEN delivered ELSE [delivered EXCEPT ![event_1.process][m_1] = TRUE]) ELSE delivered
       /\ UNCHANGED <<crashed, lost, token_to, holder, stage, wanted, listed>>

\* Receive the token (line 7).
receive_token(p) ==
  /\ token_to = p
  /\ token_to' = None
  /\ holder' = p
  /\ stage' = "checking"
  /\ UNCHANGED <<crashed, origin, delivered, network, lost, received, delivered_queue, wanted, listed, broadcasts>>

\* Check whether some listed m' was not delivered (lines 8-9); `missing` is such a message, or
\* None.
check(p, missing) ==
  /\ (holder = p) /\ (stage = "checking")
  /\ (((missing = None)) => (\A m \in listed : (m \in delivered_queue[p]))) = TRUE
  /\ ((~(missing = None)) => ((missing \in listed) /\ ~((missing \in delivered_queue[p])))) = TRUE
  /\ stage' = IF (missing = None) THEN "passing" ELSE "waiting"
  /\ wanted' = IF (missing = None) THEN wanted ELSE missing
  /\ UNCHANGED <<crashed, origin, delivered, network, lost, received, delivered_queue, token_to, holder, listed, broadcasts>>

\* Ask all for m' until p has it (lines 10-12).
request(p) ==
  /\ LET m == wanted
     IN
       /\ (holder = p) /\ (stage = "waiting")
       /\ (m # None) /\ ~((m \in received[p]))
       /\ network' = IF (m # None) THEN (network \cup {[record |-> "Request", to |-> q, sender |-> p, message |-> m] : q \in {q \in Process : (q # p)}}) ELSE network
       /\ UNCHANGED <<crashed, origin, delivered, lost, received, delivered_queue, token_to, holder, stage, wanted, listed, broadcasts>>

\* Deliver, at p, the message m' that p waited for (lines 12-14). It has arrived, and line 25 has
\* delivered it already.
deliver_missing(p) ==
  /\ LET m == wanted
     IN
       /\ (holder = p) /\ (stage = "waiting")
       /\ (m # None) /\ (m \in received[p])
       /\ LET event == [record |-> "Deliver", process |-> p, message |-> m]
              m_1 == event.message
          IN
            /\ Assert((((m # None) /\ ~((m \in delivered_queue[p])) /\ (m_1 = None)) => FALSE), "UniformIntegrity")
            /\ Assert((((m # None) /\ ~((m \in delivered_queue[p])) /\ (m_1 = None)) => FALSE), "Integrity")
            /\ Assert((((m # None) /\ ~((m \in delivered_queue[p])) /\ ~(m_1 = None)) => ~(delivered[event.process][m_1])), "UniformIntegrity")
            /\ Assert((((m # None) /\ ~((m \in delivered_queue[p])) /\ ~(m_1 = None)) => ~(delivered[event.process][m_1])), "Integrity")
            /\ Assert((((m # None) /\ ~((m \in delivered_queue[p])) /\ ~(m_1 = None)) => (origin[m_1] # None)), "UniformIntegrity")
            /\ Assert((((m # None) /\ ~((m \in delivered_queue[p])) /\ ~(m_1 = None)) => (origin[m_1] # None)), "Integrity")
            /\ wanted' = None
            /\ stage' = stage_after_one
            /\ delivered_queue' = IF (m # None) THEN (IF ~((m \in delivered_queue[p])) THEN [delivered_queue EXCEPT ![p] = (delivered_queue[p] \cup {m})] ELSE delivered_queue) ELSE delivered_queue
            /\ delivered' = IF (m # None) THEN (IF ~((m \in delivered_queue[p])) THEN (IF (m_1 = None) THEN delivered ELSE [delivered EXCEPT ![event.process][m_1] = TRUE]) ELSE delivered) ELSE delivered
            /\ UNCHANGED <<crashed, origin, network, lost, received, token_to, holder, listed, broadcasts>>

\* List and announce new messages, and pass the token (lines 15-18).
pass_token(p) ==
  /\ (holder = p) /\ (stage = "passing")
  /\ network' = network \cup UNION {{[record |-> "Notice", to |-> q, message |-> m_2] : q \in {q \in Process : (q # p)}} : m_2 \in {m : m \in {m \in delivered_queue[p] : ~((m \in listed))}}}
  /\ listed' = listed \cup delivered_queue[p]
  /\ holder' = None
  /\ token_to' = successor(p)
  /\ UNCHANGED <<crashed, origin, delivered, lost, received, delivered_queue, stage, wanted, broadcasts>>

\* Receive a message (line 23).
receive_data(packet) ==
  /\ packet \in network
  /\ LET c == ~((packet.message \in delivered_queue[packet.to]))
         event == [record |-> "Deliver", process |-> packet.to, message |-> packet.message]
         m == event.message
     IN
       /\ Assert(((c /\ (m = None)) => FALSE), "UniformIntegrity")
       /\ Assert(((c /\ (m = None)) => FALSE), "Integrity")
       /\ Assert(((c /\ ~(m = None)) => ~(delivered[event.process][m])), "UniformIntegrity")
       /\ Assert(((c /\ ~(m = None)) => ~(delivered[event.process][m])), "Integrity")
       /\ Assert(((c /\ ~(m = None)) => (origin[m] # None)), "UniformIntegrity")
       /\ Assert(((c /\ ~(m = None)) => (origin[m] # None)), "Integrity")
       /\ network' = network \ {packet}
       /\ received' = [received EXCEPT ![packet.to] = (received[packet.to] \cup {packet.message})]
       /\ delivered_queue' = IF c THEN [delivered_queue EXCEPT ![packet.to] = (delivered_queue[packet.to] \cup {packet.message})] ELSE delivered_queue
       /\ delivered' = IF c THEN (IF (m = None) THEN delivered ELSE [delivered EXCEPT ![event.process][m] = TRUE]) ELSE delivered
       /\ UNCHANGED <<crashed, origin, lost, token_to, holder, stage, wanted, listed, broadcasts>>

\* Receive a notice that a message was broadcast, and ask once for a missed message (lines 27-29).
receive_notice(packet) ==
  /\ packet \in network
  /\ LET p == packet.to
         network_1 == network \ {packet}
     IN
       /\ network' = IF (is_missed(p, 0, packet) /\ ~((0 \in received[p]))) THEN (network_1 \cup {[record |-> "Request", to |-> q, sender |-> p, message |-> 0] : q \in {q \in Process : (q # p)}}) ELSE network_1
       /\ UNCHANGED <<crashed, origin, delivered, lost, received, delivered_queue, token_to, holder, stage, wanted, listed, broadcasts>>

\* Receive a request; a process that has the message sends it (lines 30-32).
receive_request(packet) ==
  /\ packet \in network
  /\ LET network_1 == network \ {packet}
     IN
       /\ network' = IF (packet.message \in received[packet.to]) THEN (network_1 \cup {[record |-> "Data", to |-> packet.sender, message |-> packet.message]}) ELSE network_1
       /\ UNCHANGED <<crashed, origin, delivered, lost, received, delivered_queue, token_to, holder, stage, wanted, listed, broadcasts>>

Next ==
  \/ \E packet \in network : lose(packet)
  \/ \E p \in Process : \E m \in Message : broadcast(p, m)
  \/ \E p \in Process : receive_token(p)
  \/ \E p \in Process : \E missing \in ({None} \cup Message) : check(p, missing)
  \/ \E p \in Process : request(p)
  \/ \E p \in Process : deliver_missing(p)
  \/ \E p \in Process : pass_token(p)
  \/ \E packet \in {e \in network : e.record \in {"Data"}} : receive_data(packet)
  \/ \E packet \in {e \in network : e.record \in {"Notice"}} : receive_notice(packet)
  \/ \E packet \in {e \in network : e.record \in {"Request"}} : receive_request(packet)

Spec == Init /\ [][Next]_vars

==============================================================================================================
