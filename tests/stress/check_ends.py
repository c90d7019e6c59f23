#!/usr/bin/python3
"""SIGINT and SIGTERM end the tracer within moments, whatever it waits for, and its tracees go on.

    check_ends.py TRACER UNANSWERED     UNANSWERED: the program of unanswered.c
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from silent_server import READ, SilentServer

PATIENCE = float(os.environ.get('TRACER_LIVE_PATIENCE', 20))  # seconds


def state(process):
    with open(f'/proc/{process.pid}/status', encoding='ascii') as status:
        return dict(line.split(':\t', 1) for line in status.read().splitlines() if ':\t' in line)


def expect_end(what, tracer, number, bystander):
    time.sleep(0.3)  # until it waits; if that takes longer, the signal comes while it does not, and the test sees less
    if tracer.poll() is not None:
        return f'{what}: it ended with {tracer.returncode} before'
    tracer.send_signal(number)
    try:
        tracer.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        tracer.kill()
        return f'{what}: it goes on after {PATIENCE} s'
    now = state(bystander)
    if now['TracerPid'] != '0' or now['State'][0] in 'tT':
        return f'{what}: the other process: {now["State"]}, traced by {now["TracerPid"]}'
    return None


def kill_left_behind(program):
    """The program that waits, which belongs to nobody now."""
    for entry in os.listdir('/proc'):
        try:
            if entry.isdigit() and os.readlink(f'/proc/{entry}/exe') == program:
                os.kill(int(entry), signal.SIGKILL)
        except OSError:
            pass


def unanswered(tracer, program, number, options):
    """Memory that nobody serves."""
    started = subprocess.Popen([program], stdout=subprocess.PIPE)
    first = started.stdout.readline()
    started.kill()
    started.wait()
    if not first:
        return 'skipped'
    bystander = subprocess.Popen(['sleep', '60'])
    ptrace = subprocess.Popen([tracer, '-I2', *options, '-p', str(bystander.pid), '-o', '/dev/null', program],
                              stdout=subprocess.PIPE)
    try:
        ptrace.stdout.readline()
        return expect_end(f'unanswered {options} {number}', ptrace, number, bystander)
    finally:
        bystander.kill()
        bystander.wait()
        kill_left_behind(program)


def silent_server(tracer, program, number):
    """A file of a FUSE server that never answers, mapped by a program of another user: it holds up nobody else."""
    bystander = subprocess.Popen(['sleep', '60'])
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        try:
            server = SilentServer(folder, READ)
        except OSError:
            bystander.kill()
            bystander.wait()
            return 'skipped'
        output = tempfile.NamedTemporaryFile(mode='r')
        # Copied to where the other user may run it.
        mine = shutil.copy(program, tempfile.mkdtemp(dir='/tmp'))
        os.chmod(os.path.dirname(mine), 0o755)
        process = subprocess.Popen([tracer, '-f', '-I2', '-u', 'nobody', '-p', str(bystander.pid), '-o', output.name,
                                    mine, server.path])
        try:
            shown = expect_text(output, re.compile(r'write\(\d+, 0x[0-9a-f]+, 16\) += 16\n.*exited with 0', re.S))
            return shown or expect_end(f'silent server {number}', process, number, bystander)
        finally:
            server.stop()
            bystander.kill()
            bystander.wait()
            process.kill()
            process.wait()
            shutil.rmtree(os.path.dirname(mine))


def silent_folder(tracer):
    """A name whose look-up would ask a server that does not answer any more."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            server = SilentServer(folder, None)
        except OSError:
            return 'skipped'
        place = os.path.join(folder, 'folder')
        output = tempfile.NamedTemporaryFile(mode='r')
        process = None
        try:
            subprocess.run(['mount', '-t', 'tmpfs', 'tmpfs', place], check=True)
            name = os.path.join(place, 'x (deleted)')
            with open(name, 'w+', encoding='ascii') as file:
                server.hush()
                process = subprocess.Popen([tracer, '-y', '-o', output.name, 'sh', '-c', 'read x'], stdin=file)
            return expect_text(output, re.compile(r'read\(0<[^>]*/folder/x.*exited with 1', re.S))
        finally:
            server.stop()
            subprocess.run(['umount', '-l', place], check=False, stderr=subprocess.DEVNULL)
            if process:
                process.kill()
                process.wait()


def expect_text(output, pattern):
    end = time.monotonic() + PATIENCE
    text = ''
    while time.monotonic() < end:
        text += output.read()
        if pattern.search(text):
            return None
        time.sleep(0.02)
    return f'no {pattern.pattern} in {text[-300:]}'


def full_pipe(tracer, number):
    """Nobody reads what it writes."""
    bystander = subprocess.Popen(['sleep', '60'])
    reader, writer = os.pipe()
    busy = 'i=0; while [ $i -lt 5000 ]; do kill -0 $$; i=$((i+1)); done'
    process = subprocess.Popen([tracer, '-f', '-I2', '-p', str(bystander.pid), 'sh', '-c', busy], stderr=writer,
                               stdout=subprocess.DEVNULL, start_new_session=True)
    os.close(writer)
    try:
        return expect_end(f'full pipe {number}', process, number, bystander)
    finally:
        os.close(reader)
        bystander.kill()
        bystander.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def main():
    tracer, program = (os.path.abspath(path) for path in sys.argv[1:3])
    failed = []
    for number in (signal.SIGINT, signal.SIGTERM):
        for options in ([], ['-f']):
            failed.append(unanswered(tracer, program, number, options))
        failed.append(silent_server(tracer, program, number))
        failed.append(full_pipe(tracer, number))
    failed.append(silent_folder(tracer))
    if 'skipped' in failed:
        print('skipped in part: userfaultfd(2) or mounts of FUSE are not allowed here')
    failed = [what for what in failed if what and what != 'skipped']
    print('\n'.join(failed) or 'It always ends.')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
