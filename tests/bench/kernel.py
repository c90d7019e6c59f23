#!/usr/bin/python3
"""What watching from inside the kernel costs, beside bpftrace, strace and perf: nanoseconds for each system call.

Every workload runs --rounds times or more under each tool, in turns, and each time without any; what counts is the
median of the differences. Three figures, each with the error of its median: how much longer the workload takes (the
start of the tool is not in it); how much more CPU time is used in all, the tool's own included (less what the tool uses
for a program that does nothing), which is what counts on a machine that has other work; and how many cycles more the
workload spends in the kernel, on machines that count them. A build is short of calls and never takes the same time
twice: what counting costs it is less than the error of its time, unless it runs often. A fourth figure is steadier, but
no cost: the time of the tool's programs in the kernel, without what it takes to get to them (for bpftrace, most of
all).
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
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

import program_times
from kernel_costs import Bench, run_steadily
from kernel_tools import tools, workloads

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'machines'))
import kernel_engine  # noqa: E402
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'peers'))
import peers  # noqa: E402

RATE = 500_000  # calls a second at which no event may be lost


@dataclasses.dataclass
class Demand:
    """Ours may cost at most so much of theirs, of a workload of many short calls."""
    ours: str
    theirs: str
    kind: str  # of Cost
    most: float


DEMANDS = [
    Demand('tracer -c', 'bpftrace', 'time', 0.7),
    Demand('tracer -c', 'strace -c', 'time', 1 / 15),
    Demand('tracer --engine=bpf', 'strace', 'time', 1 / 8),
    Demand('tracer --engine=bpf', 'perf trace', 'time', 1 / 10),
    # The tracer works on another processor meanwhile, so that it counts what both need.
    Demand('tracer --engine=inprocess', 'strace', 'cpu', 1 / 40),
    Demand('tracer --engine=inprocess', 'tracer --engine=bpf', 'cpu', 0.6),
]


def of_ours(found, tool):
    """Which of ours a tool is compared with."""
    return next(other for other in found if other.group == tool.group)


def share(ours, theirs):
    return f'{ours / theirs:9.3f}' if ours is not None and theirs and theirs > 0 else f'{"":9}'


def print_table(workload, found, costs, programs):
    kinds = ['longer', 'more CPU', 'cycles']
    if all(cost.cycles.value == 0 for cost in costs.values()):
        kinds.remove('cycles')  # this machine does not count them
    print(f'\n{workload.name}: {workload.calls} calls; ns for each call\n{"":26} ' +
          ''.join(f'{kind:>9} {"":>8} ' for kind in kinds) + f'{"programs":>9} {"runs":>5}   ours to theirs')
    for tool in found:
        mine, cost = of_ours(found, tool), costs[tool.name]
        figures = cost.kinds()[:len(kinds)]
        shares = [share(ours.value, theirs.value) for ours, theirs in zip(costs[mine.name].kinds(), figures)]
        shares.append(share(programs.get(mine.name), programs.get(tool.name)))
        program = f'{programs[tool.name]:.0f}' if tool.name in programs else ''
        print(f'{tool.name:26} ' + ''.join(f'{kind.value:9.0f} {f"± {kind.error:.0f}":>8} ' for kind in figures) +
              f'{program:>9} {cost.runs:5} {" ".join(shares) if mine != tool else ""}', flush=True)


def too_dear(workload, costs, demanded):
    """Complaints where ours costs more of a demanded tool's than DEMANDS allows."""
    complaints = []
    for demand in DEMANDS:
        if demand.theirs in demanded and demand.ours in costs and demand.theirs in costs:
            ours, theirs = (getattr(costs[name], demand.kind).value for name in (demand.ours, demand.theirs))
            if ours > demand.most * theirs:
                complaints.append(f'{workload.name}: {demand.ours} costs {ours / theirs:.3f} of {demand.theirs} ({demand.kind}), '
                                  f'and {demand.most:.3f} is the most')
    return complaints


def compare(bench, found, arguments, rounds):
    """Measures and shows every workload. Complaints."""
    bare, *watching = found
    nothing = {tool.name: statistics.median(bench.run(tool, ['true']).cpu for _ in range(rounds)) for tool in found}
    complaints = []
    for workload in workloads(bench.scratch, arguments.smoke):
        if arguments.only not in workload.name:
            continue
        workload.calls, workload.slow_calls = bench.calls(workload.program), bench.calls(workload.slow_program)
        costs = bench.measure(workload, bare, watching, rounds, nothing)
        print_table(workload, watching, costs, bench.program_times(workload, watching))
        complaints += too_dear(workload, costs, arguments.demand.split(','))
    for name, said in bench.losses:
        print(f'{name}: {said}')
    if any(name.startswith('tracer') for name, _ in bench.losses):
        complaints.append('events were lost')
    return complaints


def check_steady(bench, calls):
    """A long run at RATE. Complaints."""
    run = run_steadily(bench, calls, RATE)
    print(f'\n{calls} calls in {run.seconds:.1f} s: resident {run.early} kB after a quarter, {run.most} kB at most; '
          f'{run.said or "no event lost"}')
    return [run.said] * bool(run.said) + [f'the tracer grows from {run.early} to {run.most} kB'] * run.grows()


def chosen_tools(ours, names, find):
    """No tool, and those of the names, or all, that are there; `find` knows where."""
    chosen = [tool for tool in tools(ours, find) if tool.group == 'bare' or not names or tool.name in names.split(',')]
    for tool in chosen:
        if not tool.is_there():
            print(f'{tool.name}: is not there')
    return [tool for tool in chosen if tool.is_there()]


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--ours', required=True)
    parser.add_argument('--rounds', type=int, default=0)
    parser.add_argument('--only', default='', help='workloads whose name contains this; steady: the long run alone')
    parser.add_argument('--tools', default='', help='only these, parted by commas')
    parser.add_argument('--demand', default='', help='tools, parted by commas, that DEMANDS is held against')
    parser.add_argument('--smoke', action='store_true')
    return parser.parse_args()


def main():
    arguments = read_arguments()
    ours = os.path.realpath(arguments.ours)
    if reason := kernel_engine.why_not(ours):
        print(f'SKIPPED: {reason}')
        sys.exit(77)
    if why := program_times.why_not():
        print(f'no times of programs in the kernel: {why}')
    with tempfile.TemporaryDirectory(prefix='bench.') as name:
        bench = Bench(pathlib.Path(name), ours, patient=not (arguments.rounds or arguments.smoke))
        rounds = arguments.rounds or (1 if arguments.smoke else 5)
        complaints = compare(bench, chosen_tools(ours, arguments.tools, shutil.which if arguments.smoke else peers.find), arguments, rounds)
        if arguments.only in 'steady':
            complaints += check_steady(bench, 100_000 if arguments.smoke else 10_000_000)
    if complaints:
        sys.exit('\n'.join(complaints))


main()
