#!/bin/bash
# Runs one program inside a small emulated Linux machine that has four Soft-RoCE
# (rdma_rxe) devices, and returns the program's exit code.
#
#   run_in_vm.sh [OPTIONS] PROGRAM [ARGS...]
#   run_in_vm.sh --setup            only fetches and caches the kernel
#
# OPTIONS
#   -t SECS    time limit for PROGRAM inside the machine (default 120)
#   -m MEM     guest memory (default 1G; only touched pages cost host memory)
#   -c N       virtual CPUs (default 2)
#   -w PATH    take another program (with its libraries), file or folder along,
#              under the same absolute path; repeatable
#   -e N=V     set an environment variable for PROGRAM; repeatable
#   -o DIR     copy what PROGRAM wrote under /out back into DIR
#   -n         also load sch_netem and take tc along ("tc qdisc ... netem loss 1%")
#   -v         show the guest's kernel console and its timings on stderr at the end
#
# PROGRAM is an ELF file of this machine with its libraries found by ldd, or a script
# (its interpreter is taken along; /bin/sh is dash, and busybox has the usual small
# tools). Python comes with its own library, but what that loads of others (ctypes, ssl). It runs as root, in the same working directory path, with an empty stdin;
# stdout and stderr stay apart. What it writes is lost, but /out. What the guest looks
# like is in README.md.
#
# EXIT CODE    PROGRAM's own; 128+N if signal N ended it; 124 time limit;
#              125 the machine could not be set up or died; 127 PROGRAM not found;
#              77 what it is made of is not installed.
# ENVIRONMENT  PERIGEE_VM_CACHE  where the kernel is kept, about 45 MB
#                                (default ${XDG_CACHE_HOME:-~/.cache}/perigee/rdma_vm)
#              PERIGEE_VM_ACCEL  qemu's -accel (default: emulation; see README.md)
set -euo pipefail
export LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin
HERE=$(cd "$(dirname "$(realpath "$0")")" && pwd)

CACHE=${PERIGEE_VM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/perigee/rdma_vm}
ACCEL=${PERIGEE_VM_ACCEL:-tcg,thread=multi}
# -erms: emulation runs "rep movsb" byte by byte, which halves RDMA throughput.
# -la57: no use for five-level page tables. tsc=reliable (below): else the guest's
# clock is the emulated HPET, 1.2 us a reading instead of 0.1.
CPU=max,-la57,-erms
BOOT_LIMIT=60                                       # s; a boot takes 2 to 4
MODULES="crc32_generic rdma_rxe rdma_ucm veth"      # loaded always, in this order
MODULES_EXTRA="sch_netem virtio_pci virtio_console" # at hand for -n and -o
APPEND="console=ttyS0 quiet panic=-1 oops=panic mitigations=off lsm= audit=0
 nowatchdog tsc=reliable cryptomgr.notests rcupdate.rcu_expedited=1
 rcupdate.rcu_cpu_stall_suppress=1 random.trust_cpu=on
 initcall_blacklist=load_system_certificate_list,init_kprobe_trace"
VERBS=/usr/lib/x86_64-linux-gnu/libibverbs
# Debian package:a file or command of it. tools/setup.sh installs them.
PACKAGES="qemu-system-x86:qemu-system-x86_64 busybox-static:/bin/busybox kmod:depmod
 cpio:cpio iproute2:rdma iproute2:tc xz-utils:xz ibverbs-providers:$VERBS
 binutils:strip"

die() {
  echo "run_in_vm: $*" >&2
  exit 125
}

# -- what travels: files and their libraries -----------------------------------

