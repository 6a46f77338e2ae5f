#!/bin/sh -e
# Run one corosync daemon and one member. Arguments: Python, the file of the member, the file for the daemon's messages,
# the number of the host from 1, the number of hosts, and maybe a configuration whose settings of `totem` and `quorum` are
# taken as they are. The caller gives a network namespace and a mount namespace.
python=$1 member=$2 messages=$3 node=$4 nodes=$5 shipped=$6
if [ -n "$shipped" ]; then
  settings=$(sed -n '/^totem {/,/^}/p; /^quorum {/,/^}/p' "$shipped")
else
  settings="totem {
 version: 2
 cluster_name: antiphon
 token: 1000
 transport: knet
}"
fi
for at in /run /var/lib/corosync /dev/shm /etc/corosync; do mkdir -p $at; mount -t tmpfs tmpfs $at; done
{
  echo "$settings"
  echo "nodelist {"
  for k in $(seq 1 $nodes); do echo " node {"; echo "  ring0_addr: 10.77.0.$k"; echo "  nodeid: $k"; echo "  name: n$k"; echo " }"; done
  echo "}"; echo "logging {"; echo " to_stderr: yes"; echo " to_syslog: no"; echo "}"
} > /etc/corosync/corosync.conf
echo "0 version $(corosync -v | head -1)"
corosync -f > $messages 2>&1 &
exec "$python" -I "$member"
