"""What the kernel, a security module or another user does not allow."""

import os
import shutil
import subprocess

from cause import NOBODY, as_nobody, cause
from harness import TIME_LIMIT, Skipped


ATTACHING_PROGRAM = """
#include <bpf/libbpf.h>
#include <unistd.h>
int main(int count, char **arguments) { /* as long as somebody keeps its standard input open */
  struct bpf_object *object = bpf_object__open_file(arguments[1], NULL);
  if (!object || bpf_object__load(object) || !bpf_program__attach(bpf_object__next_program(object, NULL))) return 1;
  write(1, "ready\\n", 6);
  return read(0, &count, 1);
}
"""
DENYING_MODULE = """
static long (*get_comm)(void *, unsigned) = (void *)16; /* bpf_get_current_comm */
char terms[] __attribute__((section("license"))) = "GPL";
__attribute__((section("lsm/file_open"))) int deny(unsigned long long *arguments) {
  char name[16], wanted[] = "lsm-denied";
  get_comm(name, sizeof name);
  for (int i = 0; i < (int)sizeof wanted; ++i)
    if (name[i] != wanted[i]) return 0;
  return -13;
}
"""


@cause('seccomp-kill', 'socket')
def seccomp_kill(place):
    return {'command': [place.fail, 'seccomp-kill'], 'options': ['-o', str(place.folder / 'trace')]}


@cause('seccomp-kill', 'socket')
def seccomp_trap(place):
    return [place.fail, 'seccomp-trap']


@cause('seccomp-refusal', 'forbids the system call socket')
def seccomp_refusal(place):
    return [place.fail, 'seccomp-errno']


@cause('security-module', 'Landlock')
def landlock(place):
    path = place.file('file')
    if subprocess.run([place.fail, 'landlock', path], capture_output=True, check=False).returncode == 77:
        raise Skipped('the kernel has no Landlock')
    return [place.fail, 'landlock', path]


@cause('security-module', 'the AppArmor profile test', 'aa-complain test', 'log: audit:')
def denial_in_the_kernels_log(place):
    """What the kernel's log says of the process is read there. The line is made up; the refusal is not."""
    path = place.file('file')
    if subprocess.run([place.fail, 'landlock', path], capture_output=True, check=False).returncode == 77:
        raise Skipped('the kernel has no Landlock')
    if not os.access('/dev/kmsg', os.W_OK):
        raise Skipped('the log of the kernel may not be written')
    line = 'audit: type=1400 apparmor="DENIED" operation="open" profile="test" pid=$$ comm="fail"'
    return ['sh', '-c', f"echo '{line}' | sed s/[$][$]/$$/ >/dev/kmsg; exec {place.fail} landlock {path}"]


@cause('security-module', 'Landlock, with which it confined itself', 'listening on port')
def landlock_of_the_network(place):
    command = [place.fail, 'landlock-bind', '127.0.0.1', '18080']
    if subprocess.run(command, capture_output=True, check=False).returncode == 77:
        raise Skipped('Landlock of this kernel knows no ports')
    return command


@cause('security-module', 'a security module', 'FOLDER/file')
def module_of_another_kind(place):
    """BPF programs can be security modules: one that lets nothing called lsm-denied open a file of its own."""
    program = str(place.folder / 'deny.o')
    if os.geteuid() != 0 or shutil.which('clang') is None:
        raise Skipped('needs root and clang')
    subprocess.run(['clang', '-O2', '-g', '-target', 'bpf', '-c', '-x', 'c', '-', '-o', program],
                   input=DENYING_MODULE.encode(), check=True, timeout=TIME_LIMIT)
    keeper = place.start(place.cc('attach', ATTACHING_PROGRAM, '-lbpf'), program, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if not keeper.stdout.readline():
        raise Skipped('BPF is no security module of this kernel')
    return ['sh', '-c', f'exec {place.copy_of_fail("lsm-denied")} open {place.file("file")}']


@cause('missing-capability', 'CAP_SYS_ADMIN')
def missing_capability(place):
    return as_nobody(place, [place.fail, 'unshare'])


@cause('missing-capability', 'CAP_CHOWN')
def owner_changed_by_an_ordinary_user(place):
    return as_nobody(place, ['chown', 'nobody', place.file('file')])


@cause('not-owner', 'FOLDER/file belongs to root')
def mode_changed_by_another_user(place):
    return as_nobody(place, ['chmod', '600', place.file('file')])


@cause('unknown-user', 'the user no-such-user does not exist', '/etc/passwd has no entry', 'getent passwd')
def unknown_user(place):
    return ['chown', 'no-such-user', place.file('file')]


@cause('unknown-user', 'the group no-such-group does not exist', 'getent group')
def unknown_group(place):
    return ['chgrp', 'no-such-group', place.file('file')]


@cause('setuid-under-tracing', 'set-user-ID', 'as root')
def setuid_under_tracing(place):
    if os.geteuid() != 0:
        raise Skipped('needs root to make a set-user-ID program')
    if place.in_kernel:
        raise Skipped('nobody is traced in a way that matters to set-user-ID programs')
    program = place.copy_of_fail('program', 0o4755)
    return {'command': [program, 'setuid-needed'], 'before': NOBODY}


@cause('signal-refused', 'user nobody (65534) may not send signals to process', 'which belongs to root')
def signal_to_another_user(place):
    if os.geteuid() != 0:
        raise Skipped('needs root to become another user')
    return as_nobody(place, ['kill', '-WINCH', str(os.getpid())])
