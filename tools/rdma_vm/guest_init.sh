#!/bin/busybox sh
# The guest's /init: loads the drivers, makes the devices, runs the program.
/bin/busybox mkdir -p /proc /sys /dev /tmp /run /out /root
/bin/busybox --install -s /bin 2>/dev/null
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs -o mode=1777 shm /dev/shm
chmod 1777 /tmp
ln -s /proc/self/fd /dev/fd
ln -s fd/0 /dev/stdin
ln -s fd/1 /dev/stdout
ln -s fd/2 /dev/stderr
for t in 1 2 3; do stty -F /dev/ttyS$t 115200 raw -echo; done
exec 3>/dev/ttyS3
# 0x501 is isa-debug-exit: qemu ends at once
quit() {
  exec 3>&-
  printf '\0' | dd of=/dev/port bs=1 seek=1281 conv=notrunc 2>/dev/null
  poweroff -f
  sleep 9
}
bad() {
  echo "BAD $*" >&3
  quit
}
up() {
  read -r a b </proc/uptime
  echo "$1 $a" >&3
}
up INIT
. /run/vm/conf
for m in $(cat /lib/modules/order) $EXTRA; do
  insmod "/lib/modules/$m.ko" || bad "insmod $m"
done
for i in all default; do
  echo 0 >/proc/sys/net/ipv6/conf/$i/accept_dad
  echo 0 >/proc/sys/net/ipv4/conf/$i/rp_filter
  echo 1 >/proc/sys/net/ipv4/conf/$i/accept_local
done

# Two veth pairs: v0-v1 and v2-v3. Local addresses are looked up last for what they
# send, so that it leaves by the veth; fixed neighbours spare the second that the first
# resolution takes.
end() { # end DEVICE ADDRESS PEER_ADDRESS NUMBER PEER_NUMBER
  cat <<X
addr add $2/24 dev $1
link set $1 up
rule add pref 1 iif $1 lookup local
rule add pref 2 oif $1 lookup 10$4
route add $3 dev $1 src $2 table 10$4
neigh add $3 lladdr 02:00:00:00:00:0$5 dev $1 nud permanent
neigh add fe80::ff:fe00:$5 lladdr 02:00:00:00:00:0$5 dev $1 nud permanent
X
}
pair() { # pair NUMBER OTHER ADDRESSES
  echo "link add v$1 mtu 9000 address 02:00:00:00:00:0$1 type veth" \
    "peer name v$2 mtu 9000 address 02:00:00:00:00:0$2"
  echo "link set v$1 up"
  echo "link set v$2 up"
  end "v$1" "$3.1" "$3.2" "$1" "$2"
  end "v$2" "$3.2" "$3.1" "$2" "$1"
}
{
  echo "link set lo up"
  pair 0 1 198.51.100
  pair 2 3 203.0.113
  echo "rule add pref 3 lookup local"
  echo "rule del pref 0"
} | /vm/ip -batch - || bad "network setup"
for i in 0 1 2 3; do
  /vm/rdma link add rxe$i type rxe netdev v$i || bad "rdma link add rxe$i"
done
for i in 0 1 2 3; do
  p=/sys/class/infiniband/rxe$i/ports/1
  k=0
  until read -r s <$p/state && [ "$s" = "4: ACTIVE" ] && grep -q ffff: $p/gids/1; do
    k=$((k + 1))
    [ $k -lt 200 ] || bad "rxe$i not active"
    usleep 50000
  done
done

mkdir -p "$WD"
cd "$WD" || bad "cd $WD"
up READY
sh /run/vm/cmd </dev/null >/dev/ttyS1 2>/dev/ttyS2 3>&- &
pid=$!
(
  exec 3>&- >/dev/null 2>&1
  sleep "$LIMIT"
  : >/run/vm/late
  kill -TERM $pid
  sleep 3
  kill -KILL $pid
) &
wait $pid
rc=$?
[ ! -e /run/vm/late ] || rc=124
up DONE
for t in 1 2; do : >/dev/ttyS$t; done # closing a tty waits until it has drained
[ -z "$OUT" ] || tar cf - -C /out . >/dev/vport0p1 || bad "no way out for /out"
echo "RC $rc" >&3
quit
