#!/usr/bin/python3
"""What watching from inside the kernel costs, beside bpftrace, strace and perf: nanoseconds for each system call.

Every workload runs --rounds times or more under each tool, in turns, and each time without any; what counts is the
median of the differences. Three figures, each with the error of its median: how much longer the workload takes (the
start of the tool is not in it); how much more CPU time is used in all, the tool's own included (less what the tool uses
for a program that does nothing), which is what counts on a machine that has other work; and how many cycles more the workload
spends in the kernel. A build is short of calls and never takes the same time twice: what counting costs it is less than
the error of its time, unless it runs often. A fourth figure is steadier, but no cost: the time of the tool's programs in
the kernel, without what it takes to get to them (for bpftrace, most of all).
bpftrace's count costs two or three times as much on the CPU that its event belongs to as on any other, so workloads of
one thread run on every CPU in turn, and their mean is what counts; what knows of times, as -c does, is the second of its
lines.
    kernel.py --ours build/tracer            about ten minutes
    kernel.py --ours build/tracer --only make --rounds 60 --tools 'tracer -c,bpftrace'    what counting costs a build
    kernel.py --ours build/tracer --smoke    everything once and short: does it work at all?
At last, ten million calls at 500,000 a second: is an event lost, does the tracer grow?
The run fails if less is gained than --demand says of a tool (see DEMANDS), if an event is lost, or if the tracer grows.
"""

import argparse
import dataclasses
import math
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'machines'))
import kernel_engine  # noqa: E402
import program_times  # noqa: E402

TIMEOUT = 600  # seconds
ONE_LINER = 'tracepoint:raw_syscalls:sys_enter { @[args->id] = count(); }'
# What it takes there to know how long calls took, as -c does.
TIMING = ('tracepoint:raw_syscalls:sys_enter { @entered[tid] = nsecs; } tracepoint:raw_syscalls:sys_exit /@entered[tid]/ '
          '{ @[args->id] = count(); @times[args->id] = sum(nsecs - @entered[tid]); delete(@entered[tid]); }')

# Ours may cost at most so much of theirs, of a workload of many short calls.
RATE = 500_000  # calls a second at which no event may be lost
MOST_GROWTH = 65536  # kilobytes, after the first quarter
SHORTEST_MEASURE = 8  # seconds that a workload shall run for in all rounds together, so that a short one runs often
MOST_ROUNDS = 25
SHORTEST_STEADY = 4  # seconds: in a shorter run the tracer may still be starting at the end of the first quarter

DEMANDS = {('count', 'bpftrace'): 0.7, ('count', 'strace -c'): 1 / 15, ('trace', 'strace'): 1 / 8, ('trace', 'perf trace'): 1 / 10}


@dataclasses.dataclass
class Tool:
    name: str
    group: str  # count or trace; 'bare'
    slow: bool
    command: object  # of the workload's command and a file for the output: a command


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


