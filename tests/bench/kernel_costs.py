"""Measures for kernel.py what a tool costs a workload."""

import dataclasses
import math
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import time

import program_times
from kernel_tools import compile_c

TIMEOUT = 600  # seconds
MOST_GROWTH = 65536  # kilobytes, after the first quarter
SHORTEST_MEASURE = 8  # seconds that a workload shall run for in all rounds together, so that a short one runs often
MOST_ROUNDS = 25
SHORTEST_STEADY = 4  # seconds: in a shorter run the tracer may still be starting at the end of the first quarter


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


@dataclasses.dataclass
class Cost:
    """For a call, of each kind that is Spent; and how often it was measured."""
    time: Median
    cpu: Median
    cycles: Median
    runs: int

    def kinds(self):
        return self.time, self.cpu, self.cycles


def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Bench:
    def __init__(self, scratch, ours, patient):
        self.scratch = scratch
        self.ours = ours
        self.patient = patient  # short workloads may run more often than asked
        self.timed = compile_c(scratch, 'timed')
        self.losses = []  # tools, and what they said of events that were lost

    def run(self, tool, program):
        """Time and cycles of the workload, and CPU time of all."""
        taken, out = self.scratch / 'taken', self.scratch / 'out'
        before = used()
        done = subprocess.run(tool.command([self.timed, str(taken), *program], str(out)), stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=TIMEOUT)
        cpu = used() - before
        said = done.stderr.decode(errors='replace')
        if 'lost' in said:
            self.losses.append((tool.name, said.strip()[-200:]))
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

    def measure(self, workload, bare, tools, rounds, nothing):
        """The Cost by tool."""
        more = {tool.name: [] for tool in tools}
        first = time.monotonic()
        done = 0
        while done < rounds or (done < MOST_ROUNDS and self.patient and time.monotonic() - first < SHORTEST_MEASURE * len(tools)):
            # There and back, so that what drifts hits all alike.
            for tool in tools if done % 2 == 0 else tools[::-1]:
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
        for tool in tools:
            calls = workload.slow_calls if tool.slow else workload.calls
            kinds = zip(*(dataclasses.astuple(spent) for spent in more[tool.name]))
            result[tool.name] = Cost(*(median(values).per_call(calls) for values in kinds), len(more[tool.name]))
        return result

    def program_times(self, workload, tools):
        """Nanoseconds for a call by tool, of those that have programs in the kernel."""
        if program_times.why_not():
            return {}
        times = {tool.name: program_times.nanoseconds_per_call(lambda tool=tool: self.run(tool, workload.program), workload.calls)
                 for tool in tools if not tool.slow}
        return {name: value for name, value in times.items() if value is not None}


@dataclasses.dataclass
class Steady:
    """A long run at an even rate."""
    seconds: float
    early: int  # kilobytes resident after a quarter of it
    most: int
    said: str  # by the tracer; nothing if no event was lost

    def grows(self):
        return self.seconds > SHORTEST_STEADY and self.most - self.early > MOST_GROWTH


def run_steadily(bench, calls, rate):
    paced = compile_c(bench.scratch, 'paced')
    process = subprocess.Popen([bench.ours, '--engine=bpf', '-o', '/dev/null', paced, str(calls), str(rate)], stdin=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    seen = []
    start = time.monotonic()
    while process.poll() is None:
        status = pathlib.Path(f'/proc/{process.pid}/status').read_text()
        seen += [int(line.split()[1]) for line in status.splitlines() if line.startswith('VmRSS')]
        time.sleep(0.02)
    return Steady(time.monotonic() - start, seen[len(seen) // 4], max(seen), process.stderr.read().strip())
