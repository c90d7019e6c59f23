#!/usr/bin/python3
"""What tracing costs, side by side with strace and with no tracer at all.

Every workload runs --rounds times under each of them, in turns and in a changing order; medians count.
    bench.py --ours build/tracer            the table, about two minutes
    bench.py --ours build/tracer --full     more rounds, and memory after 10 million calls
    bench.py --ours build/tracer --smoke    everything once and short: does it work at all?
"""

import argparse
import dataclasses
import os
import statistics
import subprocess
import sys
import tempfile
import time

TIMEOUT = 600  # seconds


@dataclasses.dataclass
class Workload:
    name: str
    options: list
    program: list
    calls: int = 0  # how many system calls the program makes, where that is what takes the time


def dd(calls):
    """A program that reads and writes one byte at a time."""
    return ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', f'count={calls // 2}', 'status=none']


def forks(count):
    return ['sh', '-c', f'i=0; while [ $i -lt {count} ]; do /bin/true; i=$((i+1)); done']


def workloads(scale):
    calls = int(40000 * scale)
    storm = max(2, int(200 * scale))
    return [
        Workload('all calls to a file', ['-o', 'OUT'], dd(calls), calls),
        Workload('the same, with -f', ['-f', '-o', 'OUT'], dd(calls), calls),
        Workload('the same, with -T -tt', ['-T', '-tt', '-o', 'OUT'], dd(calls), calls),
        Workload('summary (-c)', ['-c', '-o', 'OUT'], dd(calls), calls),
        Workload('one rare call (-e accept)', ['-e', 'accept', '-o', 'OUT'], dd(calls), calls),
        Workload('the same, with -f --seccomp-bpf', ['-f', '--seccomp-bpf', '-e', 'accept', '-o', 'OUT'], dd(calls), calls),
        Workload('paths of descriptors (-y)', ['-y', '-o', 'OUT'], dd(calls), calls),
        Workload('start-up (true)', ['-o', 'OUT'], ['true']),
        Workload(f'{storm} forks (-f)', ['-f', '-o', 'OUT'], forks(storm)),
    ]


def command(tracer, workload, out):
    if tracer is None:
        return workload.program
    return [tracer, *(out if option == 'OUT' else option for option in workload.options), *workload.program]


def seconds(argv):
    start = time.monotonic()
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          timeout=TIMEOUT)
    taken = time.monotonic() - start
    if done.returncode != 0:
        sys.exit(f'{" ".join(argv)}: exit {done.returncode}: {done.stderr.decode(errors="replace")[-500:]}')
    return taken


def measure(workload, tracers, rounds, out):
    """Median seconds by tracer."""
    taken = {name: [] for name in tracers}
    for turn in range(rounds):
        order = list(tracers.items())
        order = order[turn % len(order):] + order[:turn % len(order)]
        for name, tracer in order:
            taken[name].append(seconds(command(tracer, workload, out)))
    return {name: statistics.median(times) for name, times in taken.items()}


def peak_memory(tracer, calls):
    """Peak resident kilobytes of a tracer, early and at the end of a run of so many calls."""
    process = subprocess.Popen([tracer, '-o', '/dev/null', *dd(calls)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seen = []
    while process.poll() is None:
        try:
            with open(f'/proc/{process.pid}/status') as status:
                seen += [int(line.split()[1]) for line in status if line.startswith('VmHWM')]
        except ProcessLookupError:
            pass
        time.sleep(0.02)
    if process.returncode != 0 or not seen:
        sys.exit(f'{tracer}: exit {process.returncode}, or over before it could be looked at')
    return seen[len(seen) // 10], seen[-1]


def print_times(rows):
    head = ('workload', 'bare', 'strace', 'tracer', 'tracer/strace', 'strace µs/call', 'tracer µs/call')
    print('{:34} {:>9} {:>9} {:>9} {:>14} {:>15} {:>15}'.format(*head))
    for workload, medians in rows:
        def per_call(name):
            extra = medians[name] - medians['bare']
            return f'{extra / workload.calls * 1e6:15.2f}' if workload.calls else f'{"":15}'

        print(f'{workload.name:34} {medians["bare"]:8.3f}s {medians["strace"]:8.3f}s {medians["tracer"]:8.3f}s '
              f'{medians["tracer"] / medians["strace"]:13.2f}x {per_call("strace")} {per_call("tracer")}', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--ours', required=True)
    parser.add_argument('--theirs', default='/usr/bin/strace')
    parser.add_argument('--rounds', type=int)
    parser.add_argument('--calls', type=int, help='how many calls the memory is measured over')
    parser.add_argument('--only', default='', help='workloads whose name contains this')
    size = parser.add_mutually_exclusive_group()
    size.add_argument('--full', action='store_true')
    size.add_argument('--smoke', action='store_true')
    arguments = parser.parse_args()
    rounds = arguments.rounds or (1 if arguments.smoke else 11 if arguments.full else 5)
    calls = arguments.calls or (20_000 if arguments.smoke else 10_000_000 if arguments.full else 200_000)
    tracers = {'bare': None, 'strace': arguments.theirs, 'tracer': os.path.realpath(arguments.ours)}

    with tempfile.TemporaryDirectory(prefix='bench.') as scratch:
        out = os.path.join(scratch, 'out')
        rows = [(workload, measure(workload, tracers, rounds, out))
                for workload in workloads(0.02 if arguments.smoke else 1) if arguments.only in workload.name]
        print(f'Seconds, median of {rounds}:')
        print_times(rows)
    if arguments.only not in 'memory':
        return
    print(f'\nPeak resident memory over {calls} calls, early and at the end:')
    for name in ('strace', 'tracer'):
        early, late = peak_memory(tracers[name], calls)
        print(f'{name:34} {early:8} kB {late:8} kB')


main()
