#!/usr/bin/python3
"""Names in a hostile program neither drive a terminal nor forge a line or a member of JSON, whatever shows them.

    check_names.py TRACER SOURCES [CASE...]     runs all cases, or those whose names begin so
"""

import json
import os
import re
import shutil
import subprocess
import sys

from bench import TIMEOUT, run_in_folder
from cases import expect

# A line and a record of its own; a member; the colours of a terminal, in 7 and 8 bits; the direction of writing.
HOSTILE = '\n+++ exited +++\n{"v":1}\n","x":"y\x1b[2J\x9b31m\u202e\x7f\r'.encode()
NAME = re.compile(rb'NAME_OF_[A-Z_]+')


def hostile(match):
    """Of the same length, and different for each name."""
    return b'\nxy' + bytes(HOSTILE[(i + len(match[0])) % len(HOSTILE)] for i in range(3, len(match[0])))


def build(bench):
    """The program; None if it cannot be built here."""
    # One bucket, so that the loader finds the function by a name that has another hash.
    library = bench.build('names.c', ['gcc', '-g', '-shared', '-nostdlib', '-fPIC', '-Wl,--hash-style=sysv', '-DLIBRARY'],
                          'libnames.so')
    program = bench.build('names.c', ['gcc', '-g', '-Wl,-z,lazy', f'-L{bench.folder}', '-Wl,-rpath,$ORIGIN',
                                      '-Wl,--no-as-needed', '-lnames'], 'names')
    if library is None or program is None:
        return None
    for path in (library, program):
        path.write_bytes(NAME.sub(hostile, path.read_bytes()))
    # Also as the name of the file and of the command.
    own = bench.folder / 'own\x1b[2J'
    shutil.copy(program, own)
    return own


def bytes_of(bench, *options, arguments=()):
    """What is written to a file and to standard error."""
    log = bench.folder / 'log'
    log.unlink(missing_ok=True)
    done = subprocess.run([bench.tracer, '-o', str(log), *options, *arguments], capture_output=True, timeout=TIMEOUT,
                          env=dict(os.environ, DEBUGINFOD_URLS=''))
    return (log.read_bytes() if log.exists() else b'') + done.stdout + done.stderr


def expect_printable(what, text):
    lines = text.decode(errors='replace')
    bad = {c for c in lines if ord(c) < 32 and c not in '\n\t' or 0x7f <= ord(c) < 0xa0 or c in '\u202e\ufffd'}
    expect(not bad, f'{what}: {bad} in {text!r}')
    return lines.splitlines()


FUNCTIONS = ['-e', 'trace=getppid', '-e', 'library=*xy*@MAIN', '-e', 'symbol=*xy*@MAIN', '-e', 'usdt=*']
VIEWS = {
    'text': [],
    'names': ['-N'],
    'verbose': ['-v', '-X', 'verbose'],
    'stacks': ['-k'],
    'sources': ['-kk'],
    'counts': ['-c'],
    'counts_and_calls': ['-C'],
    'folded': ['--format=folded', '-k'],
    'commands': ['-f', '-Y'],
}


def text(bench, options):
    program = build(bench)
    if program is None:
        return 'this compiler cannot build it'
    lines = expect_printable(options, bytes_of(bench, *FUNCTIONS, *options, arguments=[program]))
    expect(any('xy' in line for line in lines), f'{options}: nothing shown: {lines}')
    forged = [line for line in lines if line.startswith(('+++ exited +++', '{"v":1}', '","x"', 'xy'))]
    expect(not forged, f'{options}: {lines}')


def records(bench):
    program = build(bench)
    if program is None:
        return 'this compiler cannot build it'
    for options in ([], ['-k'], ['-kk']):
        lines = expect_printable(options, bytes_of(bench, '--format=json', *FUNCTIONS, *options, arguments=[program]))
        kinds = [json.loads(line)['type'] for line in lines]
        expect(kinds.count('exit') == 1 and {'library', 'probe', 'syscall'} <= set(kinds), f'{kinds}')
        expect(not any('"x":"y' in line for line in lines), f'{lines}')


def ltrace(bench):
    program = build(bench)
    if program is None:
        return 'this compiler cannot build it'
    link = bench.folder / 'ltrace'
    link.unlink(missing_ok=True)
    link.symlink_to(bench.tracer)
    for options in (['-e', '*'], ['-x', '*xy*'], ['-c'], ['-x', '*xy*', '-w', '5']):
        done = subprocess.run([link, *options, program], capture_output=True, timeout=TIMEOUT,
                              env=dict(os.environ, DEBUGINFOD_URLS=''))
        expect_printable(options, done.stderr)


def lists(bench):
    program = build(bench)
    if program is None:
        return 'this compiler cannot build it'
    lines = expect_printable('--list-probes', bytes_of(bench, f'--list-probes={program}'))
    expect(sum('\\012' in line or '\\033' in line for line in lines) > 3, f'{lines}')
    expect(all(line.startswith(('usdt=', 'library=', 'symbol=')) for line in lines), f'{lines}')


def definitions(bench):
    path = bench.folder / 'hostile.sys'
    path.write_bytes(b'flags hostile : u32 "\x1b[2J???" { A=1 }\nclose(fd: hostile)\n')
    lines = expect_printable('--define', bytes_of(bench, f'--define={path}', arguments=['true']))
    expect(any('not printable' in line for line in lines), f'{lines}')


def main():
    views = {name: (lambda bench, o=options: text(bench, o)) for name, options in VIEWS.items()}
    return run_in_folder({**views, 'records': records, 'ltrace': ltrace, 'lists': lists, 'definitions': definitions})


if __name__ == '__main__':
    sys.exit(main())
