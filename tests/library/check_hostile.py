#!/usr/bin/python3
"""Programs that make it hard to watch their calls, and tracers that come and go.

    check_hostile.py TRACER SOURCES [CASE...]     runs all cases, or those whose names begin so
"""

import contextlib
import pathlib
import signal
import subprocess
import sys
import time

from bench import TIMEOUT, calls_in, run_in_folder
from cases import PATIENCE, expect, rounds

# What a program does, the options, and its status then; every call of abs() that is made must be there, or, where their
# number is up to chance, none in particular.
PROGRAMS = {
    'rewritten': (10, None),  # breakpoints that it writes over are gone
    'remapped': (11, 20),
    'loaded': (12, 200),
    'forked': (13, 400),
    'vforked': (13, 400),
    'executing': (17, None),
    'jumping': (14, 600),
    'signalled': (15, None),
    'coroutines': (16, 400),
    'trapping': (18, 40),
    'cleared': (19, 21),
    'confined': (20, 20),
    'sharing': (21, 40),
    'stopping': (22, None),
}


def hostile(bench, what):
    """It comes to the same end with breakpoints, wherever they are, and its calls are there."""
    program = bench.build('hostile.c', ['gcc', '-Wl,-z,lazy'], 'hostile')
    arguments = [what]
    if what == 'loaded':
        arguments.append(str(bench.build('plugin.c', ['gcc', '-shared', '-fPIC'], 'plugin.so')))
    expected, calls = PROGRAMS[what]
    for options in (['-e', 'library=abs'], ['-e', 'symbol=abs@libc.so*+own@MAIN', '-e', 'library=*-abs*']):
        lines, status = bench.trace(['-f', '-q', '-e', 'trace=none', '-e', 'signal=none', *options], program, arguments)
        expect(status == expected, f'{options}: status {status}')
        found = [name for name, _ in calls_in(lines) if name == 'abs']
        expect(len(found) == calls if calls is not None else found, f'{options}: {len(found)} calls')
        if what == 'coroutines':
            expect(not any('<unwound>' in line for line in lines), 'calls that were over:\n' + '\n'.join(lines))
            returned = sum('<... swapcontext' in line for line in lines)
            expect(returned == (400 if 'library=abs' not in options else 0), f'{returned} returns of swapcontext')


def faulting_at_breakpoint(bench):
    """An instruction under a breakpoint may fault, also where it has to be stepped over in its place."""
    program = bench.build('hostile.c', ['gcc', '-Wl,-z,lazy'], 'hostile')
    lines, status = bench.trace(['-e', 'trace=none', '-e', 'symbol=touch@MAIN'], program, ['faulting'])
    expect(status == 18, f'status {status}: ' + '\n'.join(lines[:20]))
    expect([name for name, _ in calls_in(lines)] == ['touch'] * 2, '\n'.join(lines))
    expect(sum('--- SIGSEGV' in line for line in lines) == 1, '\n'.join(lines))


def copied(bench):
    """What a program copies of its code has breakpoints, too, and runs nevertheless."""
    program = bench.build('hostile.c', ['gcc', '-Wl,-z,lazy'], 'hostile')
    lines, status = bench.trace(['-f', '-q', '-e', 'trace=none', '-e', 'symbol=twice@MAIN'], program, ['copied'])
    expect(status == 23, f'status {status}: ' + '\n'.join(lines[-20:]))
    expect([name for name, _ in calls_in(lines)] == ['twice'] * 20, '\n'.join(lines))


def waiting_at_breakpoint(bench):
    """An instruction under a breakpoint may wait for what another thread does."""
    program = bench.build('hostile.c', ['gcc', '-Wl,-z,lazy'], 'hostile')
    chosen = ['-e', 'symbol=read_first+own@MAIN']
    lines, status = bench.trace(['-f', '-q', '-e', 'trace=none', *chosen], program, ['waiting'])
    expect(status == 24, f'status {status}: ' + '\n'.join(lines[-20:]))
    expect(any('own@' in line for line in lines), '\n'.join(lines))


def interrupted_at_breakpoint(bench):
    """A tracer ends at SIGTERM, also while an instruction under a breakpoint waits."""
    program = bench.build('hostile.c', ['gcc', '-Wl,-z,lazy'], 'hostile')
    log = bench.folder / 'interrupted'
    tracer = subprocess.Popen([bench.tracer, '-f', '-q', '-I2', '-o', str(log), '-e', 'trace=none',
                               '-e', 'symbol=read_first@MAIN', str(program), 'waiting', 'for ever'],
                              stdout=subprocess.PIPE)
    tracer.stdout.readline()  # until it waits
    tracer.terminate()
    tracer.wait(PATIENCE)  # else it waits as long as the instruction, for ever


