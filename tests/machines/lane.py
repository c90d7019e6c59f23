"""What the runs on other machines have in common: steps with their times, an end that says what happened, and programs
whose trace is written down."""

import difflib
import pathlib
import re
import signal
import subprocess
import sys
import time

import packages

SKIPPED = 77  # ctest's SKIP_RETURN_CODE


class Steps:
    """Runs one step after the other and says how long each took."""

    def __init__(self):
        self._failed = []
        self._started = time.monotonic()

    def step(self, name, work, *arguments):
        started = time.monotonic()
        print(f'== {name}', flush=True)
        result = work(*arguments)
        print(f'== {name}: {time.monotonic() - started:.0f} s', flush=True)
        if result is False:
            self._failed.append(name)
        return result

    def finish(self, name):
        """The last line, and the exit status."""
        result = 'FAILED: ' + ', '.join(self._failed) if self._failed else 'all passed'
        print(f'{name}: {result} after {time.monotonic() - self._started:.0f} s')
        return 1 if self._failed else 0


def run(main):
    """Ends the program with the status of `main`, and with a reason where the lane cannot run here. A signal to end, as
    timeout(1) sends it, is such a reason."""
    def end(*_):
        raise packages.Unavailable('it was interrupted; what it has fetched and compiled is kept')

    signal.signal(signal.SIGTERM, end)
    try:
        sys.exit(main())
    except packages.Unavailable as reason:
        print(f'SKIPPED: {reason}')
        sys.exit(SKIPPED)
    except subprocess.CalledProcessError as error:
        sys.exit(f'FAILED: {error}')


def traced(tracer, program):
    """The command that runs `program` traced in a guest and prints what a user sees of it."""
    script = 'cd /tmp && cp "$1" program && "$0" -o trace ./program; echo "status $?"; cat trace'
    return ['sh', '-c', script, str(tracer), str(program)]


# What differs from run to run: addresses, process ids, the environment, random bytes.
MASKS = [(r'0x[0-9a-f]{5,}', 'ADDRESS'), (r'/\* \d+ vars \*/', 'VARS'), (r'(?<=getrandom\(")[^"]*', 'RANDOM'),
         (r'((?:gettid|getpid|set_tid_address)\(\w*\) += |si_pid=)\d+', r'\1ID'), (r'tgkill\(\d+, \d+', 'tgkill(ID, ID')]


def masked(text):
    for pattern, replacement in MASKS:
        text = re.sub(pattern, replacement, text)
    return re.sub(r'\) +=', ') =', text)  # the padding depends on what was masked


def as_written(expected, found):
    """Whether the text is what the file `expected` says, but for what differs from run to run; prints where not."""
    wanted = pathlib.Path(expected).read_text()
    difference = list(difflib.unified_diff(wanted.splitlines(), masked(found).splitlines(), str(expected), 'found', lineterm='', n=1))
    print('\n'.join(difference))
    return not difference
