#!/usr/bin/python3
"""Compares what two tracers print about the same programs, line by line.

Each (program, options) runs under both in a PID namespace of its own, without address randomisation; what may differ
between two runs is masked (canonical.py). Ours is called strace, and so writes strace's text to the letter: no difference
is kept. Each pair of runs is compared once: what differs is shown and counted. Fails when fewer lines of a group of programs are equal than
cases.THRESHOLDS says. `--itself` compares strace with itself: what is not 100 % then is a fault of the harness. `--bpf` and
`--inprocess` compare what we show with --engine=bpf and --engine=inprocess to what we show with ptrace.
"""

import argparse
import concurrent.futures
import difflib
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import canonical
import cases
import runner

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'machines'))
import kernel_engine  # noqa: E402
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'peers'))
import peers  # noqa: E402

SKIPPED = 77  # ctest's SKIP_RETURN_CODE


def lines_of(run, options, program):
    """All that a user sees of a run, as {stream: lines}."""
    result = dict(canonical.streams(run.trace, options, program.masks, program.unordered))
    for name, text in (('stderr', run.stderr), ('stdout', run.stdout)):
        if text:
            result[name] = [canonical.masked(line, program.masks) for line in text.split('\n') if line]
    result['exit'] = [run.status]
    return result


class Comparison:
    """Aligned lines of one pair of runs."""

    def __init__(self, theirs, ours):
        self.equal = 0
        self.total = 0
        self.differences = []
        for name in sorted(theirs.keys() | ours.keys()):
            self._compare(name, theirs.get(name, []), ours.get(name, []))

    def _compare(self, name, theirs, ours):
        matcher = difflib.SequenceMatcher(None, theirs, ours, autojunk=False)
        for kind, i1, i2, j1, j2 in matcher.get_opcodes():
            if kind == 'equal':
                self.equal += i2 - i1
                self.total += i2 - i1
            else:
                self.add_difference(f'{name}: ' if name else '', theirs[i1:i2], ours[j1:j2])

    def add_difference(self, label, theirs, ours):
        self.total += max(len(theirs), len(ours))
        self.differences.append((label, theirs, ours))

    @property
    def share(self):
        return 100 * self.equal / self.total if self.total else 100.0


def compare(tracers, program, options):
    """One run under each of `tracers`, theirs and ours: each a command with its options."""
    runs = [runner.run(tracer, options, program) for tracer in tracers]
    theirs, ours = (lines_of(run, options, program) for run in runs)
    result = Comparison(theirs, ours)
    if not all(run.ended for run in runs):
        result.add_difference('exit: ', *([run.status] for run in runs))
    return result


def around_first_difference(line, other):
    """At most 200 characters of the line; the place where it differs from the other is among them."""
    start = max(0, len(os.path.commonprefix([line, other])) - 80)
    return ('…' if start else '') + line[start:start + 200] + ('…' if len(line) > start + 200 else '')


def show(differences, limit):
    for label, theirs, ours in differences[:limit]:
        for sign, lines, others in (('-', theirs, ours), ('+', ours, theirs)):
            for line, other in itertools.zip_longest(lines[:6], others[:len(lines)][:6], fillvalue=''):
                print(f'      {sign} {label}{around_first_difference(line, other)}')
            if len(lines) > 6:
                print(f'      {sign} … {len(lines) - 6} lines more')
    if len(differences) > limit:
        print(f'      … {len(differences) - limit} places more')


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tracer = parser.add_mutually_exclusive_group(required=True)
    tracer.add_argument('--ours')
    tracer.add_argument('--itself', action='store_true', help='the other tracer with itself')
    parser.add_argument('--theirs', help='another strace than the one that peers.py finds')
    tracer.add_argument('--inprocess', help='as --ours: the calls that programs record themselves, beside ptrace')
    parser.add_argument('--bpf', action='store_true', help='our two engines with each other')
    parser.add_argument('--full', action='store_true', help='all options for all programs; else a subset')
    parser.add_argument('--only', default='', help='regular expression on "PROGRAM | OPTIONS"')
    parser.add_argument('--threshold', type=float, help='per cent, instead of cases.THRESHOLDS')
    parser.add_argument('--show', type=int, default=3, help='how many differences of a pair are printed')
    parser.add_argument('--build', type=pathlib.Path, help='where the probing programs are compiled')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    arguments.ours = arguments.ours or arguments.inprocess
    beside_ourselves = arguments.bpf or arguments.inprocess
    arguments.theirs = os.path.realpath(arguments.ours if beside_ourselves else arguments.theirs or peers.need_reference())
    arguments.ours = os.path.realpath(arguments.ours) if arguments.ours else arguments.theirs
    return arguments


def main():
    arguments = parse_arguments()
    for tracer in (arguments.ours, arguments.theirs):
        if not os.access(tracer, os.X_OK):
            print(f'SKIPPED: {tracer} is not there')
            sys.exit(SKIPPED)
    reason = runner.why_not() or (arguments.bpf and kernel_engine.why_not(arguments.ours))
    if arguments.inprocess:
        tried = subprocess.run([arguments.ours, '--engine=inprocess', '-f', 'true'], capture_output=True, text=True, check=False)
        reason = reason or (tried.returncode != 0 and tried.stderr)
    if reason:
        print(f'SKIPPED: {reason}')
        sys.exit(SKIPPED)
    tracers = [[arguments.theirs], [arguments.ours]]
    if arguments.bpf:
        # Of equal length, as where a program's stack begins hangs on the memory of who starts it.
        tracers = [[arguments.ours, '--eng=ptrace'], [arguments.ours, '--engine=bpf']]
    elif arguments.inprocess:
        tracers = [[arguments.ours, '--engine=ptrace'], [arguments.ours, '--eng=inprocess']]
    with tempfile.TemporaryDirectory(prefix='compat.') as scratch:
        build = (arguments.build or pathlib.Path(scratch)).resolve()
        lacking = cases.NOT_BY_BPF if arguments.bpf else cases.NOT_INSIDE if arguments.inprocess else None
        pairs = [(program, options) for program, options in cases.pairs(build, arguments.full, lacking)
                 if re.search(arguments.only, f'{program.name} | {" ".join(options)}')]
        groups = {}
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            results = pool.map(lambda pair: compare(tracers, *pair), pairs)
            for (program, options), result in zip(pairs, results):
                groups.setdefault(program.group, []).append(result)
                print(f'{result.share:6.2f} % of {result.total:6} lines: {program.name} | {" ".join(options)}', flush=True)
                show(result.differences, arguments.show)
    failed = False
    for group, results in groups.items():
        equal, total = sum(result.equal for result in results), sum(result.total for result in results)
        share = 100 * equal / total
        perfect = sum(result.share == 100 for result in results)
        print(f'{group}: {share:.3f} % of {total} lines are equal; {perfect} of {len(results)} comparisons are perfect')
        of_engine = cases.OF_BPF if arguments.bpf or arguments.inprocess else cases.THRESHOLDS
        threshold = arguments.threshold or of_engine.get(group, cases.THRESHOLDS[group])
        if share < threshold:
            print(f'FAILED: {group} below {threshold} %: {len(results) - perfect} comparisons differ')
            failed = True
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
