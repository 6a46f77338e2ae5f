#!/bin/sh -e
# Run one corosync daemon and one member: arguments are the built cpg_member, the daemon's log, the node from 1, nodes,
# how (knet, knet-crypt), and what cpg_member takes after its members. The caller gives namespaces of network and mounts.
member=$1 log=$2 node=$3 nodes=$4 how=$5; shift 5
for at in /run /var/lib/corosync /dev/shm /etc/corosync; do mkdir -p $at; mount -t tmpfs tmpfs $at; done
{
  echo "totem {"; echo " version: 2"; echo " cluster_name: benchmark"; echo " token: 5000"; echo " window_size: 300"; echo " max_messages: 100";
  echo " transport: knet"
  if [ $how = knet-crypt ]; then echo " crypto_cipher: aes256"; echo " crypto_hash: sha256"; echo " secauth: on"; echo " keyfile: /etc/corosync/authkey"; fi
  echo "}"; echo "nodelist {"
  for k in $(seq 1 $nodes); do echo " node {"; echo "  ring0_addr: 10.77.0.$k"; echo "  nodeid: $k"; echo "  name: n$k"; echo " }"; done
  echo "}"; echo "quorum {"; echo " provider: corosync_votequorum"; echo "}"; echo "logging {"; echo " to_stderr: yes"; echo " to_syslog: no"; echo "}"
} > /etc/corosync/corosync.conf
head -c 256 /dev/zero | tr '\0' 'k' > /etc/corosync/authkey; chmod 400 /etc/corosync/authkey
corosync -f > $log 2>&1 & daemon=$!
sleep 3
$member $daemon $nodes "$@"
kill $daemon; wait $daemon || true