def detached_in_odd_states(bench):
    """A tracer ends at SIGINT, also where the first thread has ended, or a trap is pending that nobody takes."""
    program = bench.build('hostile.c', ['gcc', '-Wl,-z,lazy', '-pthread'], 'hostile')
    for what, function in (('leaving', 'own'), ('spinning', 'spin')):
        running = subprocess.Popen([str(program), what])
        try:
            state = pathlib.Path(f'/proc/{running.pid}/stat')
            tracer = attached(bench, running, bench.folder / 'log', f'symbol={function}@MAIN')
            wait_until(time.monotonic() + PATIENCE, lambda: not is_untraced(running))
            if what == 'leaving':
                wait_until(time.monotonic() + PATIENCE, lambda: state.read_text().rpartition(')')[2].startswith(' Z'))
                wait_until(time.monotonic() + PATIENCE, lambda: has_calls(bench.folder / 'log'))
            tracer.send_signal(signal.SIGINT)
            tracer.wait(PATIENCE)
            expect(is_untraced(running), f'{what}: still traced')
            expect_life(running, what)
        finally:
            tracer.kill()
            running.kill()
            running.wait()


def stripped_static_pie(bench):
    """Nothing is known of it, and nothing is done to it."""
    program = bench.build('calls.c', ['gcc', '-static-pie', '-s'], 'stripped')
    lines, status = bench.trace(['-e', 'trace=none', '-e', 'library=*', '-e', 'symbol=*'], program)
    expect(status == 3 and lines[-1] == '+++ exited with 3 +++', f'status {status}: ' + '\n'.join(lines))


@contextlib.contextmanager
def endless(bench):
    """A process that goes on until SIGTERM, and whose status then says that it has come through unharmed."""
    running = subprocess.Popen([str(bench.build('endless.c', ['gcc']))], stdout=subprocess.PIPE)
    try:
        running.stdout.read()  # until it can be told
        yield running
        running.terminate()
        expect(running.wait(PATIENCE) == 9, f'it ended with {running.returncode}')
    finally:
        running.kill()
        running.wait()


def attached(bench, running, log, *expressions, **more):
    log.unlink(missing_ok=True)  # so that calls in it are of this tracer
    chosen = [word for expression in ('trace=none', *expressions) for word in ('-e', expression)]
    return subprocess.Popen([bench.tracer, '-q', '-o', str(log), *chosen, '-p', str(running.pid)], **more)


def wait_until(end, question):
    while not question() and time.monotonic() < end:
        time.sleep(0.005)


def has_calls(log):
    return log.exists() and log.stat().st_size >= 2000


def is_untraced(process):
    return 'TracerPid:\t0' in pathlib.Path(f'/proc/{process.pid}/status').read_text()


def expect_life(process, what):
    expect(process.poll() is None, f'{what}: the process died: {process.returncode}')


def killed_tracer(bench):
    log = bench.folder / 'log'
    with endless(bench) as running:
        for round_ in range(3):
            tracer = attached(bench, running, log, 'library=abs@MAIN')
            end = time.monotonic() + PATIENCE
            wait_until(end, lambda: has_calls(log))
            tracer.kill()
            tracer.wait()
            wait_until(end, lambda: is_untraced(running))
            expect_life(running, f'round {round_}')


def killed_at_any_moment(bench):
    """Also while breakpoints are being placed: whoever is left behind takes them away."""
    with endless(bench) as running:
        for round_ in range(rounds(10)):
            tracer = attached(bench, running, bench.folder / 'log', 'symbol=abs@libc.so*', 'library=*')
            if round_ % 2:
                wait_until(time.monotonic() + PATIENCE, lambda: not is_untraced(running))
            time.sleep(round_ * 0.004)
            tracer.kill()
            tracer.wait()
            wait_until(time.monotonic() + PATIENCE, lambda: is_untraced(running))
            expect_life(running, f'round {round_}')


def attach_and_detach(bench):
    log = bench.folder / 'log'
    with endless(bench) as running:
        for round_ in range(rounds(20)):
            # With system calls, too, threads are in one when the tracer detaches; over an entry they step elsewhere.
            chosen = (['library=abs@MAIN'], ['symbol=abs@libc.so*', 'trace=getppid'])[round_ // 2 % 2]
            tracer = attached(bench, running, log, *chosen, stderr=subprocess.PIPE)
            wait_until(time.monotonic() + PATIENCE, lambda: has_calls(log))
            tracer.send_signal((signal.SIGTERM, signal.SIGINT)[round_ % 2])
            tracer.wait(PATIENCE)
            expect(log.stat().st_size >= 2000, f'round {round_}: no calls seen: {tracer.stderr.read()}')
            expect_life(running, f'round {round_}')
        for round_ in range(rounds(20)):
            subprocess.run(f'{bench.tracer} -q -e trace=none -e library=abs@MAIN -p {running.pid} 2>&1 | head -n 20',
                           shell=True, stdout=subprocess.DEVNULL, timeout=TIMEOUT)
            expect_life(running, f'pipe {round_}')


CASES = {case.__name__: case
         for case in (faulting_at_breakpoint, waiting_at_breakpoint, interrupted_at_breakpoint, copied,
                      detached_in_odd_states, stripped_static_pie, killed_tracer, killed_at_any_moment, attach_and_detach)}


def main():
    programs = {name: (lambda bench, n=name: hostile(bench, n)) for name in PROGRAMS}
    return run_in_folder({**programs, **CASES})


if __name__ == '__main__':
    sys.exit(main())
