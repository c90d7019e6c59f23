#!/usr/bin/python3
"""Compares how two tracers show the calls of a plan that make_plan derives from the descriptions.

execute.c makes the calls, nothing acts on them. Both tracers see the same calls, so their lines pair up one to one. Ours is
called strace, and so writes strace's text to the letter: no difference is kept.
Fails when the share of equal lines is below THRESHOLDS. `--itself` compares strace with itself.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import canonical  # noqa: E402
import compare  # noqa: E402

# Per cent of equal lines: what has been reached so far, in the smallest sample that is taken, where one line is 0.05 %.
# Raise it, never lower.
THRESHOLDS = {'x86_64': 99.6, 'i386': 99.5}
# Options that change how values show.
MODES = ['', '-v', '-X raw', '-X verbose', '-x', '-xx', '-y', '-yy', '-Y', '--decode-pids=comm,pidns', '-e raw=all', '-e abbrev=none',
         '-e verbose=none', '-s 0', '-s 1', '-n', '-N']
# What has been reached under those that are behind.
MODE_THRESHOLDS = {'-v': 99.0, '-e abbrev=none': 99.0, '-e verbose=none': 99.0, '-s 0': 99.0, '-s 1': 99.3, '-N': 99.0}
FLAGS = {'x86_64': ['-m64'], 'i386': ['-m32']}
COMPILERS = {'x86_64': ['gcc'], 'i386': ['gcc-12', 'gcc']}
CHUNK = 10000  # scenes of one run of the tracers
TIMEOUT = 120  # seconds, of one such run
LARGEST_TRACE = 100 << 20  # bytes


def compile_executor(abi, build):
    binary = build / f'execute-{abi}'
    source = HERE / 'execute.c'
    if binary.exists() and binary.stat().st_mtime > source.stat().st_mtime:
        return binary
    for compiler in COMPILERS[abi]:
        if shutil.which(compiler):
            done = subprocess.run([compiler, *FLAGS[abi], '-O1', '-D_GNU_SOURCE', '-w', '-o', binary, source, '-idirafter',
                                   '/usr/include/x86_64-linux-gnu'], capture_output=True, text=True)
            if done.returncode == 0:
                return binary
    return None


def read_excluded():
    """What no plan may contain, from the file that gives the reasons."""
    lines = (HERE / 'excluded.txt').read_text().splitlines()
    return re.compile('|'.join(line.split(' | ')[0] for line in lines if line and not line.startswith('#')))


def chunks(plan, index):
    """(scenes, their labels), CHUNK at a time."""
    excluded = read_excluded()
    start, scenes, labels = 0, [], []
    for label in index:
        size = struct.unpack_from('<I', plan, start)[0]
        if not excluded.fullmatch(label.replace('\t', ' ')):
            scenes.append(plan[start:start + size])
            labels.append(label)
        start += size
        if len(scenes) == CHUNK:
            yield b''.join(scenes), labels
            scenes, labels = [], []
    if scenes:
        yield b''.join(scenes), labels


def trace(tracer, options, executor, plan):
    """What a tracer shows of the plan's calls, one text a call, or None."""
    shown = shown_calls(lines_of(tracer, options, executor, plan), options)
    if shown is None:
        print(f'{tracer}: the trace ends early', file=sys.stderr)
    return shown


