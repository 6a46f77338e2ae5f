#!/bin/sh -e
# Run one corosync daemon and one member. Arguments: the built member, the file for the daemon's messages, the number of
# the host from 1, the number of hosts. The caller gives a network namespace and a mount namespace.
member=$1 messages=$2 node=$3 nodes=$4
for at in /run /var/lib/corosync /dev/shm /etc/corosync; do mkdir -p $at; mount -t tmpfs tmpfs $at; done
{
  echo "totem {"; echo " version: 2"; echo " cluster_name: antiphon"; echo " token: 1000"; echo " transport: knet"; echo "}"
  echo "nodelist {"
  for k in $(seq 1 $nodes); do echo " node {"; echo "  ring0_addr: 10.77.0.$k"; echo "  nodeid: $k"; echo "  name: n$k"; echo " }"; done
  echo "}"; echo "logging {"; echo " to_stderr: yes"; echo " to_syslog: no"; echo "}"
} > /etc/corosync/corosync.conf
echo "version $(corosync -v | head -1)"
corosync -f > $messages 2>&1 &
exec $member