put() { # put ROOT FILE
  mkdir -p "$1$(dirname "$2")"
  cp -L "$2" "$1$2"
}
take() { # take ROOT PATH
  local root=$1 p=$2 l i
  if [ -d "$p" ]; then
    mkdir -p "$root$p"
    cp -a "$p/." "$root$p/"
    return
  fi
  put "$root" "$p"
  case $(head -c4 "$p" | tr -d '\0') in
    $'\x7fELF')
      for l in $(ldd "$p" 2>/dev/null | grep -oE '(^|[[:space:]])/[^ ]+' || true); do
        [ -e "$root$l" ] || put "$root" "$l"
      done
      [[ ${p##*/} != python3* ]] || take_python "$root" "$p" ;;
    '#!'*)
      i=$(sed -n '1s/^#! *//p' "$p")
      for i in ${i%% *} $([[ ${i%% *} != */env ]] || command -v "${i##* }"); do
        [ -e "$root$i" ] || take "$root" "$i"
      done ;;
  esac
}
take_python() { # take_python ROOT PROGRAM: its library, but what nobody needs here
  local lib
  lib=$("$2" -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
  mkdir -p "$1$lib"
  tar -C "$lib" --exclude='./config-*' --exclude=./site-packages --exclude=./test \
    --exclude=./idlelib --exclude=./ensurepip --exclude=./lib2to3 --exclude=./tkinter \
    -cf - . | tar -C "$1$lib" -xf -
}
pack() {
  (cd "$1" && find . -mindepth 1 | cpio -o -H newc --quiet -R 0:0)
}
quote() {
  local a r=
  for a in "$@"; do r="$r '${a//\'/\'\\\'\'}'"; done
  printf '%s' "${r# }"
}

# -- done once, and cached -------------------------------------------------------

check_packages() {
  local p f miss=
  for p in $PACKAGES; do
    f=${p#*:}
    [ -e "$f" ] || command -v "$f" >/dev/null || miss="$miss ${p%%:*}"
  done
  [ -n "$miss" ] || return 0
  echo "run_in_vm: not installed:$miss (tools/setup.sh does it)" >&2
  exit 77
}
fetch_kernel() { # vmlinux and lib/modules/VERSION, the few modules of interest only
  local d=$1 k v
  [ -n "$(apt-cache show linux-image-amd64 2>/dev/null)" ] ||
    die "apt knows no linux-image-amd64 (apt-get update?)"
  k=$(apt-cache depends linux-image-amd64 | awk '/Depends:/{print $2; exit}')
  (cd "$d" && apt-get download -qq "$k" 2>/dev/null && mv "$k"_*.deb k.deb) ||
    die "cannot download $k"
  dpkg-deb --fsys-tarfile "$d/k.deb" | tar -x -C "$d" --wildcards \
    './boot/vmlinuz-*' './lib/modules/*/modules.*' '*/infiniband/core/*' \
    '*/infiniband/sw/*' '*/udp_tunnel.ko*' '*/ip6_udp_tunnel.ko*' '*/configfs.ko*' \
    '*/crc32_generic.ko*' '*/net/veth.ko*' '*/sch_netem.ko*' '*/drivers/virtio/*' \
    '*/virtio_console.ko*'
  v=$(basename "$d"/lib/modules/*)
  depmod -b "$d" "$v"
  # A bzImage unpacks itself, 4 s in emulation; the bare ELF kernel inside boots by PVH.
  # Header: setup sectors at 0x1f1, payload's offset and length at 0x248.
  v=$(echo "$d"/boot/vmlinuz-*)
  set -- $(od -An -tu1 -j 0x1f1 -N 1 "$v") $(od -An -tu4 -j 0x248 -N 8 "$v")
  dd if="$v" bs=64K iflag=skip_bytes,count_bytes skip=$((($1 + 1) * 512 + $2)) \
    count="$3" status=none | xz -dc --single-stream >"$d/vmlinux" ||
    die "cannot unpack $k"
  rm -rf "${CACHE:?}/lib"
  mv "$d/lib" "$CACHE/lib"
  mv "$d/vmlinux" "$CACHE/vmlinux"
}
deps() { # the files of the modules named, with what they need, in load order
  local m
  for m in "$@"; do
    modprobe -d "$CACHE" -S "$(basename "$CACHE"/lib/modules/*)" --show-depends "$m" |
      awk '$1 == "insmod" {print $2}'
  done | awk '!seen[$0]++'
}
names() {
  deps "$@" | sed 's,.*/,,; s,\.ko$,,'
}
build_base() {
  local d=$1 r=$1/root f
  mkdir -p "$r/lib/modules" "$r/bin" "$r/vm" "$r/etc" "$d/order"
  for f in $(deps $MODULES $MODULES_EXTRA); do # smaller, and no signature to check
    strip --strip-debug -o "$r/lib/modules/${f##*/}" "$f" 2>/dev/null ||
      cp "$f" "$r/lib/modules/"
  done
  names $MODULES >"$r/lib/modules/order"
  names sch_netem >"$d/order/netem"
  names virtio_pci virtio_console >"$d/order/out"
  cp /bin/busybox "$r/bin/"
  take "$r" /bin/sh
  for f in ip rdma; do
    take "$r" "$(readlink -f "$(command -v $f)")"
    ln -s "$(readlink -f "$(command -v $f)")" "$r/vm/$f"
  done
  for f in "$VERBS"/librxe-*.so; do take "$r" "$f"; done
  put "$r" /etc/libibverbs.d/rxe.driver
  put "$r" /lib/x86_64-linux-gnu/libgcc_s.so.1 # loaded late, for pthread_exit
  echo '127.0.0.1 localhost' >"$r/etc/hosts"
  echo 'root:x:0:0:root:/root:/bin/sh' >"$r/etc/passwd"
  echo 'root:x:0:' >"$r/etc/group"
  cp "$HERE/guest_init.sh" "$r/init"
  chmod 755 "$r/init"
  pack "$r" >"$d/base.cpio"
  rm -rf "$CACHE"/base.* "$CACHE/order"
  mv "$d/order" "$CACHE/order"
  mv "$d/base.cpio" "$CACHE/base.$STAMP"
}

# -- options ---------------------------------------------------------------------

LIMIT=120 MEM=1G CPUS=2 VERBOSE= OUT= NETEM= ONLY= ENVS=() WITH=()
while [ $# -gt 0 ]; do
  case $1 in
    -[tmcweo]) [ $# -gt 1 ] || die "$1 needs a value" ;;&
    -t) LIMIT=$2; shift 2 ;;
    -m) MEM=$2; shift 2 ;;
    -c) CPUS=$2; shift 2 ;;
    -w) WITH+=("$2"); shift 2 ;;
    -e) ENVS+=("$2"); shift 2 ;;
    -o) OUT=$2; shift 2 ;;
    -n) NETEM=1; WITH+=(tc); shift ;;
    -v) VERBOSE=1; shift ;;
    --setup) ONLY=1; shift ;;
    --) shift; break ;;
    -*) die "unknown option $1" ;;
    *) break ;;
  esac