def tools(ours):
    """Ours stands before those that it is compared with."""
    def quoted(program):
        return ' '.join(program)  # bpftrace parts words at blanks and knows no quotes

    found = [
        Tool('bare', 'bare', False, lambda program, out: program),
        Tool('tracer -c', 'count', False, lambda program, out: [ours, '-f', '-c', '-o', out, *program]),
        Tool('tracer -c exact', 'exact', False, lambda program, out: [ours, '-f', '-c', '--summary-exact', '-o', out, *program]),
        Tool('tracer -c untimed', 'untimed', False,
             lambda program, out: [ours, '-f', '-c', '-S', 'calls', '-U', 'calls,errors,name', '-o', out, *program]),
        Tool('bpftrace', 'count', False, lambda program, out: with_tracefs(['bpftrace', '-q', '-o', out, '-e', ONE_LINER, '-c', quoted(program)])),
        Tool('bpftrace timing', 'count', False,
             lambda program, out: with_tracefs(['bpftrace', '-q', '-o', out, '-e', TIMING, '-c', quoted(program)])),
        Tool('strace -c', 'count', True, lambda program, out: ['strace', '-f', '-c', '-o', out, *program]),
        Tool('tracer --engine=bpf', 'trace', False, lambda program, out: [ours, '--engine=bpf', '-f', '-o', out, *program]),
        Tool('strace', 'trace', True, lambda program, out: ['strace', '-f', '-o', out, *program]),
        Tool('perf trace', 'trace', True, lambda program, out: with_tracefs(['perf', 'trace', '-o', out, '--', *program])),
    ]
    for tool in list(found):
        if not shutil.which(tool.name.split()[0]) and tool.name.split()[0] not in ('bare', 'tracer'):
            print(f'{tool.name}: is not there')
            found.remove(tool)
    return found


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
    find = [shutil.which('find'), '/usr/share' if smoke else '/', '-xdev', '-size', '+1000000']
    loopback = compile_c(scratch, 'loopback')
    make[0] = shutil.which('make')
    each = sorted(map(str, os.sched_getaffinity(0)))
    return [Workload('dd bs=1', dd(1000000 // part), dd(20000 // part), each),
            Workload('loopback server', [loopback, str(300000 // part)], [loopback, str(5000 // part)], ['']),
            Workload('make -j2', make, make, ['']),
            Workload('find / -xdev', find, find, each)]


@dataclasses.dataclass
class Spent:
    """By one run, or by one more than by another."""
    time: float  # nanoseconds
    cpu: float  # nanoseconds
    cycles: float

    def __sub__(self, other):
        return Spent(self.time - other.time, self.cpu - other.cpu, self.cycles - other.cycles)

    @staticmethod
    def mean(several):
        return Spent(*map(statistics.mean, zip(*map(dataclasses.astuple, several))))


@dataclasses.dataclass
class Median:
    value: float
    error: float  # of the median: one standard deviation, from the middle half, which stragglers do not change

    def per_call(self, calls):
        return Median(self.value / calls, self.error / calls)


def median(values):
    if len(values) < 2:
        return Median(values[0], 0)
    low, _, high = statistics.quantiles(values, n=4, method='inclusive')
    return Median(statistics.median(values), 1.2533 * (high - low) / 1.349 / math.sqrt(len(values)))


def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Bench:
    def __init__(self, scratch, ours, patient):
        self.scratch = scratch
        self.ours = ours
        self.patient = patient  # short workloads may run more often than asked
        self.timed = compile_c(scratch, 'timed')
        self.lost = False

    def run(self, tool, program):
        """Time and cycles of the workload, and CPU time of all."""
        taken, out = self.scratch / 'taken', self.scratch / 'out'
        before = used()
        done = subprocess.run(tool.command([self.timed, str(taken), *program], str(out)), stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=TIMEOUT)
        cpu = used() - before
        said = done.stderr.decode(errors='replace')
        if 'lost' in said:
            print(f'{tool.name}: {said.strip()[-200:]}')
            self.lost |= tool.name.startswith('tracer')
        if not taken.exists():
            sys.exit(f'{tool.name} {" ".join(program)}: exit {done.returncode}: {said[-500:]}')
        nanoseconds, cycles = taken.read_text().split()
        taken.unlink()
        return Spent(int(nanoseconds), cpu * 1e9, int(cycles))

    def calls(self, program):
        out = self.scratch / 'count'
        subprocess.run([self.ours, '-f', '-c', '-o', out, self.timed, self.scratch / 'taken', *program], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=TIMEOUT)
        (self.scratch / 'taken').unlink()
        return int(re.search(r'(\d+) +(?:\d+ +)?total$', out.read_text(), re.M)[1])

    def measure(self, workload, found, rounds, nothing):
        """For a call, by tool: what it costs of everything that is Spent; and how often it ran."""
        more = {tool.name: [] for tool in found}
        first = time.monotonic()
        bare, tools_found = found[0], found[1:]
        done = 0
        while done < rounds or (done < MOST_ROUNDS and self.patient and time.monotonic() - first < SHORTEST_MEASURE * len(tools_found)):
            # There and back, so that what drifts hits all alike.
            for tool in tools_found if done % 2 == 0 else tools_found[::-1]:
                if tool.slow and done >= rounds:
                    continue
                program = workload.slow_program if tool.slow else workload.program
                costs = []
                for cpu in workload.cpus:
                    command = ['taskset', '-c', cpu, *program] if cpu else program
                    without = self.run(bare, command)
                    costs.append(self.run(tool, command) - without - Spent(0, nothing[tool.name], 0))
                more[tool.name].append(Spent.mean(costs))
            done += 1
        result = {}
        for tool in tools_found:
            calls = workload.slow_calls if tool.slow else workload.calls
            of_kinds = zip(*(dataclasses.astuple(spent) for spent in more[tool.name]))
            result[tool.name] = ([median(values).per_call(calls) for values in of_kinds], len(more[tool.name]))
        return result

    def program_times(self, workload, found):
        """Nanoseconds for a call by tool, of those that have programs in the kernel."""
        if why := program_times.why_not():
            print(f'no times of programs in the kernel: {why}')
            return {}
        times = {tool.name: program_times.nanoseconds_per_call(lambda tool=tool: self.run(tool, workload.program), workload.calls)
                 for tool in found[1:] if not tool.slow}
        return {name: value for name, value in times.items() if value is not None}


def check_steady(bench, calls):
    """Complaints about a long run at RATE."""
    paced = compile_c(bench.scratch, 'paced')
    process = subprocess.Popen([bench.ours, '--engine=bpf', '-o', '/dev/null', paced, str(calls), str(RATE)], stdin=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    seen = []
    start = time.monotonic()
    while process.poll() is None:
        status = pathlib.Path(f'/proc/{process.pid}/status').read_text()
        seen += [int(line.split()[1]) for line in status.splitlines() if line.startswith('VmRSS')]
        time.sleep(0.02)
    seconds = time.monotonic() - start
    said = process.stderr.read().strip()
    early, late = seen[len(seen) // 4], max(seen)
    print(f'\n{calls} calls in {seconds:.1f} s: resident {early} kB after a quarter, {late} kB at most; {said or "no event lost"}')
    grows = seconds > SHORTEST_STEADY and late - early > MOST_GROWTH
    return [said] * bool(said) + [f'the tracer grows from {early} to {late} kB'] * grows


def share(ours, theirs):
    return f'{ours / theirs:9.3f}' if ours is not None and theirs and theirs > 0 else f'{"":9}'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--ours', required=True)
    parser.add_argument('--rounds', type=int, default=0)
    parser.add_argument('--only', default='', help='workloads whose name contains this; steady: the long run alone')
    parser.add_argument('--tools', default='', help='only these, parted by commas')
    parser.add_argument('--demand', default='', help='tools, parted by commas, that DEMANDS is held against')
    parser.add_argument('--smoke', action='store_true')
    arguments = parser.parse_args()
    rounds = arguments.rounds or (1 if arguments.smoke else 5)
    ours = os.path.realpath(arguments.ours)
    if reason := kernel_engine.why_not(ours):
        print(f'SKIPPED: {reason}')
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix='bench.') as name:
        bench = Bench(pathlib.Path(name), ours, patient=not (arguments.rounds or arguments.smoke))
        chosen = arguments.tools.split(',') if arguments.tools else None
        found = [tool for tool in tools(ours) if tool.group == 'bare' or chosen is None or tool.name in chosen]
        nothing = {tool.name: statistics.median(bench.run(tool, ['true']).cpu for _ in range(rounds)) for tool in found}
        failures = []
        for workload in workloads(bench.scratch, arguments.smoke):
            if arguments.only not in workload.name:
                continue
            workload.calls, workload.slow_calls = bench.calls(workload.program), bench.calls(workload.slow_program)
            costs = bench.measure(workload, found, rounds, nothing)
            programs = bench.program_times(workload, found)
            print(f'\n{workload.name}: {workload.calls} calls; ns for each call\n{"":22} ' +
                  ''.join(f'{kind:>9} {"":>8} ' for kind in ('longer', 'more CPU', 'cycles')) + f'{"programs":>9} {"runs":>5}   ours to theirs')
            for tool in found[1:]:
                mine = next(other.name for other in found if other.group == tool.group)
                cost, runs = costs[tool.name]
                shares = '' if mine == tool.name else ' '.join(
                    [share(ours.value, theirs.value) for ours, theirs in zip(costs[mine][0], cost)] + [share(programs.get(mine), programs.get(tool.name))])
                program = f'{programs[tool.name]:.0f}' if tool.name in programs else ''
                print(f'{tool.name:22} ' + ''.join(f'{kind.value:9.0f} {f"± {kind.error:.0f}":>8} ' for kind in cost) +
                      f'{program:>9} {runs:5} {shares}', flush=True)
                limit = DEMANDS.get((tool.group, tool.name))
                if limit and tool.name in arguments.demand.split(',') and costs[mine][0][0].value > limit * cost[0].value:
                    failures.append(f'{workload.name}: {mine} costs more than {limit:.2f} of {tool.name}')
        if arguments.only in 'steady':
            failures += check_steady(bench, 100_000 if arguments.smoke else 10_000_000)
    if bench.lost:
        failures.append('events were lost')
    if failures:
        sys.exit('\n'.join(failures))


main()
