#!/usr/bin/python3
"""Attaches to a busy program and ends, over and over: nobody is harmed, nothing is left behind.

    cycles.py TRACER WORKLOAD COUNT            a program of ours with threads that do nothing but calls
    cycles.py TRACER postgres COUNT [BIN]      a PostgreSQL server under pgbench; BIN: the directory of its programs

Each cycle takes an engine and a mode, attaches, and ends the tracer by SIGINT, SIGTERM or SIGKILL, or lets it detach by
itself. Then each thread of the program must run, untraced, without a new seccomp filter, and make progress. CYCLES_SEED
repeats a run.
"""

import collections
import os
import pathlib
import pwd
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE = float(os.environ.get('TRACER_LIVE_PATIENCE', 20))  # seconds
MODES = (
    [], ['-f'], ['-ff'], ['-f', '-e', 'trace=none'], ['-f', '-k'], ['-f', '-yy', '-T'], ['-f', '-P', '/dev/null'], ['-z'],
    ['-f', '--format=json'], ['-f', '--format=folded'], ['-f', '--record=RECORD'], ['-c'], ['-f', '-c', '--engine=ptrace'],
    ['-C', '-f'], ['--engine=bpf'], ['--engine=bpf', '--format=json', '-k'], ['--engine=bpf', '--record=RECORD'],
    ['-f', '-e', 'library=getppid'], ['-f', '-e', 'library=puts'], ['-c', '-e', 'library=puts'], ['--explain'],
    ['-f', '-e', 'inject=getppid:retval=1'], ['-f', '--survive'],
)
ENDS = ('SIGINT', 'SIGTERM', 'SIGKILL', 'detach')


def wait_until(question, what):
    until = time.monotonic() + PATIENCE
    while not question():
        assert time.monotonic() < until, f'not within {PATIENCE:.0f} s: {what}'
        time.sleep(0.005)


def status_of(pid, tid):
    with open(f'/proc/{pid}/task/{tid}/status', encoding='utf-8') as status:
        return dict(line.split(':\t', 1) for line in status.read().splitlines() if ':\t' in line)


def threads_of(pid):
    """What must not change, by thread."""
    found = {}
    for tid in os.listdir(f'/proc/{pid}/task'):
        try:
            found[tid] = status_of(pid, tid)
        except (FileNotFoundError, ProcessLookupError):
            pass  # it has ended
    return found


def is_free(pid):
    return all(status['TracerPid'] == '0' and status['State'][0] in 'RSD' for status in threads_of(pid).values())


def family(pids):
    """The states of processes, their threads and their children, for a report of what went wrong."""
    lines = []
    for pid in pids:
        for tid, status in threads_of(pid).items():
            lines.append(f'{pid}/{tid}: {status["State"]}, traced by {status["TracerPid"]}')
            children = pathlib.Path(f'/proc/{pid}/task/{tid}/children').read_text(encoding='ascii').split()
            lines += [f'  child {line}' for line in family(children).splitlines()]
    return '\n'.join(lines)


def left_behind(mark):
    """Processes whose command line has the mark."""
    found = []
    for entry in os.listdir('/proc'):
        try:
            if entry.isdigit() and mark.encode() in pathlib.Path(f'/proc/{entry}/cmdline').read_bytes():
                found.append(int(entry))
        except OSError:
            pass
    return found


class Workload:
    def __init__(self, program, folder):
        self.output = folder / 'victim'
        with open(self.output, 'w', encoding='ascii') as sink:
            self.process = subprocess.Popen([program, 'work', '4'], stdout=sink)
        wait_until(self.makes_progress, 'the program starts')
        self.threads = len(threads_of(self.process.pid))

    def targets(self):
        return [self.process.pid]

    def makes_progress(self):
        size = self.output.stat().st_size
        if size > 1 << 24:
            os.truncate(self.output, 0)
            return True
        time.sleep(0.01)
        return self.output.stat().st_size > size

    def end(self):
        assert self.process.poll() is None, f'the program has ended: {self.process.returncode}'
        assert len(threads_of(self.process.pid)) == self.threads, 'threads are missing'
        self.process.kill()
        self.process.wait(PATIENCE)


