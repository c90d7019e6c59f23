#!/usr/bin/python3
"""Calls of functions that programs record themselves (--engine=inprocess): the text is the same as with breakpoints, none is
missing, and no program notices.

    check_functions_inside.py TRACER SOURCES_OF_LIBRARY_TESTS [CASE...]     runs all cases, or those whose names begin so
"""

import ctypes
import difflib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'library'))

from bench import TIMEOUT, run_in_folder  # noqa: E402
from cases import expect  # noqa: E402

INSIDE = ['--engine=inprocess', '-q', '-f']


def plain(lines):
    """Without what differs from run to run."""
    lines = [re.sub(r'\d{6,}', 'NUMBER', re.sub(r'0x[0-9a-f]+', 'ADDRESS', re.sub(r' += ', ' = ', line))) for line in lines]
    # What std::string has at its beginning when it asks itself where that is is left from before.
    return [re.sub(r'^\d+ +', '', re.sub(r'(::_M_data@.*) = .*', r'\1', line)) for line in lines]


def same(source):
    def case(bench):
        program = bench.build(source, ['g++' if source.endswith('.cpp') else 'gcc'])
        options = ['-q', '-f', '-e', 'trace=write', '-e', 'library=*']
        expected, status = bench.trace(['--engine=ptrace', *options], program)
        found, status_inside = bench.trace(['--engine=inprocess', *options], program)
        differing = '\n'.join(difflib.unified_diff(plain(expected), plain(found), 'breakpoints', 'inside', n=0, lineterm=''))
        expect(not differing, f'{len(found)} lines are not the {len(expected)} of breakpoints:\n{differing}')
        expect(status == status_inside, f'status {status_inside}, not {status}')
    return case


def without_stops(bench):
    """What the feature is for: a loop stops for the tracer no more often than a few calls do."""
    program = bench.build('threads.c', ['gcc'])
    done = subprocess.run([bench.tracer, *INSIDE, '-d', '-o', '/dev/null', '-e', 'trace=none', '-e', 'library=abs', str(program), '1', '5000'],
                          capture_output=True, text=True, timeout=TIMEOUT)
    stops = done.stderr.count('sig=SIGTRAP\n')
    expect(done.returncode == 7 and 'the program records calls' in done.stderr, f'status {done.returncode}: {done.stderr[:500]}')
    expect(stops < 50, f'{stops} stops')


def counts(bench):
    program = bench.build('threads.c', ['gcc'])
    for threads, each in ((1, 20000), (8, 2000), (64, 200)):
        lines, status = bench.trace([*INSIDE, '-e', 'trace=none', '-e', 'library=abs'], program, [str(threads), str(each)])
        started = [line for line in lines if re.search(r' abs@.*\(', line)]
        returned = [line for line in lines if re.search(r'abs@.* = \d+$', line)]
        expect((len(started), len(returned), status) == (threads * each, threads * each, 7),
               f'{threads} threads: {len(started)} have started, {len(returned)} have returned; status {status}')


def run(bench, source, arguments, command=('gcc',)):
    """Returns the lines of a program that ends as it does untraced."""
    program = bench.build(HERE / source, list(command))
    expect(program is not None, f'{source} does not compile')
    bare = subprocess.run([str(program), *arguments], capture_output=True, text=True, timeout=TIMEOUT)
    log = bench.folder / 'log'
    done = subprocess.run([bench.tracer, *INSIDE, '-o', str(log), '-e', 'trace=none', '-e', 'library=*', str(program), *arguments],
                          capture_output=True, text=True, timeout=TIMEOUT)
    expect((done.returncode, done.stdout) == (bare.returncode, bare.stdout),
           f'status {done.returncode}, not {bare.returncode}; it says: {done.stdout}{done.stderr}')
    expect(bare.returncode not in (0, 1), f'the program fails untraced: {bare.returncode}')
    return log.read_text(encoding='utf-8').splitlines()


def signals(bench):
    """Each call ends as it does, whatever instruction a signal comes at."""
    lines = run(bench, 'function_signals.c', ['1000'])
    wrong = [line for line in lines if re.search(r'strlen@.*"a text.* = ', line) and not re.search(r' = (21|<unwound>)$', line)]
    expect(len(lines) > 4000 and not wrong, f'{len(lines)} lines; wrong: {wrong[:5]}')


def children(bench):
    lines = run(bench, 'function_children.c', [])
    returned = {}
    for line in lines:
        if re.search(r'strlen@.* = 5$', line):
            pid = line.split()[0]
            returned[pid] = returned.get(pid, 0) + 1
    by_count = sorted(returned.values())
    expect(by_count[:4] == [1, 10, 10, 10], f'calls by process: {by_count}')
    expect(len(by_count) == 25 and all(count >= 10 for count in by_count[1:]), f'calls by process: {by_count}')


def unwinding(bench):
    lines = run(bench, 'function_unwinding.cpp', [], ['g++', '-fnon-call-exceptions'])
    unwound = [line for line in lines if re.search(r'strlen@.*<unwound>$', line)]
    expect(len(unwound) == 10, f'{len(unwound)} are unwound')


