"""The tools whose costs kernel.py compares, and the workloads that they watch."""

import dataclasses
import os
import pathlib
import platform
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ONE_LINER = 'tracepoint:raw_syscalls:sys_enter { @[args->id] = count(); }'
# What it takes there to know how long calls took, as -c does.
TIMING = ('tracepoint:raw_syscalls:sys_enter { @entered[tid] = nsecs; } tracepoint:raw_syscalls:sys_exit /@entered[tid]/ '
          '{ @[args->id] = count(); @times[args->id] = sum(nsecs - @entered[tid]); delete(@entered[tid]); }')


@dataclasses.dataclass
class Tool:
    name: str
    group: str  # count or trace; 'bare'
    slow: bool
    command: object  # of the workload's command and a file for the output: a command
    program: str = ''  # None where it is not there

    def is_there(self):
        return self.program is not None


@dataclasses.dataclass
class Workload:
    name: str
    program: list
    slow_program: list  # for tools under which a call takes many microseconds
    cpus: list  # numbers as text, or, for a workload that uses all, one that is empty
    calls: int = 0
    slow_calls: int = 0


def with_tracefs(command):
    """Of tools that look tracepoints up there; nobody else sees the mount."""
    mounted = 'mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing'
    return ['unshare', '-m', 'sh', '-c', mounted + ' && exec "$@"', 'sh', *command]


def tools(ours, find):
    """First none; then each of ours before those that it is compared with, which `find` finds."""
    strace, bpftrace, perf = find('strace'), find('bpftrace'), shutil.which('perf')

    def quoted(program):
        return ' '.join(program)  # bpftrace parts words at blanks and knows no quotes

    return [
        Tool('bare', 'bare', False, lambda program, out: program),
        Tool('tracer -c', 'count', False, lambda program, out: [ours, '-f', '-c', '-o', out, *program]),
        Tool('tracer -c exact', 'exact', False, lambda program, out: [ours, '-f', '-c', '--summary-exact', '-o', out, *program]),
        Tool('tracer -c untimed', 'untimed', False,
             lambda program, out: [ours, '-f', '-c', '-S', 'calls', '-U', 'calls,errors,name', '-o', out, *program]),
        Tool('bpftrace', 'count', False, lambda program, out: with_tracefs([bpftrace, '-q', '-o', out, '-e', ONE_LINER, '-c', quoted(program)]),
             bpftrace),
        Tool('bpftrace timing', 'count', False,
             lambda program, out: with_tracefs([bpftrace, '-q', '-o', out, '-e', TIMING, '-c', quoted(program)]), bpftrace),
        Tool('strace -c', 'count', True, lambda program, out: [strace, '-f', '-c', '-o', out, *program], strace),
        Tool('tracer --engine=bpf', 'trace', False, lambda program, out: [ours, '--engine=bpf', '-f', '-o', out, *program]),
        Tool('tracer --engine=inprocess', 'trace', False, lambda program, out: [ours, '--engine=inprocess', '-f', '-o', out, *program],
             ours if platform.machine() == 'x86_64' else None),
        Tool('strace', 'trace', True, lambda program, out: [strace, '-f', '-o', out, *program], strace),
        Tool('perf trace', 'trace', True, lambda program, out: with_tracefs([perf, 'trace', '-o', out, '--', *program]), perf),
    ]


def project(folder, files):
    """A small program in C, to be made."""
    folder.mkdir()
    names = [f'part{i}' for i in range(files)]
    for name in names:
        (folder / f'{name}.c').write_text(f'#include <stdio.h>\n#include <stdlib.h>\nint {name}(int n) {{ printf("%d\\n", n); return n + 1; }}\n')
    (folder / 'main.c').write_text('int main(void) { return 0; }\n')
    objects = ' '.join(f'{name}.o' for name in [*names, 'main'])
    (folder / 'Makefile').write_text(f'all: {objects}\n\tgcc -o all {objects}\n%.o: %.c\n\tgcc -c -o $@ $<\n')
    return ['make', '-B', '-s', '-j2', '-C', str(folder)]


def compile_c(scratch, name):
    subprocess.run(['gcc', '-O1', '-o', scratch / name, HERE / f'{name}.c'], check=True)
    return str(scratch / name)


def dd(count):
    return [shutil.which('dd'), 'if=/dev/zero', 'of=/dev/null', 'bs=1', f'count={count}', 'status=none']


def workloads(scratch, smoke):
    part = 100 if smoke else 1
    make = project(scratch / 'project', 2 if smoke else 60)
    find, part_of_find = ([shutil.which('find'), root, '-xdev', '-size', '+1000000'] for root in ('/usr/share' if smoke else '/', '/etc'))
    loopback = compile_c(scratch, 'loopback')
    make[0] = shutil.which('make')
    each = sorted(map(str, os.sched_getaffinity(0)))
    return [Workload('dd bs=1', dd(1000000 // part), dd(20000 // part), each),
            Workload('loopback server', [loopback, str(300000 // part)], [loopback, str(5000 // part)], ['']),
            Workload('make -j2', make, make, ['']),
            Workload('find / -xdev', find, part_of_find, each)]
