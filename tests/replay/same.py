#!/usr/bin/python3
"""Replayed text equals live text: byte for byte, in one run.

Each program of the compatibility harness runs once under --record beside a live text view; then the recording is
replayed with the same options, and the two texts are compared.

    same.py --tracer build/tracer --build DIR [--engine bpf|inprocess] [--full] [--only REGEX] [--show N]
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'compat'))
import cases  # noqa: E402
import runner  # noqa: E402

# What decides how a run goes, and not how it shows.
SOURCE = re.compile(r'(inject|fault)=')


def replay_options(options):
    """Returns the options of a run that a replay takes as well."""
    kept = []
    words = iter(options)
    for word in words:
        if word == '-e':
            value = next(words)
            kept += [] if SOURCE.match(value) else [word, value]
        else:
            kept.append(word)
    return kept


def compare(tracer, engine, program, options):
    """Returns the live and the replayed text, and what went wrong."""
    options = [option for option in options if option != 'stderr']
    if '-c' in options or '-C' in options:
        options = ['-O', '0', *options]  # else each run measures its own overhead
    with tempfile.TemporaryDirectory(prefix='same.') as results:
        folder = pathlib.Path(results)
        again = [str(tracer), f'--replay={folder}/record', *replay_options(options), '-o', f'{folder}/replayed']
        # In the world of the run, as paths of -P are looked up there.
        wrapper = ['/usr/bin/python3', str(HERE / 'twice.py'), str(folder / 'again'), str(tracer), *engine,
                   f'--record={folder}/record']
        (folder / 'again').write_text('\0'.join(again))
        live = runner.run(wrapper, options, program)
        replayed = folder / 'replayed'
        text = replayed.read_bytes().decode('latin-1') if replayed.exists() else ''
        complaints = (folder / 'again.err').read_text() if (folder / 'again.err').exists() else live.stderr
        return live, text, complaints


def report(name, live, replayed, complaints, show):
    """Prints what differs; returns whether all is equal."""
    if not live.ended:
        print(f'{name}: the run did not end: {live.status}: {live.stderr[-300:]}')
        return False
    if live.trace == replayed and live.trace:
        return True
    theirs, ours = live.trace.splitlines(), replayed.splitlines()
    print(f'{name}: {len(theirs)} lines live, {len(ours)} replayed; {complaints.strip()[:300]}')
    shown = 0
    for number in range(max(len(theirs), len(ours))):
        pair = [lines[number] if number < len(lines) else '(none)' for lines in (theirs, ours)]
        if pair[0] != pair[1]:
            print(f'  - {pair[0][:400]}\n  + {pair[1][:400]}')
            shown += 1
            if shown == show:
                break
    return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--tracer', type=pathlib.Path, required=True)
    parser.add_argument('--build', type=pathlib.Path, required=True, help='where the programs are compiled')
    parser.add_argument('--engine', choices=('ptrace', 'bpf', 'inprocess'), default='ptrace')
    parser.add_argument('--full', action='store_true')
    parser.add_argument('--only', default='')
    parser.add_argument('--show', type=int, default=3, help='differences of each run to show')
    arguments = parser.parse_args()
    why = runner.why_not()
    if why:
        print(f'skipped: {why}')
        return 77
    engine = [f'--engine={arguments.engine}']
    lacking = {'ptrace': None, 'bpf': cases.NOT_BY_BPF, 'inprocess': cases.NOT_INSIDE}[arguments.engine]
    pairs = [(program, options) for program, options in cases.pairs(arguments.build.resolve(), arguments.full, lacking)
             if re.search(arguments.only, f'{program.name} | {" ".join(options)}')]
    equal = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        results = pool.map(lambda pair: compare(arguments.tracer.resolve(), engine, *pair), pairs)
        for (program, options), result in zip(pairs, results):
            equal += report(f'{program.name} | {" ".join(options)}', *result, arguments.show)
    print(f'{equal} of {len(pairs)} runs are equal')
    return 0 if equal == len(pairs) and pairs else 1


if __name__ == '__main__':
    sys.exit(main())
