# The beginning of the script that a guest runs: the rest of a system, and `run`.
mkdir -p /dev/pts /dev/shm /guest/results
mount -t devpts -o ptmxmode=666 devpts /dev/pts
chmod 1777 /tmp /var/tmp
for place in /dev/shm /run /mnt; do mount -t tmpfs -o mode=1777 tmpfs "$place"; done
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
mount -t bpf bpf /sys/fs/bpf 2>/dev/null
mount -t cgroup2 cgroup2 /sys/fs/cgroup 2>/dev/null
ln -s /proc/self/fd /dev/fd 2>/dev/null
ln -s /proc/self/fd/0 /dev/stdin 2>/dev/null
ln -s /proc/self/fd/1 /dev/stdout 2>/dev/null
ln -s /proc/self/fd/2 /dev/stderr 2>/dev/null
busybox ip link set lo up
busybox hostname guest
printf '127.0.0.1 localhost guest\n' >/etc/hosts
[ -e /etc/passwd ] || printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n' >/etc/passwd
[ -e /etc/group ] || printf 'root:x:0:\nnogroup:x:65534:\n' >/etc/group
[ -e /bin/sh ] || ln -s dash /bin/sh
[ -e /etc/ld.so.cache ] || ldconfig

# run NUMBER SECONDS FOLDER NAME COMMAND…
run() {
  number=$1 seconds=$2 folder=$3 name=$4
  shift 4
  echo "@@ $name" >/dev/console
  started=$(date +%s)
  mkdir -p "$folder"
  (cd "$folder" && exec timeout -k 5 "$seconds" "$@") </dev/null >/guest/results/"$number" 2>&1
  status=$?
  echo "$number $status $(($(date +%s) - started))" >>/guest/results/status
  [ $status = 0 ] || echo "@! $number $status" >/dev/console
}
