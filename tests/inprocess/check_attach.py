#!/usr/bin/python3
"""Attaches to programs with --engine=inprocess -p and detaches again, and holds them to what they were and do untraced.

    check_attach.py TRACER CALLS [SECONDS]
"""

import collections
import fcntl
import os
import pathlib
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

from check_inprocess import canonical, difference

SKIPPED = 77
LIMIT = 60  # seconds, for anything that must end


class Program:
    """A program that says when it is ready, and at its end whether all was as it should be."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        self.process.stdout.readline()

    def code(self):
        """Every executable mapping and its bytes, and the mappings and files that are there because of a tracer."""
        maps = pathlib.Path(f'/proc/{self.pid}/maps').read_text()
        code = {}
        with open(f'/proc/{self.pid}/mem', 'rb', 0) as memory:
            for line in maps.splitlines():
                where, rights = line.split()[:2]
                if 'x' in rights and '[v' not in line:
                    start, end = (int(word, 16) for word in where.split('-'))
                    memory.seek(start)
                    code[line] = memory.read(end - start)
        files = subprocess.run(['ls', '-l', f'/proc/{self.pid}/fd'], capture_output=True, text=True, check=False).stdout.splitlines()
        return code, [line for line in [*maps.splitlines(), *files] if re.search('^7ea0|memfd:tracer', line)]

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        output, _ = self.process.communicate(timeout=LIMIT)
        return self.process.returncode, output


class Attached:
    def __init__(self, tracer, out, pid, options, engine='inprocess'):
        self.out = out
        out.write_text('')
        self.process = subprocess.Popen([tracer, f'--engine={engine}', *options, '-o', str(out), '-p', str(pid)],
                                        stderr=subprocess.PIPE, text=True, errors='replace', start_new_session=True)

    def wait_for(self, text):
        """Waits until the trace has such a line; False if the tracer ends before."""
        deadline = time.monotonic() + LIMIT
        with open(self.out, errors='replace') as trace:
            seen = ''
            while self.process.poll() is None and time.monotonic() < deadline:
                seen = seen[-1000:] + trace.read()
                if text in seen:
                    return True
                time.sleep(0.001)
        return False

    def detach(self, by=signal.SIGINT, group=False):
        """`group`: as timeout(1) does, which sends the signal to its child and to its group."""
        if group:
            os.killpg(self.process.pid, signal.SIGSTOP)
            os.killpg(self.process.pid, by)
            os.killpg(self.process.pid, signal.SIGCONT)
        else:
            self.process.send_signal(by)
        return self.process.communicate(timeout=LIMIT)[1]


def check_detaching(tracer, calls, out, seconds, failures):
    """Over and over, from threads in all kinds of calls, the program and its memory are as before."""
    cycles = 0
    functions = 'library=fork+waitpid+pthread_join@MAIN'
    for engine, options in (('inprocess', ['-f']), ('inprocess', ['-f', '-e', 'trace=getppid']), ('inprocess', ['-f', '-k', '-yy']),
                            ('ptrace', ['-f', '-e', 'trace=getppid', '-e', functions]), ('inprocess', ['-f', '-e', functions])):
        program = Program([calls, 'until-told', '3', '4'])
        before, _ = program.code()
        end = time.monotonic() + seconds / 5
        while time.monotonic() < end:
            tracing = Attached(tracer, out, program.pid, options, engine)
            if not tracing.wait_for('getppid()'):
                failures.append(f'{options}: nothing was traced: {tracing.detach()[-500:]}')
                break
            time.sleep(cycles % 8 / 100)  # at all moments of the preparation, and behind it
            said = tracing.detach(signal.SIGTERM if cycles % 2 else signal.SIGINT, group=cycles % 3 == 2)
            cycles += 1
            if program.process.poll() is not None:
                failures.append(f'{options}, cycle {cycles}: the program has ended')
                break
            after, ours = program.code()
            if functions in options:
                # A page for instructions under breakpoints stays where the last thread to leave is about to end.
                after = {line: code for line, code in after.items() if line in before or ' 00:00 0 ' not in line}
            if after != before or ours:
                changed = [line for line in after if after[line] != before.get(line)]
                failures.append(f'{options}, cycle {cycles}: other code in {changed}, left {ours}: {said[-500:]}')
                break
        status, output = program.end()
        if (status, output) != (0, 'all right\n'):
            failures.append(f'{options}: status {status} after {cycles} cycles: {output!r}')
    print(f'attached and detached {cycles} times')


def check_text(tracer, calls, out, failures):
    """What is shown of calls that go on and on is what ptrace shows, and no call is missing."""
    for options in (['-f'], ['-f', '-y'], ['-f', '-e', 'trace=read,openat']):
        shown = {}
        for engine in ('ptrace', 'inprocess'):
            program = Program([calls, 'when-told', '200'])
            tracing = Attached(tracer, out, program.pid, options, engine)
            attached = tracing.process.stderr.readline()
            program.process.stdin.write('go\n')
            program.process.stdin.flush()
            _, said = tracing.process.communicate(timeout=LIMIT)
            output, _ = program.process.communicate(timeout=LIMIT)
            if (program.process.returncode, output) != (0, 'all right\n') or 'attached' not in attached:
                failures.append(f'{engine} {options}: {attached}{said} {program.process.returncode} {output}')
            lines = re.sub(r'si_([us])time=\d+( /\*.*?\*/)?', r'si_\1time=TIME', out.read_text(errors='replace'))
            # Which calls wait, for the word and for a thread, is a matter of when these come.
            waits = r'read\(0\b|resumed>"g"|futex'
            shown[engine] = canonical(line for line in lines.splitlines() if not re.search(waits, line))
        for one, other in (('ptrace', 'inprocess'), ('inprocess', 'ptrace')):
            for line, count in difference(shown[one], shown[other]).items():
                failures.append(f'{options}: only {one} shows ({count}): {line}')


def check_is_inside(tracer, calls, out, failures):
    program = Program([calls, 'until-told', '3', '4'])
    tracing = Attached(tracer, out, program.pid, ['-f', '-d', '-e', 'trace=getppid,read'])
    found = collections.Counter()
    for line in tracing.process.stderr:
        if match := re.search(r'inprocess: call site 0x\w+ of process (\d+): patched', line):
            found[int(match[1])] += 1
        if found[program.pid] >= 3:
            break
    else:
        failures.append(f'only {found[program.pid]} places were patched')
    tracing.detach()
    program.end()


def check_exec(tracer, calls, out, failures):
    """A program that executes others, which are recorded as well, and one that ends while it is traced."""
    program = Program([calls, 'when-told', '50', 'exec'])
    tracing = Attached(tracer, out, program.pid, ['-f'])
    tracing.process.stderr.readline()
    program.process.stdin.write('go\n')
    program.process.stdin.flush()
    tracing.process.communicate(timeout=LIMIT)
    lines = out.read_text(errors='replace')
    if tracing.process.returncode != 0 or '+++ exited with 0 +++' not in lines or lines.count('getppid()') != 50 + 8 * 4:
        failures.append(f'exec: {tracing.process.returncode}, {lines.count("getppid()")} calls: {lines[-300:]}')
    program.process.communicate(timeout=LIMIT)


def check_refused(tracer, calls, out, failures):
    """One line that says why, and the program is not touched."""
    for mode, words in (('filtered', 'has a seccomp filter of its own'),):
        program = Program([calls, 'until-told', '3', '1', mode])
        tracing = Attached(tracer, out, program.pid, ['-f'])
        _, said = tracing.process.communicate(timeout=LIMIT)
        if tracing.process.returncode == 0 or words not in said or said.count('\n') != 1 or 'leave --engine' not in said:
            failures.append(f'{mode}: status {tracing.process.returncode}: {said}')
        status, output = program.end()
        if (status, output) != (0, 'all right\n'):
            failures.append(f'{mode}: status {status}: {output!r}')


def check_32_bit(tracer, out, failures):
    """The smallest 32-bit program: it sleeps for ever (nanosleep of 1,000 s, and again)."""
    code = bytes.fromhex('b8a2000000 bb80800408 31c9 cd80 ebf0')
    headers = b'\x7fELF\1\1\1'.ljust(16, b'\0') + struct.pack('<HHIIIIIHHHHHH', 2, 3, 1, 0x08048054, 52, 0, 0, 52, 32, 1, 0, 0, 0)
    segment = struct.pack('<8I', 1, 0, 0x08048000, 0x08048000, 0x100, 0x100, 5, 4096)
    path = out.with_name('small')
    path.write_bytes((headers + segment + code).ljust(0x80, b'\0') + struct.pack('<II', 1000, 0).ljust(0x80, b'\0'))
    path.chmod(0o755)
    try:
        program = subprocess.Popen([path])
    except OSError as why:
        print('no 32-bit programs here:', why)
        return
    _, said = Attached(tracer, out, program.pid, ['-f']).process.communicate(timeout=LIMIT)
    if 'is a 32-bit program' not in said or said.count('\n') != 1 or program.poll() is not None:
        failures.append(f'a 32-bit program: {said}, status {program.poll()}')
    program.kill()
    program.wait()


def check_stopped(tracer, calls, out, failures):
    """A program that job control has stopped while it was traced stays so."""
    program = Program([calls, 'until-told', '3', '3'])
    before, _ = program.code()
    tracing = Attached(tracer, out, program.pid, ['-f'])
    tracing.wait_for('getppid()')
    program.process.send_signal(signal.SIGSTOP)
    tracing.wait_for('stopped by SIGSTOP')
    tracing.detach(group=True)
    after, ours = program.code()
    state = ''
    deadline = time.monotonic() + LIMIT
    while state != 'T' and time.monotonic() < deadline:
        state = re.search(r'State:\t(.)', pathlib.Path(f'/proc/{program.pid}/status').read_text())[1]
    if state != 'T' or after != before or ours:
        failures.append(f'stopped: state {state}, or other code; left {ours}')
    program.process.send_signal(signal.SIGCONT)
    if program.end() != (0, 'all right\n'):
        failures.append('stopped: the program did not end as it should')


def check_stops_and_conts(tracer, calls, out, seconds, failures):
    """Job control stops and continues the program at any moment, of the preparation and of the detaching, too."""
    program = Program([calls, 'until-told', '3', '3'])
    before, _ = program.code()
    over = threading.Event()

    def stop_and_continue():
        while not over.is_set():
            for by in (signal.SIGSTOP, signal.SIGCONT):
                program.process.send_signal(by)
                over.wait(0.0002)

    cycles = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end and not failures:
        over.clear()
        stopping = threading.Thread(target=stop_and_continue)
        stopping.start()
        tracing = Attached(tracer, out, program.pid, ['-f'])
        if not tracing.wait_for('getppid()'):
            failures.append('stops and conts: nothing was traced')
        time.sleep(cycles % 8 / 100)
        said = tracing.detach(group=True)
        over.set()
        stopping.join()
        cycles += 1
        after, ours = program.code()
        if after != before or ours:
            failures.append(f'stops and conts, cycle {cycles}: other code, left {ours}: {said[-500:]}')
    print(f'stopped and continued in {cycles} cycles')
    program.process.send_signal(signal.SIGCONT)
    if (ended := program.end()) != (0, 'all right\n'):
        failures.append(f'stops and conts: the program did not end as it should: {ended}')


def check_crowd(tracer, calls, out, failures):
    """More than a thousand threads are detached from, however long that takes."""
    program = Program([calls, 'until-told', '0', '1200'])
    before, _ = program.code()
    tracing = Attached(tracer, out, program.pid, ['-f', '-e', 'trace=getppid'])
    if not tracing.wait_for('getppid()'):
        failures.append('crowd: nothing was traced')
    said = tracing.detach()
    after, ours = program.code() if program.process.poll() is None else (before, [])
    if after != before or ours:
        failures.append(f'crowd: other code, left {ours}: {said[-500:]}')
    if (ended := program.end()) != (0, 'all right\n'):
        failures.append(f'crowd: the program did not end as it should: {ended}')


def check_dead_proxy(tracer, calls, out, failures):
    """The tracer that the user started is killed: the program goes on without it."""
    program = Program([calls, 'until-told', '3', '4'])
    before, _ = program.code()
    tracing = Attached(tracer, out, program.pid, ['-f'])
    tracing.wait_for('getppid()')
    tracing.process.kill()
    tracing.process.communicate(timeout=LIMIT)  # the end of its standard error is that of the whole tracer
    status = pathlib.Path(f'/proc/{program.pid}/status').read_text()
    after, ours = program.code()
    if 'TracerPid:\t0\n' not in status or after != before or ours:
        failures.append(f'killed: still traced, or other code; left {ours}')
    if program.end() != (0, 'all right\n'):
        failures.append('killed: the program did not end as it should')


def check_summary(tracer, calls, out, failures):
    """What programs count of their calls is what ptrace counts, and shows when the tracer leaves."""
    counts = ['-f', '-c', '-S', 'calls', '-U', 'calls,errors,name']
    tables = []
    for engine in ('ptrace', 'inprocess'):
        program = Program([calls, 'when-told', '200'])
        tracing = Attached(tracer, out, program.pid, counts, engine)
        tracing.process.stderr.readline()
        program.process.stdin.write('go\n')
        program.process.stdin.flush()
        tracing.process.communicate(timeout=LIMIT)
        program.process.communicate(timeout=LIMIT)
        # Which calls wait, for the word and for a thread, is a matter of when these come.
        tables.append({line for line in out.read_text().splitlines()[2:-2] if line.split()[-1] not in ('futex', 'read')})
    if tables[0] != tables[1] or len(tables[0]) < 5:
        failures.append(f'-c: {tables[1] - tables[0]} instead of {tables[0] - tables[1]}')
    program = Program([calls, 'until-told', '3', '4'])
    before, _ = program.code()
    tracing = Attached(tracer, out, program.pid, ['-d', *counts])
    for line in tracing.process.stderr:
        if ': patched' in line:
            break
    tracing.detach()
    after, ours = program.code()
    if 'getppid' not in out.read_text() or after != before or ours:
        failures.append(f'-c until told: {out.read_text()}, left {ours}')
    program.end()


def tracer_of(pid):
    return re.search(r'TracerPid:\t(\d+)', pathlib.Path(f'/proc/{pid}/status').read_text())[1]


def waits_to_write(pid):
    """Whether a thread of the process is in write(2)."""
    return any(call.read_text().startswith('1 ') for call in pathlib.Path(f'/proc/{pid}/task').glob('*/syscall'))


def check_dead_file(tracer, calls, out, failures):
    """A file that takes nothing, as one on a device that does not answer, keeps the tracer from nothing but writing."""
    for number, option in enumerate(('-o', '-ff', '--record')):
        program = Program([calls, 'until-told', '3', '4'])
        before, _ = program.code()
        base = out.with_name(f'fifo{number}')
        fifo = base.with_name(f'{base.name}.{program.pid}') if option == '-ff' else base
        os.mkfifo(fifo)
        reader = os.open(fifo, os.O_RDWR)
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
        full = select.poll()
        full.register(reader, select.POLLOUT)
        files = {'-ff': ['-ff', '-o', base], '-o': ['-f', '-o', base], '--record': ['-f', '-o', out, '--record', base]}
        tracing = subprocess.Popen([tracer, '--engine=inprocess', *files[option], '-p', str(program.pid)], stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + LIMIT
        while (full.poll(0) or not waits_to_write(tracer_of(program.pid))) and time.monotonic() < deadline:
            time.sleep(0.001)
        tracing.send_signal(signal.SIGTERM)
        said = tracing.communicate(timeout=LIMIT)[1]
        after, ours = program.code() if program.process.poll() is None else ({}, [])
        if after != before or ours or f'{fifo}: it takes nothing' not in said:
            failures.append(f'dead file of {option}: other code, left {ours}: {said[-500:]}')
        if (ended := program.end()) != (0, 'all right\n'):
            failures.append(f'dead file of {option}: the program did not end as it should: {ended}')
        os.close(reader)


def main():
    tracer, calls = sys.argv[1:3]
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 10
    failures = []
    with tempfile.TemporaryDirectory() as directory:
        out = pathlib.Path(directory) / 'out'
        program = Program([calls, 'until-told', '3', '1'])
        said = Attached(tracer, out, program.pid, ['-f', '--syscall-limit=1']).process.communicate(timeout=LIMIT)[1]
        program.end()
        if 'Linux 6.4' in said or 'Operation not permitted' in said:
            print('skipped:', said.strip())
            return SKIPPED
        check_is_inside(tracer, calls, out, failures)
        check_text(tracer, calls, out, failures)
        check_exec(tracer, calls, out, failures)
        check_refused(tracer, calls, out, failures)
        check_32_bit(tracer, out, failures)
        check_stopped(tracer, calls, out, failures)
        check_stops_and_conts(tracer, calls, out, seconds / 3, failures)
        check_crowd(tracer, calls, out, failures)
        check_dead_proxy(tracer, calls, out, failures)
        check_summary(tracer, calls, out, failures)
        check_dead_file(tracer, calls, out, failures)
        check_detaching(tracer, calls, out, seconds, failures)
    for failure in failures:
        print('FAILED', failure)
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