def lines_of(tracer, options, executor, plan):
    """All lines of a tracer. It is called strace, since the program behaves by its name."""
    with tempfile.TemporaryDirectory(prefix='probe.') as folder:
        os.symlink(tracer, folder + '/strace')
        try:
            subprocess.run(['prlimit', f'--fsize={LARGEST_TRACE}', 'setarch', 'x86_64', '-R', folder + '/strace', '-o', folder + '/trace', *options, executor,
                            plan], timeout=TIMEOUT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            print(f'{tracer}: took too long', file=sys.stderr)
        return pathlib.Path(folder + '/trace').read_bytes().decode('latin-1').split('\n')


BEFORE_CALL = re.compile(r'(?:\[[^]]*\] |CLOCK\d+ )*')  # what options put there, canonical.without_times makes of it
FIRST_CALL = re.compile(BEFORE_CALL.pattern + r'seccomp\((?:SECCOMP_SET_MODE_FILTER|0x1\b)')
LAST_CALL = re.compile(BEFORE_CALL.pattern + r'exit_group\(')
END = re.compile(BEFORE_CALL.pattern + r'\+\+\+ exited with 0 \+\+\+')


def shown_calls(lines, options):
    """What is shown of the calls of a plan, or None if the program has not come to its end. A dump of data belongs to the
    call before it; clocks do not show."""
    if '-f' in options:
        lines = own_lines(lines)
    lines = [canonical.without_times(line, options) for line in lines if line]
    if not lines or not END.match(lines.pop()):
        return None
    if LAST_CALL.match(lines[-1]):
        lines.pop()
    start = next((number for number, line in enumerate(lines, 1) if FIRST_CALL.match(line)), 0)
    calls = []
    for line in lines[start:]:
        if calls and line.startswith((' | ', ' * ', ' = ')):
            calls[-1] += '\n' + line
        else:
            calls.append(line)
    return calls


def own_lines(lines):
    """The lines of the process that makes the calls, without its number."""
    prefixes = [canonical.PID_PREFIX.match(line) for line in lines]
    own = [line[prefix.end():] for line, prefix in zip(lines, prefixes) if prefix and prefix[0] == prefixes[0][0]]
    return canonical.join_unfinished(own)


def pair_up(labels, theirs, ours):
    """(label, theirs, ours) of each call. Where options leave calls out, its label has no more than the name of the call."""
    if len(theirs) != len(ours):
        print(f'{len(theirs)} calls there, {len(ours)} here', file=sys.stderr)
        return []
    if len(theirs) != len(labels):
        labels = [re.sub(BEFORE_CALL.pattern + r'(\w*).*', r'\1\tone of them', line, flags=re.DOTALL) for line in theirs]
    return list(zip(labels, theirs, ours))


class Tally:
    """Equal and different calls, by name."""

    def __init__(self):
        self.total = collections.Counter()
        self.differences = collections.defaultdict(list)

    def add(self, label, theirs, ours):
        call, what = label.split('\t', 1)
        self.total[call] += 1
        if theirs != ours:
            self.differences[call].append((what, theirs.replace('\n', '⏎'), ours.replace('\n', '⏎')))

    def different(self):
        return sum(len(found) for found in self.differences.values())

    def share(self):
        total = max(1, sum(self.total.values()))
        return 100 * (total - self.different()) / total


def kind_of(theirs, ours):
    """What differences have in common that a reader would take for one: the text around, without numbers."""
    at = len(os.path.commonprefix([theirs, ours]))
    return tuple(re.sub(r'0x[0-9a-f]+|\d+', '0', text) for text in (theirs[max(0, at - 16):at + 10], ours[at:at + 10]))


def report(tally, abi, shown, only_calls, full_lines):
    worst = sorted(tally.differences, key=lambda call: -len(tally.differences[call]))
    for call in worst[:only_calls]:
        found = tally.differences[call]
        print(f'{abi} {call}: {len(found)} of {tally.total[call]} differ')
        kinds = collections.defaultdict(list)
        for difference in found:
            kinds[kind_of(*difference[1:])].append(difference)
        for alike in sorted(kinds.values(), key=len, reverse=True)[:shown]:
            what, theirs, ours = alike[0]
            print(f'    {len(alike)} as for {what}')
            for sign, line, other in (('-', theirs, ours), ('+', ours, theirs)):
                print(f'  {sign} ' + (line if full_lines else compare.around_first_difference(line, other)))
    total = sum(tally.total.values())
    perfect = sum(1 for call in tally.total if call not in tally.differences)
    print(f'{abi}: {tally.share():.3f} % of {total} lines are equal ({tally.different()} differ); '
          f'{perfect} of {len(tally.total)} calls show no difference')


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tracer = parser.add_mutually_exclusive_group(required=True)
    tracer.add_argument('--ours')
    tracer.add_argument('--itself', action='store_true', help='the other tracer with itself')
    parser.add_argument('--theirs', help='another strace than the one that peers.py finds')
    parser.add_argument('--make-plan', required=True, help='the program that writes plans')
    parser.add_argument('--build', type=pathlib.Path, help='directory for the executors')
    parser.add_argument('--abi', choices=list(THRESHOLDS), action='append')
    parser.add_argument('--every', type=int, default=1, help='only one scene of so many')
    parser.add_argument('--calls', default='', help='only these calls, separated by commas')
    parser.add_argument('--options', default='', help='options for the tracers, separated by blanks')
    parser.add_argument('--modes', action='store_true', help='one after the other, all options that change how values show')
    parser.add_argument('--show', type=int, default=2, help='differences of each call to show')
    parser.add_argument('--worst', type=int, default=20, help='calls to show')
    parser.add_argument('--full-lines', action='store_true')
    parser.add_argument('--threshold', type=float)
    arguments = parser.parse_args()
    arguments.theirs = os.path.realpath(arguments.theirs or compare.peers.need_reference())
    arguments.ours = os.path.realpath(arguments.ours) if arguments.ours else arguments.theirs
    return arguments


class Prober:
    """Runs both tracers with the plan of an ABI. `scratch` is a directory for the plans."""

    def __init__(self, arguments, abi, executor, scratch):
        self.arguments, self.abi, self.executor, self.scratch = arguments, abi, executor, scratch
        calls = [name for name in arguments.calls.split(',') if name]
        subprocess.run([arguments.make_plan, abi, scratch / 'all', scratch / 'index', str(arguments.every), *calls], check=True,
                       timeout=TIMEOUT)

    def tally(self, options):
        """The calls under these options, or None if a trace is not whole."""
        tally = Tally()
        plan, index = (self.scratch / 'all').read_bytes(), (self.scratch / 'index').read_text().splitlines()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for scenes, labels in chunks(plan, index):
                (self.scratch / 'plan').write_bytes(scenes)
                runs = [pool.submit(trace, tracer, options, self.executor, self.scratch / 'plan') for tracer in
                        (self.arguments.theirs, self.arguments.ours)]
                theirs, ours = (run.result() for run in runs)
                paired = theirs is not None and ours is not None and pair_up(labels, theirs, ours)
                if not paired:
                    return None
                for pair in paired:
                    tally.add(*pair)
        return tally

    def passes(self, options):
        """Whether as many lines are equal under these options as have been reached; reports the others."""
        tally = self.tally(options)
        if tally is None:
            return False
        title = ' '.join([self.abi, *options])
        report(tally, title, self.arguments.show, self.arguments.worst, self.arguments.full_lines)
        threshold = self.arguments.threshold
        if threshold is None:
            threshold = MODE_THRESHOLDS.get(' '.join(options), THRESHOLDS[self.abi])
        if not self.arguments.calls and tally.share() < threshold:
            print(f'FAILED: {title} below {threshold} %')
            return False
        return True


def main():
    arguments = parse_arguments()
    failed = False
    with tempfile.TemporaryDirectory(prefix='probe.') as scratch:
        scratch = pathlib.Path(scratch)
        build = (arguments.build or scratch).resolve()
        build.mkdir(parents=True, exist_ok=True)
        for abi in arguments.abi or list(THRESHOLDS):
            executor = compile_executor(abi, build)
            if executor is None:
                print(f'{abi}: skipped: no compiler for it')
                continue
            prober = Prober(arguments, abi, executor, scratch)
            for options in MODES if arguments.modes else [arguments.options]:
                failed = not prober.passes(options.split()) or failed
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
