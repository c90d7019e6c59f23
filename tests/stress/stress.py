#!/usr/bin/python3
"""Stress tests and races: stress.py TRACER WORKLOAD [SECONDS]

First the fixed sizes: 10,000 processes, 2,000 threads, 1,000 queued signals, 30 programs executed by threads, each with
all its lines. Then, for SECONDS, whatever happens to a tracer at work, in random order: it attaches and is interrupted,
killed, stopped; its tracees are killed, stopped, sent signals. No tracee may be left behind stopped, dead or traced.
"""

import collections
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE = float(os.environ.get('TRACER_LIVE_PATIENCE', 20))  # seconds: how long what has to come may take
LIMIT = 6 * PATIENCE  # for one run


def trace(tracer, options, program, folder):
    """The lines that the tracer writes about a program that must end well."""
    out = folder / 'trace'
    run = subprocess.run([tracer, '-o', out, *options, *program], capture_output=True, text=True, timeout=LIMIT)
    assert run.returncode == 0, f'{program} ends with {run.returncode}: {run.stderr[-500:]}'
    return out.read_text().splitlines()


def calls(lines, name):
    return sum(f' {name}(' in line for line in lines)


def fixed_sizes(tracer, workload, folder):
    lines = trace(tracer, ['-f', '-e', 'trace=getppid,exit_group'], [workload, 'forks', '10000'], folder)
    ends = collections.Counter(re.findall(r'\+\+\+ exited with (\d) \+\+\+', '\n'.join(lines)))
    assert ends == {str(status): 1250 + (status == 0) for status in range(8)}, ends
    assert calls(lines, 'getppid') == 10000 and calls(lines, 'exit_group') == 10001

    lines = trace(tracer, ['-f', '-e', 'trace=getppid'], [workload, 'threads', '2000'], folder)
    assert calls(lines, 'getppid') == 2000 and sum('+++ exited with 0' in line for line in lines) == 2001

    lines = trace(tracer, ['-e', 'trace=none'], [workload, 'signals', '1000'], folder)
    values = [int(value or 0) for value in re.findall(r'^--- SIGRT\S* \{.*?(?:si_int=(\d+).*)?\} ---$', '\n'.join(lines), re.M)]
    assert values == list(range(1000)), (len(values), lines[:3])

    lines = trace(tracer, ['-f', '-e', 'trace=execve'], [workload, 'execs', '30'], folder)
    assert calls(lines, 'execve') == 31, calls(lines, 'execve')
    assert sum('+++ superseded by execve' in line for line in lines) == 30


def state_of(pid):
    try:
        status = pathlib.Path(f'/proc/{pid}/status').read_text()
    except OSError:
        return 'gone'
    if re.search(r'^TracerPid:\t[1-9]', status, re.M):
        return 'traced'
    return re.search(r'^State:\t(\w)', status, re.M)[1]


def wait_until(question, what):
    until = time.monotonic() + PATIENCE
    while not question():
        assert time.monotonic() < until, f'not within {PATIENCE:.0f} s: {what}'
        time.sleep(0.01)


def is_alive(victim, output):
    """Whether it makes progress, untraced and not stopped."""
    wait_until(lambda: state_of(victim.pid) in 'RSD', f'process goes on, it is {state_of(victim.pid)}')
    size = output.stat().st_size
    wait_until(lambda: output.stat().st_size > size, 'process makes progress')


def race(tracer, workload, folder, dice):
    """A tracer is attached to a process while signals come, and one of them ends."""
    output = folder / 'victim'
    with open(output, 'w') as sink:
        victim = subprocess.Popen([workload, 'work', str(dice.randint(0, 5))], stdout=sink)
    wait_until(lambda: output.stat().st_size > 0, 'process starts')
    options = dice.choice([['-f'], [], ['-f', '-e', 'trace=none'], ['-c'], ['-f', '-ff'], ['-e', 'inject=getppid:retval=1']])
    out = folder / 'race'
    tracing = subprocess.Popen([tracer, '-o', out, '-q', *options, '-p', str(victim.pid)], stderr=subprocess.PIPE, text=True)
    attached = dice.random() < 0.8 and '-c' not in options
    if attached:  # counting needs no attaching where there is BPF
        wait_until(lambda: state_of(victim.pid) == 'traced' or tracing.poll() is not None, 'tracer attaches')
    for _ in range(dice.randint(0, 20)):
        victim.send_signal(dice.choice([signal.SIGUSR1, signal.SIGCONT, signal.SIGSTOP]))
        time.sleep(dice.random() * 0.005)
    victim.send_signal(signal.SIGCONT)
    time.sleep(dice.random() * 0.1)
    end = dice.choice(['interrupt', 'terminate', 'kill', 'kill tracee'])
    if end == 'kill tracee':
        victim.kill()
        victim.wait(PATIENCE)
        ended = tracing.wait(PATIENCE)
        if ended == 1 and not attached:
            # Nothing there any more, or what nobody has collected yet.
            words = tracing.stderr.read()
            assert re.search('No such process|has ended', words), words
            return end
        assert ended == 0, tracing.stderr.read()
    else:
        tracing.send_signal({'interrupt': signal.SIGINT, 'terminate': signal.SIGTERM, 'kill': signal.SIGKILL}[end])
        tracing.wait(PATIENCE)
        victim.send_signal(signal.SIGCONT)
        is_alive(victim, output)
        victim.kill()
        victim.wait(PATIENCE)
    words = tracing.stderr.read()
    assert not re.search(r'AddressSanitizer|runtime error|assert|LeakSanitizer', words), words
    tracing.stderr.close()
    return f'{" ".join(options) or "-"}: {end}'


def main():
    tracer, workload = sys.argv[1:3]
    seconds = float(os.environ.get('STRESS_SECONDS') or (sys.argv[3] if len(sys.argv) > 3 else 10))
    seed = int(os.environ.get('STRESS_SEED') or time.time())
    print(f'STRESS_SEED={seed}', flush=True)
    dice = random.Random(seed)
    # In the background of a shell it is ignored; a tracer that inherits that would lose one that comes while it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        start = time.monotonic()
        fixed_sizes(tracer, workload, folder)
        print(f'fixed sizes: {time.monotonic() - start:.1f} s', flush=True)
        end = time.monotonic() + seconds
        kinds = collections.Counter()
        while time.monotonic() < end:
            kinds[race(tracer, workload, folder, dice)] += 1
    print(f'{sum(kinds.values())} races of {len(kinds)} kinds')


if __name__ == '__main__':
    main()
