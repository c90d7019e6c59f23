"""The machine: mounts, limits, namespaces, capabilities, libraries, interpreters, terminals and time."""

from corpus_data import GOOD, OWN

LIB = ("printf 'int foo(void){return 42;}' > foo.c; printf 'int foo(void); int main(void){return foo()-42;}' > m.c; "
       'gcc -shared -fPIC -Wl,-soname,libfoo.so.1 -o libfoo.so.1 foo.c; ln -s libfoo.so.1 libfoo.so; gcc -o app m.c -L. -lfoo; ')

# Mounts step by step, as mount(8) does since util-linux 2.39, on any system.
MOUNT = """cat > mount.py <<'END'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    result = libc.syscall(number, *args)
    if result < 0:
        sys.exit('cannot mount: ' + os.strerror(ctypes.get_errno()))
    return result
def fsopen(fs_type): return call(430, fs_type, 0)
def set_string(fd, key, value): call(431, fd, 1, key, value, 0)
def create(fd): call(431, fd, 6, None, None, 0)
def move(fd, target): call(429, fd, b'', -100, target, 4)
def mount(fs_type, source, target):
    fd = fsopen(fs_type)
    set_string(fd, b'source', source)
    create(fd)
    move(call(432, fd, 0, 0), target)
def bind(source, target): move(call(428, -100, source, 1), target)
END
mkdir m; echo x > f; """


def mounting(code):
    return f"unshare -m python3 -c 'from mount import *; {code}'"