def places(bench):
    library = bench.folder / 'length.c'
    library.write_text('#include <string.h>\nint length(const char* text) { return (int)strlen(text); }\n')
    bench.build(library, ['gcc', '-shared', '-fPIC'], 'liblength.so')
    lines = run(bench, 'function_places.c', [str(bench.folder / 'liblength.so')])
    of_library = [line for line in lines if re.search(r'strlen@[^(]*\("abc"\) += 3$', line)]
    expect(len(of_library) >= 20, f'{len(of_library)} calls of the library')


def refused(bench):
    """A call that was recorded returns where nothing is recorded any more: nothing is lost, and nothing silent."""
    for way in ('vfork', 'filter'):
        lines = run(bench, 'function_refused.c', [way])
        lengths = [line for line in lines if re.search(r'strlen@[^(]*\("aaaa|strlen@.*resumed>', line)]
        ended = [line for line in lines if re.search(r'strlen@.* = 134217728$', line)]
        started = [line for line in lines if re.search(r'strlen@[^(]*\("aaaa', line)]
        expect(started and len(ended) == len(started), f'{way}: {lengths}')
        short = [line for line in lines if re.search(r'strlen@[^(]*\("abc"\) += 3$', line)]
        expect(len(short) == 10, f'{way}: {len(short)} calls behind it')


def endless(bench):
    """A program that calls functions until it is killed."""
    source = bench.folder / 'endless_calls.c'
    source.write_text('#include <stdio.h>\n#include <string.h>\n#include <unistd.h>\n'
                      'int main(int argc, char** argv) { printf("%d\\n", getpid()); fflush(stdout); for (long i = 0; argc == 1 || i < 5; ++i) if (strlen(argv[0]) == 0) return 1; return puts("") < 0; }\n')
    return bench.build(source, ['gcc'])


def reasons(bench):
    """-d says of each function why it stops at a breakpoint."""
    done = subprocess.run([bench.tracer, *INSIDE, '-d', '-o', '/dev/null', '-e', 'trace=none', '-e', 'library=@MAIN', str(endless(bench)), 'few'],
                          capture_output=True, text=True, timeout=TIMEOUT)
    said = re.findall(r'functions: calls of (\w+) at 0x[0-9a-f]+ stop at a breakpoint: (.*)', done.stderr)
    expect(('puts', 'it is not described as a leaf') in said and 'strlen' not in [name for name, _ in said], f'{said}: {done.stderr}')


def wait_until(what):
    end = time.monotonic() + TIMEOUT
    while not what() and time.monotonic() < end:
        time.sleep(0.01)
    return what()


def state_of(process):
    try:
        return pathlib.Path(f'/proc/{process}/stat').read_text(encoding='utf-8').rsplit(')', 1)[1].split()[0]
    except FileNotFoundError:
        return 'X'


def ended(bench, end):
    """Ends a tracer whose program is in the midst of it. Returns what was written, if the program is gone then."""
    log = bench.folder / 'log'
    with open(log, 'wb') as lines:
        tracing = subprocess.Popen([bench.tracer, *INSIDE, '-e', 'trace=none', '-e', 'library=strlen', str(endless(bench))],
                                   stdout=subprocess.PIPE, stderr=lines)
    try:
        process = int(tracing.stdout.readline())
        expect(wait_until(lambda: log.stat().st_size > 100000), 'nothing is reported')
        end(tracing, process)
        gone = wait_until(lambda: state_of(process) in 'ZX')
        if not gone:
            os.kill(process, signal.SIGKILL)
        expect(gone, 'the program lives on')
    finally:
        tracing.kill()
        tracing.communicate()
    return log.read_text(encoding='utf-8')


def killed(bench):
    """Nothing is left of a program whose tracer is killed: without it, its calls would fail."""
    def end(_, process):
        status = pathlib.Path(f'/proc/{process}/status').read_text(encoding='utf-8')
        os.kill(int(re.search(r'TracerPid:\s+(\d+)', status).group(1)), signal.SIGKILL)
    ended(bench, end)


def interrupted(bench):
    """The interrupted tracer ends the program that it has started, and the lines of all calls but the last are whole."""
    text = ended(bench, lambda tracing, _: tracing.send_signal(signal.SIGINT))
    wrong = [line for line in text.splitlines()[:-3] if not re.search(r'^strlen@\S+\(".*"(\.\.\.)?\) += \d+$', line)]
    expect(text.endswith('\n') and not wrong, f'{wrong[:5]}')


SOURCES = ('calls.c', 'coroutines.c', 'exceptions.cpp', 'jumps.c', 'leaps.c', 'linked.c', 'nested.c', 'pieces.c', 'pointers.c',
           'prototypes.c', 'standard.cpp', 'tails.c', 'classes.cpp', 'passing.cpp', 'resolved.c')
CASES = {f'same_{source}': same(source) for source in SOURCES}
CASES |= {case.__name__: case for case in (without_stops, counts, signals, children, unwinding, places, refused, reasons, killed, interrupted)}

if __name__ == '__main__':
    ADDR_NO_RANDOMIZE = 0x40000
    ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)  # some addresses show as decimal numbers
    sys.exit(run_in_folder(CASES))
