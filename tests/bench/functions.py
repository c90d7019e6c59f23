#!/usr/bin/python3
"""What watching calls of functions costs, beside ltrace and bpftrace: nanoseconds for each call, without the tool's start.

Every tool runs --rounds times, in turns and in a changing order; medians count, and of what a call costs more than without
any tool, ours may be at most so much of theirs (DEMANDS).
    functions.py --ours build/tracer            about a minute
    functions.py --ours build/tracer --smoke    ours alone, once and short: does it work at all?
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'peers'))
import peers  # noqa: E402

TIMEOUT = 600  # seconds
# The figures that the program writes: for a call of its own and one of a library's, by the wall clock and on a CPU. What the
# kernel does for an uprobe is done on the CPU of the program; ptrace makes it wait.
OWN, LIBRARY, OWN_CPU, LIBRARY_CPU = range(4)
FIGURES = ('own', 'library', 'own, on a CPU', 'library, on a CPU')
NUMBERS = ['-U', 'calls,name', '-S', 'calls']

# Ours, theirs, the figure, and the most that ours may be of theirs.
DEMANDS = [
    ('every call to a file', 'ltrace', LIBRARY, 0.65),
    ('every call inside the program', 'ltrace', LIBRARY, 0.1),
    ('-c by breakpoints', 'ltrace -c', LIBRARY, 0.4),
    ('-c by breakpoints, with times', 'ltrace -c', LIBRARY, 0.4),
    ('every call by uprobes', 'every entry to a file', OWN, 0.6),
    ('every call by uprobes', 'bpftrace, every call', OWN_CPU, 1.5),
    ('-c by uprobes', 'bpftrace', OWN_CPU, 1),
    ('-c by uprobes', 'bpftrace', LIBRARY_CPU, 1),
]


def build(folder):
    """A program, and a library of its own: nobody else runs into what bpftrace, which watches all processes, sets there."""
    program, library = os.path.join(folder, 'called'), os.path.join(folder, 'libcalled.so')
    compiler = ['gcc', '-O1', '-fno-builtin', str(HERE / 'called.c')]
    subprocess.run([*compiler, '-DLIBRARY', '-shared', '-fPIC', '-o', library], check=True)
    subprocess.run([*compiler, '-Wl,-z,lazy', '-o', program, '-L', folder, f'-Wl,-rpath,{folder}', '-lcalled'], check=True)
    return program, library


def tools(ours, program, library, out, find):
    """By name: the command, and whether a call takes many microseconds. What `find` does not find is left out."""
    stubs = ['-q', '-o', out, '-e', 'trace=none', '-e', 'library=@MAIN']
    found = {
        'bare': ([program], False),
        'every call to a file': ([ours, *stubs, program], True),
        '-c by breakpoints': ([ours, '--engine=ptrace', '-c', *NUMBERS, *stubs, program], True),
        '-c by breakpoints, with times': ([ours, '--engine=ptrace', '-c', *stubs, program], True),
    }
    described = os.path.join(os.path.dirname(library), 'called.sys')
    pathlib.Path(described).write_text('library "libcalled.so" leaf { theirs(value: int) -> int }\n', encoding='utf-8')
    inside = [ours, '--engine=inprocess', '-f', f'--define={described}', *stubs]
    if subprocess.run([*inside, program, '10'], capture_output=True, timeout=TIMEOUT).returncode == 0:
        found['every call inside the program'] = ([*inside, program], False)
    if ltrace := find('ltrace'):
        found['ltrace'] = ([ltrace, '-o', out, program], True)
        found['ltrace -c'] = ([ltrace, '-c', '-o', out, program], True)
    entries = ['-q', '-o', out, '-e', 'trace=none', '-e', 'symbol=own+theirs']
    recorded = [ours, '--engine=bpf', *entries]
    if subprocess.run([*recorded, program, '10'], capture_output=True, timeout=TIMEOUT).returncode == 0:
        found['every entry to a file'] = ([ours, *entries, program], True)
        found['every call by uprobes'] = ([*recorded, program], True)
        if bpftrace := find('bpftrace'):
            shown = ' '.join(f'uprobe:{file}:{name} {{ printf("{name}(%d)", arg0); }} uretprobe:{file}:{name} {{ printf(" = %d\\n", retval); }}'
                             for file, name in ((program, 'own'), (library, 'theirs')))
            found['bpftrace, every call'] = ([bpftrace, '-o', out, '-e', shown, '-c', program], True)
    by_uprobes = [ours, '--engine=bpf', '-c', '-o', out, '-e', 'trace=none', '-e', 'symbol=own+theirs']
    if subprocess.run([*by_uprobes, 'true'], capture_output=True, timeout=TIMEOUT).returncode == 0:
        found['-c by uprobes'] = ([*by_uprobes, program], False)
        if bpftrace := find('bpftrace'):
            places = f'uprobe:{program}:own {{ @[0] = count(); }} uprobe:{library}:theirs {{ @[1] = count(); }}'
            found['bpftrace'] = ([bpftrace, '-e', places, '-c', program], False)
    return found


def figures(command, calls):
    if os.path.basename(command[0]) == 'bpftrace':
        command = [*command[:-1], f'{command[-1]} {calls}']
    else:
        command = [*command, str(calls)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT)
    for line in done.stdout.splitlines():
        if line.startswith('calls: '):
            return [float(word) for word in line.split()[1:]]
    sys.exit(f'{" ".join(command)}: exit {done.returncode}: {done.stderr[-500:]}')


def measure(chosen, rounds, scale):
    taken = {name: tuple([] for _ in FIGURES) for name in chosen}
    order = list(chosen)
    for turn in range(rounds):
        for name in order[turn % len(order):] + order[:turn % len(order)]:
            command, slow = chosen[name]
            for figure, value in enumerate(figures(command, max(10, int((5_000 if slow else 100_000) * scale)))):
                taken[name][figure].append(value)
    return {name: [statistics.median(values) for values in lists] for name, lists in taken.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--ours', required=True)
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--smoke', action='store_true')
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix='bench.') as scratch:
        find = (lambda name: None) if arguments.smoke else peers.find
        chosen = tools(os.path.realpath(arguments.ours), *build(scratch), os.path.join(scratch, 'out'), find)
        medians = measure(chosen, 1 if arguments.smoke else arguments.rounds, 0.01 if arguments.smoke else 1)
    bare = medians.pop('bare')
    costs = {name: [figure - least for figure, least in zip(values, bare)] for name, values in medians.items()}
    print('{:34}'.format('ns for a call, beside the bare one'), *(f'{name:>18}' for name in FIGURES))
    for name, values in costs.items():
        print(f'{name:34}', *(f'{value:18.0f}' for value in values))
    failed = False
    for ours, theirs, figure, most in DEMANDS:
        if ours in costs and theirs in costs and not arguments.smoke:
            ratio = round(costs[ours][figure] / costs[theirs][figure], 2)
            failed = failed or ratio > most
            print(f'{ours} / {theirs}, {FIGURES[figure]}: {ratio:.2f}, at most {most} is wanted')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
