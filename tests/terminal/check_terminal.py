#!/usr/bin/python3
"""Job control in a real terminal: check_terminal.py TRACER

In a shell under tmux a traced command is stopped with Ctrl-Z, goes on with fg, and is ended with Ctrl-C. What the shell
says of it and what the trace says of its signals must be as it should be, and as it is under strace.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'peers'))
import peers  # noqa: E402

SKIPPED = 77
LIMIT = 20  # seconds for anything that is waited for
PROMPT = 'ready>'


class Terminal:
    def __init__(self, folder):
        # A socket of its own: the server of the terminal before may still be about to end.
        self.tmux = ['tmux', '-S', str(pathlib.Path(tempfile.mkdtemp(dir=folder)) / 'tmux'), '-f', '/dev/null']
        environment = {'PATH': os.environ['PATH'], 'HOME': str(folder), 'TERM': 'screen', 'PS1': PROMPT, 'LC_ALL': 'C.UTF-8'}
        subprocess.run([*self.tmux, 'new-session', '-d', '-x', '200', '-y', '50', 'env -i ' + ' '.join(
            f"{name}='{value}'" for name, value in environment.items()) + ' bash --norc --noprofile -i'], check=True, timeout=LIMIT)
        self.wait_for(r'ready>\s*$')

    def keys(self, *keys):
        subprocess.run([*self.tmux, 'send-keys', *keys], check=True, timeout=LIMIT)

    def screen(self):
        return subprocess.run([*self.tmux, 'capture-pane', '-p'], check=True, capture_output=True, text=True,
                              timeout=LIMIT).stdout.rstrip()

    def wait_for(self, pattern):
        wait_until(lambda: re.search(pattern, self.screen()), lambda: f'{pattern!r} on the screen:\n{self.screen()}')

    def close(self):
        subprocess.run([*self.tmux, 'kill-server'], timeout=LIMIT)


def wait_until(question, what):
    until = time.monotonic() + LIMIT
    while not question():
        if time.monotonic() > until:
            sys.exit(f'not within {LIMIT} s: {what()}')
        time.sleep(0.02)


def signals_in(trace):
    """Lines about signals and ends, without ids of processes."""
    return [re.sub(r'si_pid=\d+', 'si_pid=P', line) for line in trace.read_text().splitlines() if re.match(r'---|\+\+\+', line)]


def without_interrupt(lines):
    return [line for line in lines if 'SIGINT' not in line]


def play(tracer, folder, options, ends):
    """Ctrl-Z, fg, Ctrl-C at a sleeping program; what the trace and the shell say in the end."""
    trace = folder / 'trace'
    trace.unlink(missing_ok=True)
    terminal = Terminal(folder)
    try:
        has = lambda text: wait_until(lambda: trace.exists() and text in trace.read_text(), lambda: f'{text} in {trace.read_text()}')
        redirect = f'-o {trace}' if options == '-o' else f'2>{trace}'
        terminal.keys(f'{tracer} {redirect} sleep 1000; echo status $?', 'Enter')
        has('clock_nanosleep(')
        terminal.keys('C-z')
        terminal.wait_for(r'Stopped .*sleep 1000')
        terminal.keys('fg', 'Enter')
        has('--- SIGCONT')
        has('restart_syscall(')  # it sleeps again
        terminal.keys(ends)
        terminal.wait_for(r'ready>\s*$')
        terminal.keys('echo the shell is back', 'Enter')
        terminal.wait_for(r'\nthe shell is back')
    finally:
        terminal.close()
    return signals_in(trace)


def main():
    if not shutil.which('tmux'):
        print('skipped: tmux is not installed')
        return SKIPPED
    strace = peers.need_reference()
    failures = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:  # a shell that ends may still write there
        folder = pathlib.Path(name)
        for options in ['-o', '']:
            ours = play(sys.argv[1], folder, options, 'C-c')
            theirs = play(strace, folder, options, 'C-c')
            if options == '-o':
                ended = ours[-1] == '+++ killed by SIGINT +++'
            else:
                # The signal ends the tracer too, mostly before it hears of the program's.
                ours, theirs = without_interrupt(ours), without_interrupt(theirs)
                ended = True
            if ours != theirs or not ended:
                failures += 1
                print(f'{options or "standard error"}: ours:\n  ' + '\n  '.join(ours) + '\ntheirs:\n  ' + '\n  '.join(theirs))
    print('failed' if failures else 'the terminal is as under strace')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
