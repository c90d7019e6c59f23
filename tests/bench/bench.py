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
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import libraries

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'peers'))
import peers  # noqa: E402

TIMEOUT = 600  # seconds


@dataclasses.dataclass
class Workload:
    name: str
    options: list
    program: list
    calls: int = 0  # how many system calls the program makes, where that is what takes the time
    beside_strace: bool = True  # False: strace would take minutes
    ours: list = None  # options for our tracer, where they are not the same
    times_faster: float = 0  # what a call costs more than without a tracer must be strace's by so much; else the run fails


def dd(calls):
    """A program that reads and writes one byte at a time."""
    return ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', f'count={calls // 2}', 'status=none']


def forks(count):
    return ['sh', '-c', f'i=0; while [ $i -lt {count} ]; do /bin/true; i=$((i+1)); done']


LIBRARIES = 50

# Most that the peak memory may be, as parts of strace's. The short run, which is a test, leaves room for what a kernel
# happens to map of a file.
MOST_MEMORY = 1.5
MOST_MEMORY_IN_A_TEST = 1.9
# And as parts of what it was after a tenth of a long run.
MOST_GROWTH = 1.05


def workloads(scale, scratch):
    calls = int(40000 * scale)
    many_calls = int(6000000 * scale)
    traces = max(300, int(1000 * scale))
    stacks = libraries.build(scratch, LIBRARIES)
    forked = max(2, int(200 * scale))
    return [
        Workload('all calls to a file', ['-o', 'OUT'], dd(calls), calls),
        Workload('the same, with -f', ['-f', '-o', 'OUT'], dd(calls), calls),
        Workload('the same, with -T -tt', ['-T', '-tt', '-o', 'OUT'], dd(calls), calls),
        # Most of what so few calls cost is the start of the tracer; kernel.py has the cost of a call.
        Workload('the same, --engine=inprocess', ['-f', '-o', 'OUT'], dd(calls), calls,
                 ours=['--engine=inprocess', '-f', '-o', 'OUT'], times_faster=10),
        Workload('that, over many calls', ['-f', '-o', 'OUT'], dd(many_calls), many_calls, False,
                 ours=['--engine=inprocess', '-f', '-o', 'OUT']),
        Workload('summary (-c)', ['-c', '-o', 'OUT'], dd(calls), calls),
        Workload('one rare call (-e accept)', ['-e', 'accept', '-o', 'OUT'], dd(calls), calls),
        Workload('the same over many calls', ['-e', 'accept', '-o', 'OUT'], dd(many_calls), many_calls, False),
        Workload('and with -f --seccomp-bpf', ['-f', '--seccomp-bpf', '-e', 'accept', '-o', 'OUT'],
                 dd(many_calls), many_calls),
        # --explain may cost no more than a trace of the calls that it watches; of those that dd makes, write is one.
        Workload('one call in two (-f -e write)', ['-f', '--seccomp-bpf', '-e', 'write', '-o', 'OUT'], dd(calls), calls),
        Workload('--explain, beside that', ['-f', '--seccomp-bpf', '-e', 'write', '-o', 'OUT'], dd(calls), calls,
                 ours=['--explain']),
        Workload('paths of descriptors (-y)', ['-y', '-o', 'OUT'], dd(calls), calls),
        Workload(f'stacks, {LIBRARIES} libraries (-k)', ['-k', '-e', 'getppid', '-o', 'OUT'], [stacks, str(traces)], traces,
                 times_faster=10),
        Workload('start-up (true)', ['-o', 'OUT'], ['true']),
        Workload(f'{forked} forks (-f)', ['-f', '-o', 'OUT'], forks(forked)),
    ]


def command(name, tracer, workload, out):
    if tracer is None:
        return workload.program
    options = workload.ours if workload.ours and name == 'tracer' else workload.options
    return [tracer, *(out if option == 'OUT' else option for option in options), *workload.program]


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
    asked = {name: tracer for name, tracer in tracers.items() if name != 'strace' or workload.beside_strace}
    taken = {name: [] for name in asked}
    for turn in range(rounds):
        order = list(asked.items())
        order = order[turn % len(order):] + order[:turn % len(order)]
        for name, tracer in order:
            taken[name].append(seconds(command(name, tracer, workload, out)))
    return {name: statistics.median(times) for name, times in taken.items()}


def peak_memory(tracer, calls, *options):
    """Peak resident kilobytes of a tracer, after a tenth and at the end of a program that makes so many calls."""
    reads = ('$| = 1; open Z, "/dev/zero"; '
             f'for my $part (1, 9) {{ sysread Z, my $byte, 1 for 1 .. {calls // 10} * $part; print "\\n"; <STDIN> }}')
    process = subprocess.Popen([tracer, *options, '-o', '/dev/null', 'perl', '-e', reads], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    seen = []
    while process.stdout.readline():
        with open(f'/proc/{process.pid}/status') as status:
            seen += [int(line.split()[1]) for line in status if line.startswith('VmHWM')]
        process.stdin.write(b'\n')
        process.stdin.flush()
    if process.wait() != 0 or len(seen) != 2:
        sys.exit(f'{tracer}: exit {process.returncode}')
    return seen


def print_times(rows):
    head = ('workload', 'bare', 'strace', 'tracer', 'tracer/strace', 'tracer/bare', 'strace µs/call', 'tracer µs/call')
    print('{:34} {:>9} {:>9} {:>9} {:>14} {:>12} {:>15} {:>15}'.format(*head))
    for workload, medians in rows:
        def cell(width, form, value):
            return f'{value:{width - 1}{form}}' if value is not None else f'{"-":>{width - 1}}'

        def ratio(to):
            return medians['tracer'] / medians[to] if to in medians else None

        def per_call(name):
            extra = medians[name] - medians['bare'] if name in medians else None
            return extra / workload.calls * 1e6 if workload.calls and extra is not None else None

        print(f'{workload.name:34}', *(cell(9, '.3f', medians.get(name)) + 's' for name in ('bare', 'strace', 'tracer')),
              cell(14, '.2f', ratio('strace')) + 'x', cell(12, '.2f', ratio('bare')) + 'x',
              cell(16, '.2f', per_call('strace')), cell(16, '.2f', per_call('tracer')), flush=True)


def check_speed(rows):
    for workload, medians in rows:
        if workload.times_faster:
            ratio = (medians['strace'] - medians['bare']) / (medians['tracer'] - medians['bare'])
            print(f'{workload.name}: {ratio:.1f} times less than strace')
            if ratio < workload.times_faster:
                sys.exit(f'{workload.name}: {workload.times_faster} times less is wanted')


def copies(tracers, folder):
    """How much of a program is in memory is also a matter of how its file was written, so both are written alike."""
    return {name: shutil.copy(tracer, os.path.join(folder, 'copy_of_' + name)) for name, tracer in tracers.items() if tracer}


def check_memory(peaks, most, long):
    ratio = peaks['tracer'][1] / peaks['strace'][1]
    print(f'{ratio:.2f} times strace\'s')
    if ratio > most:
        sys.exit(f'peak memory: {most} times strace\'s is the most')
    early, late = peaks['tracer']
    if long and late > early * MOST_GROWTH:
        sys.exit(f'peak memory: it grew from {early} to {late} kB')


def report_memory(tracers, calls, arguments):
    print(f'\nPeak resident memory over {calls} calls, early and at the end:')
    peaks = {name: peak_memory(tracers[name], calls) for name in ('strace', 'tracer')}
    for name, (early, late) in peaks.items():
        print(f'{name:34} {early:8} kB {late:8} kB')
    early, late = peak_memory(tracers['tracer'], calls // 10, '-k')
    print(f'{"tracer -k, a tenth of the calls":34} {early:8} kB {late:8} kB')
    check_memory(peaks, MOST_MEMORY_IN_A_TEST if arguments.smoke else MOST_MEMORY, arguments.full)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--ours', required=True)
    parser.add_argument('--theirs', help='another strace than the one that peers.py finds')
    parser.add_argument('--rounds', type=int)
    parser.add_argument('--calls', type=int, help='how many calls the memory is measured over')
    parser.add_argument('--only', default='', help='workloads whose name contains this')
    size = parser.add_mutually_exclusive_group()
    size.add_argument('--full', action='store_true')
    size.add_argument('--smoke', action='store_true')
    arguments = parser.parse_args()
    rounds = arguments.rounds or (1 if arguments.smoke else 11 if arguments.full else 5)
    calls = arguments.calls or (20_000 if arguments.smoke else 10_000_000 if arguments.full else 200_000)
    tracers = {'bare': None, 'strace': arguments.theirs or peers.find('strace'), 'tracer': os.path.realpath(arguments.ours)}

    with tempfile.TemporaryDirectory(prefix='bench.') as scratch:
        out = os.path.join(scratch, 'out')
        rows = [(workload, measure(workload, tracers, rounds, out))
                for workload in workloads(0.02 if arguments.smoke else 1, scratch) if arguments.only in workload.name]
        print(f'Seconds, median of {rounds}:')
        print_times(rows)
        if not arguments.smoke:  # one round says nothing of speed
            check_speed(rows)
    if arguments.only not in 'memory':
        return
    with tempfile.TemporaryDirectory(prefix='bench.') as scratch:
        report_memory(copies(tracers, scratch), calls, arguments)


main()
