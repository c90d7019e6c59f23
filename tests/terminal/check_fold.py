#!/usr/bin/python3
"""What is folded by itself, and where: check_fold.py TRACER"""

import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 20  # seconds for anything that is waited for
FOLD = re.compile(r'^(?:⋯|\.\.\.) \d+ calls: .*\d (?:µs|us|ms|s)$', re.MULTILINE)


class Terminal:
    """A command whose standard input, output and error are a terminal."""

    def __init__(self, command, **environment):
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.environ.update({'TERM': 'xterm', 'NO_COLOR': '1', 'LC_ALL': 'C', **environment})
            os.execv(command[0], command)
        self.bytes = b''

    def text(self):
        return self.bytes.decode().replace('\r\n', '\n')

    def read(self, until):
        """Reads what comes until `until(text)` or the end."""
        deadline = time.monotonic() + LIMIT
        while not until(self.text()):
            if not select.select([self.master], [], [], max(0, deadline - time.monotonic()))[0]:
                sys.exit(f'not within {LIMIT} s; on the terminal:\n{self.text()}')
            try:
                got = os.read(self.master, 65536)
            except OSError:  # the other side is closed
                got = b''
            if not got:
                break
            self.bytes += got
        return self.text()

    def end(self):
        text = self.read(lambda _: False)
        os.close(self.master)
        return text, os.waitpid(self.pid, 0)[1]


def expect(true, what, text):
    if not true:
        sys.exit(f'{what}:\n{text}')


def run(command, **environment):
    text, _ = Terminal(command, **environment).end()
    return text


def replay(tracer, trace, *options):
    return subprocess.run([tracer, *options, f'--replay={trace}'], check=True, timeout=LIMIT, capture_output=True, text=True).stderr


def calls(text):
    """How many calls the text shows, the folded ones included."""
    folded = sum(int(n) for n in re.findall(r'^(?:⋯|\.\.\.) (\d+) calls', text, re.MULTILINE))
    return folded + len(re.findall(r'^\w+\(', text, re.MULTILINE))


def main():
    tracer = pathlib.Path(sys.argv[1]).resolve()
    folder = pathlib.Path(tempfile.mkdtemp(prefix='tracer-fold-'))
    os.chdir(folder)
    (folder / 'notes').write_text('hello\n')
    strace = folder / 'strace'
    strace.symlink_to(tracer)
    cat = ['/bin/cat', 'notes']

    text = run([str(tracer), *cat])
    expect(FOLD.search(text), 'a terminal shows no fold', text)
    expect(re.search(r'^openat\(AT_FDCWD, "notes", O_RDONLY\) += \d+$', text, re.MULTILINE), 'the file is not shown', text)
    expect('ld.so.cache' not in text and '\nbrk(' not in text, 'the loader is shown', text)
    expect(text.startswith('execve(') and text.endswith('+++ exited with 0 +++\n'), 'execve or exit is missing', text)
    expect(text.isascii(), 'it is not ASCII in the locale C', text)
    expect('⋯ ' in run([str(tracer), *cat], LC_ALL='C.UTF-8'), 'it has no ⋯ in a UTF-8 locale', text)
    colored = Terminal([str(tracer), '--color=always', *cat]).end()[0]
    expect(re.search(r'^\x1b\[02m\.\.\. .*\x1b\[0m$', colored, re.MULTILINE), 'the line is not dim', colored)

    for command in ([str(strace), *cat], [str(tracer), '--compat=strace', *cat], [str(tracer), '--no-fold', *cat],
                    [str(tracer), '-e', 'trace=brk,openat', *cat], [str(tracer), '-o', 'out', *cat],
                    ['/bin/sh', '-c', f'{tracer} cat notes 2>&1 | /bin/cat']):
        text = run(command)
        text += (folder / 'out').read_text() if '-o' in command else ''
        expect(not FOLD.search(text) and 'ld.so.cache' in text, f'{command} folds', text)

    trace = folder / 'trace'
    subprocess.run([tracer, f'--record={trace}', '-o', '/dev/null', *cat], check=True, timeout=LIMIT, stdout=subprocess.DEVNULL)
    text = run([str(tracer), f'--replay={trace}'])
    expect(FOLD.search(text), 'a replay shows no fold', text)
    folded = replay(tracer, trace, '--fold')
    expect(FOLD.search(folded) and calls(folded) == calls(replay(tracer, trace)), 'the folded are not all', folded)

    # A call that blocks is on the terminal before it returns, and so is what was folded before it.
    waiting = Terminal([str(tracer), '/bin/cat'])
    text = waiting.read(lambda so_far: 'read(0' in so_far)
    expect(FOLD.search(text), 'nothing was folded before', text)
    os.write(waiting.master, b'a\n')
    waiting.read(lambda so_far: so_far.count('read(0') == 2)
    os.write(waiting.master, b'\x04')
    text, status = waiting.end()
    expect(os.waitstatus_to_exitcode(status) == 0, f'status {status}', text)

    # Ctrl-C comes in the midst of runs: each call is in a line, or in the last line's count.
    recorded = folder / 'interrupted'
    busy = Terminal([str(tracer), f'--record={recorded}', '/bin/dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'status=none'])
    busy.read(lambda so_far: 'reads of 0, writes of 1' in so_far or 'writes of 1, reads of 0' in so_far)
    os.kill(busy.pid, signal.SIGINT)
    text, _ = busy.end()
    expect(re.search(r'Process \d+ detached\n', text), 'it was not detached', text[-2000:])
    expect(calls(text) == calls(replay(tracer, recorded)), 'calls are missing at the end', text[-2000:])
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


main()