class Postgres:
    """No transaction may fail, and the server must not restart a process."""

    def __init__(self, programs, folder):
        self.data = folder / 'data'
        owner = pwd.getpwnam('postgres')
        folder.chmod(0o777)
        self.as_owner = {'user': owner.pw_uid, 'group': owner.pw_gid, 'extra_groups': [], 'cwd': folder}
        self.programs = pathlib.Path(programs)
        self.address = ['-h', str(folder), '-p', '5499', '-U', 'postgres']
        self.run('initdb', '-A', 'trust', '-D', self.data)
        self.server = subprocess.Popen([self.programs / 'postgres', '-D', self.data, '-k', str(folder), '-p', '5499', '-h', ''],
                                       stderr=open(folder / 'server.log', 'w', encoding='utf-8'), **self.as_owner)
        self.log = folder / 'server.log'
        wait_until(lambda: 'ready to accept' in self.log.read_text(), 'the server starts')
        self.run('pgbench', *self.address, '-i', '-q', 'postgres')
        self.bench = subprocess.Popen([self.programs / 'pgbench', *self.address, '-c', '3', '-T', '1000000', '-P', '1', 'postgres'],
                                      stdout=subprocess.PIPE, stderr=open(folder / 'bench.log', 'w', encoding='utf-8'),
                                      text=True, **self.as_owner)
        self.progress = folder / 'bench.log'
        wait_until(lambda: len(self.backends()) == 3, 'the clients connect')

    def run(self, program, *words):
        subprocess.run([self.programs / program, *map(str, words)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, **self.as_owner)

    def backends(self):
        children = pathlib.Path(f'/proc/{self.server.pid}/task/{self.server.pid}/children').read_text().split()
        return [int(child) for child in children if b'postgres: postgres postgres' in
                pathlib.Path(f'/proc/{child}/cmdline').read_bytes()]

    def targets(self):
        return [self.server.pid, *self.backends()]

    def makes_progress(self):
        return self.bench.poll() is None  # a client whose transaction fails ends it

    def end(self):
        self.bench.send_signal(signal.SIGINT)
        self.bench.wait(PATIENCE)
        self.server.send_signal(signal.SIGINT)
        assert self.server.wait(PATIENCE) == 0, 'the server ended badly'
        bad = [line for line in self.log.read_text().splitlines() if 'PANIC' in line or 'was terminated by' in line]
        assert not bad, bad


def cycle(tracer, victim, folder, mode, end, dice):
    """Returns whether the tracer could do what was asked of it here."""
    out = folder / 'out'
    options = [str(folder / 'record').join(word.split('RECORD')) for word in mode]
    if end == 'detach':
        if '-c' in mode or '--explain' in mode or any('library' in word for word in mode):
            end = 'SIGINT'
        else:
            options.append(f'--syscall-limit={dice.randint(1, 200)}')
    targets = victim.targets()
    chosen = [word for pid in targets for word in ('-p', str(pid))]
    with subprocess.Popen([tracer, '-I2', '-o', str(out), '-qq', *options, *chosen], stderr=subprocess.PIPE, text=True) as tracing:
        by_ptrace = not any('bpf' in word for word in mode) and '-c' not in mode
        if by_ptrace and dice.random() < 0.8:
            wait_until(lambda: status_of(targets[0], targets[0])['TracerPid'] != '0' or tracing.poll() is not None,
                       'the tracer attaches')
        time.sleep(dice.random() * 0.05)
        if end == 'detach':
            try:
                tracing.wait(1)
            except subprocess.TimeoutExpired:
                tracing.send_signal(signal.SIGINT)  # so many calls have not come
        else:
            tracing.send_signal(getattr(signal, end))
        tracing.wait(PATIENCE)
        words = tracing.stderr.read()
    for pid in targets:
        wait_until(lambda: is_free(pid), f'each thread of {pid} goes on: {threads_of(pid)}')
        assert all(status['Seccomp'].strip() == '0' for status in threads_of(pid).values()), 'there is a filter'
    wait_until(victim.makes_progress, 'the program makes progress')
    for old in folder.glob('out*'):
        old.unlink()
    return end, words.strip()


def main():
    tracer, what, count = os.path.abspath(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    seed = int(os.environ.get('CYCLES_SEED') or time.time())
    print(f'CYCLES_SEED={seed}', flush=True)
    dice = random.Random(seed)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    done = collections.Counter()
    said = collections.Counter()
    with tempfile.TemporaryDirectory(prefix='tracer-cycles-') as name:
        folder = pathlib.Path(name)
        if what == 'postgres':
            programs = sys.argv[4] if len(sys.argv) > 4 else os.path.dirname(shutil.which('postgres') or '')
            victim = Postgres(programs, folder)
        else:
            victim = Workload(what, folder)
        started = time.monotonic()
        for number in range(count):
            mode = MODES[number % len(MODES)]
            try:
                end, words = cycle(tracer, victim, folder, mode, dice.choice(ENDS), dice)
            except AssertionError as failure:
                raise SystemExit(f'cycle {number}, {" ".join(mode) or "-"}: {failure}\n{family(victim.targets())}') from None
            done[end] += 1
            for line in filter(None, words.splitlines()):
                said[line.replace(str(folder), '')] += 1
            if number % 500 == 499:
                print(f'{number + 1} cycles in {time.monotonic() - started:.0f} s', flush=True)
        victim.end()
        wait_until(lambda: not left_behind(name), f'the processes of the tracers end: {left_behind(name)}')
        print(f'{count} cycles over {len(MODES)} modes in {time.monotonic() - started:.0f} s: '
              + ', '.join(f'{number} {end}' for end, number in sorted(done.items())))
        for line, times in said.most_common(10):
            print(f'  {times}x {line}')


if __name__ == '__main__':
    main()