CASES = [
    ('mount_steps_option', MOUNT, mounting('set_string(fsopen(b"tmpfs"), b"nosuchoption", b"1")'),
     r'tmpfs does not take the option nosuchoption=1'),
    ('mount_steps_type', MOUNT, mounting('fsopen(b"nosuchfs")'), r'does not know the file system type nosuchfs'),
    ('mount_steps_over_file', MOUNT, mounting('mount(b"tmpfs", b"none", b"f")'), r'/f is of the other kind: it is a file'),
    ('mount_steps_file_on_directory', MOUNT, mounting('bind(b"f", b"m")'), r'/m is of the other kind: it is a directory'),
    ('mount_steps_no_source', MOUNT, mounting('bind(b"gone", b"m")'), r'/gone does not exist'),
    ('mount_steps_no_target', MOUNT, mounting('mount(b"tmpfs", b"none", b"gone")'), r'/gone does not exist'),
    ('mount_steps_no_device', MOUNT, mounting('mount(b"ext4", b"/dev/nosuchdisk", b"m")'), r'device /dev/nosuchdisk does not exist'),
    ('mount_steps_image', MOUNT, mounting('mount(b"ext4", b"f", b"m")'), r'/f is a file and no block device'),
    ('mount_steps_good', MOUNT, mounting('mount(b"tmpfs", b"none", b"m")'), GOOD),
    ('library_missing', LIB + 'rm libfoo.so.1', './app', r'libfoo\.so\.1'),
    ('library_elsewhere', LIB + 'mkdir lib; mv libfoo.so.1 lib', './app', r'libfoo\.so\.1'),
    ('library_text_file', LIB + 'mkdir lfs; printf "version https://git-lfs\\n" > lfs/libfoo.so.1', 'env LD_LIBRARY_PATH=$PWD/lfs ./app',
     r'lfs/libfoo\.so\.1 is .*(text|no ELF|not an ELF)'),
    ('library_empty', LIB + 'mkdir lfs; : > lfs/libfoo.so.1', 'env LD_LIBRARY_PATH=$PWD/lfs ./app', r'lfs/libfoo\.so\.1 is (an )?empty'),
    ('library_truncated', LIB + 'mkdir lfs; head -c 3000 libfoo.so.1 > lfs/libfoo.so.1', 'env LD_LIBRARY_PATH=$PWD/lfs ./app',
     r'lfs/libfoo\.so\.1'),
    ('library_unreadable', LIB + 'mkdir priv; cp libfoo.so.1 priv; chmod 600 priv/libfoo.so.1',
     'NOBODY env LD_LIBRARY_PATH=$PWD/priv ./app', r'may not read .*priv/libfoo\.so\.1'),
    ('library_directory_closed', LIB + 'mkdir -m 700 priv; cp libfoo.so.1 priv', 'NOBODY env LD_LIBRARY_PATH=$PWD/priv ./app',
     r'priv'),
    ('library_symbol', LIB + "printf 'int bar(void){return 42;}' > foo.c; gcc -shared -fPIC -Wl,-soname,libfoo.so.1 -o libfoo.so.1 foo.c",
     'env LD_LIBRARY_PATH=$PWD ./app', r'symbol foo'),
    ('library_dangling', LIB + 'mkdir d; ln -s /nosuchplace/libfoo.so.1 d/libfoo.so.1', 'env LD_LIBRARY_PATH=$PWD/d ./app',
     r'd/libfoo\.so\.1 is a link to what does not exist'),
    ('loader_musl', LIB + 'patchelf --set-interpreter /lib/ld-musl-x86_64.so.1 app', './app', r'libfoo\.so\.1.*musl|musl'),
    ('loader_missing', LIB + 'patchelf --set-interpreter /lib/ld-none.so app', './app', r'/lib/ld-none\.so does not exist'),
    ('interpreter_missing', "printf '#!/usr/bin/nosuch\\n' > s; chmod +x s", './s', r'/usr/bin/nosuch'),
    ('interpreter_dos', "printf '#!/bin/sh\\r\\necho\\r\\n' > s; chmod +x s", './s', r'Windows line ends'),
    ('interpreter_env', "printf '#!/usr/bin/env nosuch\\n' > s; chmod +x s", './s', r'nosuch'),
    ('interpreter_directory', "printf '#!/usr\\n' > s; chmod +x s", './s', r'/usr\b.*(directory|not executable)'),
    ('interpreter_not_executable', "printf '#!%s/i\\n' $PWD > s; echo > i; chmod +x s", './s', r'/i, is not executable|/i is not executable'),
    ('interpreter_of_interpreter', "printf '#!/bin/nosuch\\n' > i; printf '#!%s/i\\n' $PWD > s; chmod +x s i", './s', r'/bin/nosuch'),
    ('not_executable', 'cp /bin/true t; chmod 644 t', './t', r'/t is not executable'),
    ('program_is_directory', 'mkdir t', './t', r'/t is a directory'),
    ('program_empty', ': > t; chmod +x t', 'env ./t', GOOD),
    ('program_truncated', 'head -c 200 /bin/true > t; chmod +x t', 'env ./t', r'/t '),
    ('program_foreign', "printf '\\177ELF\\2\\1\\1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\2\\0\\267\\0' > t; head -c 200 /dev/zero >> t; chmod +x t",
     'env ./t', r'AArch64|/t is damaged'),
    ('program_busy', 'cp /bin/true t; python3 -c "import time; f=open(\'t\',\'r+\'); open(\'ready\',\'w\'); time.sleep(20)" >/dev/null 2>&1 & until [ -e ready ]; do sleep 0.1; done', 'env ./t',
     r'/t is open for writing in python3'),
    ('mount_noexec', 'mkdir m', "unshare -m sh -c 'mount -t tmpfs -o noexec none m && cp /bin/true m && exec m/true'", r'noexec'),
    ('mount_read_only', 'mkdir m', "unshare -m sh -c 'mount -t tmpfs -o ro none m && exec touch m/x'", r'read-only'),
    ('mount_nosuid', 'mkdir m', "unshare -m sh -c 'mount -t tmpfs none m && mount -o remount,ro m && exec cp /etc/passwd m/x'", r'read-only'),
    ('mount_full', 'mkdir m', "unshare -m sh -c 'mount -t tmpfs -o size=16k none m && exec cp /bin/bash m/x'", r'/m is full'),
    ('mount_no_inodes', 'mkdir m', "unshare -m sh -c 'mount -t tmpfs -o nr_inodes=2 none m && touch m/a && exec touch m/b'",
     r'inodes'),
    ('mount_busy', 'mkdir m', "unshare -m sh -c 'mount -t tmpfs none m && (cd m; exec sleep 8) & sleep 0.3; exec umount m'",
     r'/m is busy'),
    ('mount_bad_source', 'mkdir m', 'mount -i /dev/nosuchdisk m', r'/dev/nosuchdisk'),
    ('mount_bad_image', 'mkdir m; head -c 100000 /dev/zero > img', 'mount -o loop -t ext4 img m', r'ext4|img|loop'),
    ('mount_no_rights', 'mkdir m', 'NOBODY mount -i -t tmpfs none m', r'CAP_SYS_ADMIN|root'),
    ('immutable', 'echo s > imm; chattr +i imm', 'sed -i s/a/b/ imm', r'immutable'),
    ('append_only', 'echo s > imm; chattr +a imm', 'cp /etc/passwd imm', r'append'),
    ('sticky_protected', 'mkdir -m 1777 st; setpriv --reuid=65534 --clear-groups sh -c "echo a > st/p"; chmod 666 st/p; '
     'test $(cat /proc/sys/fs/protected_regular) -gt 0', """python3 -c 'open("st/p", "w")'""", r'protected_regular'),
    ('limit_files', '', """prlimit --nofile=16:16 python3 -c 'a=[open("/dev/null") for i in range(40)]'""", r'open as it may: 16|limit.* 16'),
    ('limit_memory', '', """prlimit --as=200000000 python3 -c 'x=bytearray(10**9)'""", r'190\.7 MiB|address space'),
    ('limit_size', '', "prlimit --fsize=100 dd if=/dev/zero of=x count=1", r'no file larger than 100'),
    ('limit_size_python', '', """prlimit --fsize=100 python3 -c 'f=open("x","w"); f.write("a"*10000); f.close()'""", r'no file larger than 100'),
    ('limit_cpu', '', "prlimit --cpu=1 sh -c 'while :; do :; done'", r'processor time'),
    ('limit_processes', '', "NOBODY prlimit --nproc=1 sh -c 'true & wait; ls / | cat'", r'processes'),
    ('limit_locked', '', """NOBODY prlimit --memlock=4096 python3 -c 'import ctypes,os
l=ctypes.CDLL(None,use_errno=True)
m=ctypes.create_string_buffer(99999)
if l.mlock(m,99999): raise OSError(ctypes.get_errno(),"mlock")'""", r'lock no more than 4'),
    ('limit_user_namespaces', '', "unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; exec unshare -Ur true'",
     r'user namespaces'),
    ('limit_watches', 'mkdir a b c d; printf "import ctypes,os\\nl=ctypes.CDLL(None,use_errno=True)\\nf=l.inotify_init()\\n'
     'for n in (b\'a\',b\'b\',b\'c\',b\'d\'):\\n  if l.inotify_add_watch(f,n,2)<0: raise OSError(ctypes.get_errno(),\'inotify_add_watch\')\\n" > i.py',
     "unshare -Ur sh -c 'echo 2 > /proc/sys/user/max_inotify_watches; exec unshare -Ur python3 i.py'", r'user\.max_inotify_watches'),
    ('capability_clock', '', 'NOBODY date -s 2020-01-01', r'CAP_SYS_TIME'),
    ('capability_host_name', '', 'NOBODY hostname xyz', r'CAP_SYS_ADMIN'),
    ('capability_raw_socket', '', """NOBODY python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)'""", r'CAP_NET_RAW'),
    ('capability_nice', '', 'NOBODY chrt -f 10 true', r'CAP_SYS_NICE'),
    ('capability_mknod', 'chmod 777 .', 'NOBODY mknod x c 1 3', r'CAP_MKNOD'),
    ('capability_port', 'test $(cat /proc/sys/net/ipv4/ip_unprivileged_port_start) -gt 80', 'NOBODY python3 -m http.server 80',
     r'may not listen on port 80'),
    ('seccomp_refuses', '', """python3 -c 'import ctypes,os,struct
l=ctypes.CDLL(None,use_errno=True)
f=struct.pack("HBBIHBBIHBBIHBBI",0x20,0,0,0,0x15,0,1,83,6,0,0,0x50001,6,0,0,0x7fff0000)
b=ctypes.create_string_buffer(f)
p=struct.pack("HxxxxxxQ",4,ctypes.addressof(b))
l.prctl(38,1,0,0,0); l.prctl(22,2,ctypes.c_char_p(p))
os.mkdir("d")'""", r'seccomp filter forbids .*mkdir'),
    ('seccomp_kills', '', """python3 -c 'import ctypes,os,struct
l=ctypes.CDLL(None,use_errno=True)
f=struct.pack("HBBIHBBIHBBIHBBI",0x20,0,0,0,0x15,0,1,83,6,0,0,0x80000000,6,0,0,0x7fff0000)
b=ctypes.create_string_buffer(f)
p=struct.pack("HxxxxxxQ",4,ctypes.addressof(b))
l.prctl(38,1,0,0,0); l.prctl(22,2,ctypes.c_char_p(p))
os.mkdir("d")'""", r'seccomp filter killed'),
    ('terminal_needed', '', 'env TERM=nosuchterm tput cols', r'nosuchterm'),
    ('terminal_unset', '', 'env -u TERM tput clear', r'TERM'),
    ('display_none', '', 'env DISPLAY=:99 xterm', r':99'),
    ('display_unset', '', 'env -u DISPLAY xterm', r'DISPLAY'),
    ('display_refused', '', 'env DISPLAY=127.0.0.1:77 xterm', r'DISPLAY|127\.0\.0\.1:6077'),
    # The shell would report a missing Xvfb, not the lock.
    ('display_locked', 'command -v Xvfb; sleep 30 >/dev/null 2>&1 & printf "%10d\\n" $! > /tmp/.X97-lock', "sh -c 'Xvfb :97; s=$?; rm -f /tmp/.X97-lock; exit $s'",
     r'X97-lock'),
    ('locale_missing', '', 'env LC_ALL=xx_YY.UTF-8 perl -e "exit 0"', GOOD),
    ('locale_python', '', """env LC_ALL=POSIX PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 PYTHONIOENCODING=ascii python3 -c 'print("Gr\\xfc\\xdfe")'""",
     r'ASCII|PYTHONIOENCODING|LC_ALL'),
    ('zone_missing', '', """python3 -c 'import zoneinfo; zoneinfo.ZoneInfo("Europa/Nirgends")'""", r'Europa/Nirgends', r'uncaught'),
    ('directory_gone', 'mkdir d', "sh -c 'cd d; rmdir ../d; exec git status'", r'has been deleted|directory.* (gone|deleted)'),
    ('home_missing', '', "env HOME=/nosuchplace sh -c 'cd'", r'HOME'),
    ('tmp_missing', '', """env TMPDIR=/nosuchplace mktemp""", r'TMPDIR'),
    ('tmp_refused', 'mkdir -m 755 t', 'NOBODY env TMPDIR=$PWD/t mktemp', r'TMPDIR|may not write to the directory .*/t '),
    ('path_poor', '', "env PATH=/nosuchplace /bin/sh -c 'ls'", r'PATH'),
    ('editor_missing', 'git init -q r; git -C r -c user.name=x -c user.email=x commit -q --allow-empty -m x',
     'env GIT_EDITOR=nosuchedit git -C r -c user.name=x -c user.email=x commit --allow-empty', r'nosuchedit'),
    ('pager_fine', 'git init -q r', 'env GIT_PAGER=nosuchpager git -C r status', GOOD),
    ('su_unknown', '', 'su nosuchuser -c true', r'user nosuchuser does not exist'),
    ('chown_unknown', 'touch f', 'chown nosuchuser f', r'user nosuchuser does not exist'),
    ('chgrp_unknown', 'touch f', 'chgrp nosuchgroup f', r'group nosuchgroup does not exist'),
    ('setpriv_unknown', '', 'setpriv --reuid=nosuchuser true', r'user nosuchuser does not exist'),
    ('chroot_empty', 'mkdir r', 'chroot r /bin/sh', r'/bin/sh'),
    ('chroot_no_libraries', 'mkdir -p r/bin; cp /bin/ls r/bin', 'chroot r /bin/ls', r'ld-linux|loader'),
    ('flock_held', 'flock l sleep 20 >/dev/null 2>&1 & sleep 0.3', 'flock -n l true', r'/l is locked by (flock|sleep)'),
    ('pid_file_running', 'sleep 20 >/dev/null 2>&1 & echo $! > p.pid', "bash -c 'kill -0 $(cat p.pid) && { echo already running >&2; exit 1; }'",
     r'p\.pid'),
    ('socket_stale', """python3 -c 'import socket; s=socket.socket(socket.AF_UNIX); s.bind("s.sock")'""",
     """python3 -c 'import socket; s=socket.socket(socket.AF_UNIX); s.bind("s.sock")'""", r's\.sock exists already'),
    ('socket_refused', """python3 -c 'import socket,time,os; s=socket.socket(socket.AF_UNIX); s.bind("s.sock"); os.chmod("s.sock",0o600); s.listen(); open("ready","w"); time.sleep(20)' >/dev/null 2>&1 & until [ -e ready ]; do sleep 0.1; done""",
     """NOBODY python3 -c 'import socket; s=socket.socket(socket.AF_UNIX); s.connect("s.sock")'""", r'may not connect to the socket .*s\.sock'),
    ('socket_long', '', """python3 -c 'import socket; s=socket.socket(socket.AF_UNIX); s.bind("x"*200)'""", r'too long'),
    ('acl_refuses', 'echo x > f; chmod 640 f; setfacl -m u:65534:--- f', 'NOBODY cat f', r'may not read .*/f'),
    ('acl_admits_others', 'mkdir -m 770 d; setfacl -m u:65534:r-x d', 'NOBODY touch d/x', r'may not write to the directory .*/d '),
    ('kernel_setting', '', 'sysctl -w kernel.nosuch=1', r'kernel/?\.?nosuch'),
    ('kernel_value', '', "sh -c 'echo x > /proc/sys/vm/swappiness'", r'/proc/sys/vm/swappiness'),
    ('device_missing', '', 'dd if=/dev/nosuch of=/dev/null count=1', r'/dev/nosuch does not exist'),
    ('tunnel_missing', '', 'NOBODY cat /dev/mem', r'/dev/mem'),
    ('abort', '', """python3 -c 'import os; os.abort()'""", r'abort|SIGABRT'),
    ('segfault', '', """python3 -c 'import ctypes; ctypes.string_at(8)'""", r'address (8|0x8)', r'__nss_database_lookup'),
    ('killed_by_child', '', """sh -c 'kill -9 $$'""", r'kill'),
    ('terminated_by_timeout', '', 'timeout -s KILL 0.2 sleep 5', r'timeout'),
    ('pipe_closed', '', """bash -c 'set -o pipefail; yes | head -1 >/dev/null'""", r'pipe|SIGPIPE'),
]