done
[ -n "$ONLY" ] || [ $# -gt 0 ] || die "usage: run_in_vm.sh [OPTIONS] PROGRAM [ARGS...]"
[[ $LIMIT =~ ^[1-9][0-9]*$ ]] || die "-t: whole seconds"
[ "$(uname -m)" = x86_64 ] || die "x86_64 only"
check_packages

# -- kernel, base, stage -----------------------------------------------------------

mkdir -p "$CACHE"
T=$(mktemp -d "${TMPDIR:-/tmp}/perigee-vm.XXXXXX")
QPID=
trap '[ -z "$QPID" ] || kill -KILL "$QPID" 2>/dev/null; rm -rf "$T"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

exec 9>"$CACHE/lock"
flock 9
STAMP=$({
  cat "$0" "$HERE/guest_init.sh"
  stat -Lc '%n %s %Y' /lib/x86_64-linux-gnu/libc.so.6 /bin/busybox "$VERBS"/librxe-*
} | sha256sum | cut -c1-16)
if [ ! -s "$CACHE/vmlinux" ]; then
  mkdir "$T/k"
  fetch_kernel "$T/k"
  rm -rf "$CACHE"/base.*
fi
if [ ! -s "$CACHE/base.$STAMP" ]; then
  mkdir "$T/b"
  build_base "$T/b"
fi
cp "$CACHE/base.$STAMP" "$T/initrd"
exec 9>&-
if [ -n "$ONLY" ]; then
  echo "run_in_vm: ready, $CACHE" >&2
  exit 0
fi

PROG=$(command -v -- "$1") || { echo "run_in_vm: $1: not found" >&2; exit 127; }
PROG=$(realpath -s -- "$PROG")
shift
S=$T/stage
mkdir -p "$S/run/vm" "$S/etc"
[ ! -e /etc/ld.so.cache ] || cp /etc/ld.so.cache "$S/etc/"
take "$S" "$PROG"
for w in "${WITH[@]}"; do
  [ -e "$w" ] || w=$(command -v -- "$w") || die "-w: a path or command not found"
  take "$S" "$(realpath -s -- "$w")"
done
EXTRA=$(
  [ -z "$NETEM" ] || cat "$CACHE/order/netem"
  [ -z "$OUT" ] || cat "$CACHE/order/out"
)
printf '%s\n' "EXTRA='$EXTRA'" "LIMIT=$LIMIT" "OUT=${OUT:+1}" "WD=$(quote "$PWD")" \
  >"$S/run/vm/conf"
{
  for e in "${ENVS[@]}"; do echo "export ${e%%=*}=$(quote "${e#*=}")"; done
  echo "exec $(quote "$PROG" "$@")"
} >"$S/run/vm/cmd"
pack "$S" >>"$T/initrd"

# -- the machine -----------------------------------------------------------------

args=(-accel "$ACCEL" -cpu "$CPU" -m "$MEM" -smp "$CPUS" -nodefaults -no-user-config
  -display none -no-reboot -kernel "$CACHE/vmlinux" -initrd "$T/initrd"
  -append "$(echo $APPEND)" -device isa-debug-exit,iobase=0x501,iosize=1
  -serial "file:$T/console" -serial "file:$T/so" -serial "file:$T/se"
  -serial "file:$T/result")
[ -z "$OUT" ] || args+=(-device virtio-serial-pci
  -chardev "file,id=out,path=$T/out.tar" -device virtserialport,chardev=out)

told() {
  grep -qaE "^($1)" "$T/result"
}
for try in 1 2; do
  : >"$T/result"
  : >"$T/console"
  rm -f "$T/so" "$T/se"
  mkfifo "$T/so" "$T/se"
  cat "$T/so" &
  so=$!
  cat "$T/se" >&2 &
  se=$!
  t0=$SECONDS ready= late=
  qemu-system-x86_64 "${args[@]}" </dev/null >"$T/qemu.log" 2>&1 &
  QPID=$!
  while kill -0 "$QPID" 2>/dev/null; do
    if [ -z "$ready" ]; then
      if told READY; then
        ready=$SECONDS
      elif ((SECONDS - t0 >= BOOT_LIMIT)); then
        late=boot
        break
      fi
    elif ((SECONDS - ready >= LIMIT + 20)); then
      late=run
      break
    fi
    sleep 0.05
  done
  [ -z "$late" ] || kill -KILL "$QPID" 2>/dev/null || true
  wait "$QPID" 2>/dev/null || true
  QPID=
  : <>"$T/so" <>"$T/se" # ends the readers if qemu died before it opened them
  wait "$so" "$se" || true
  # only a boot that never came to the program is tried again
  if told 'READY|BAD' || [ $try = 2 ]; then break; fi
  echo "run_in_vm: the machine did not come up (${late:-it ended}), once more" >&2
done

# -- what came of it ---------------------------------------------------------------

[ -z "$VERBOSE" ] || cat "$T/qemu.log" "$T/console" "$T/result" >&2
FAULT='BUG:|Oops|WARNING: CPU|Kernel panic|general protection fault'
if grep -qaE "$FAULT" "$T/console"; then
  echo "run_in_vm: the guest's kernel reports a fault:" >&2
  grep -aE -A25 "$FAULT" "$T/console" | head -60 >&2 || true
fi
if [ -s "$T/out.tar" ]; then
  mkdir -p "$OUT"
  tar xf "$T/out.tar" -C "$OUT"
fi
rc=$(sed -n 's/^RC \([0-9]*\).*/\1/p' "$T/result" | head -1)
if [ -n "$rc" ]; then
  [ "$rc" != 124 ] || echo "run_in_vm: time limit of $LIMIT s" >&2
  exit "$rc"
fi
if [ "$late" = run ]; then
  echo "run_in_vm: the guest hung past the time limit of $LIMIT s" >&2
  exit 124
fi
tail -n 15 "$T/qemu.log" "$T/console" "$T/result" >&2
die "the machine gave no result"
