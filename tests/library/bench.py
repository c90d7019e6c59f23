"""What cases about calls of functions have in common: compiling programs, tracing them, reading what was written."""

import functools
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

from cases import PATIENCE, expect, run_cases

TIMEOUT = 3 * PATIENCE
CALL = re.compile(r"^(?:\[pid +\d+\] )?(?:<\.\.\. )?(\w+)(?:@([^( ]+))?(?:\(.*| resumed>\)) += (-?\w+|'.'|<\w+>)")

IS_X86 = platform.machine() == 'x86_64'
NARROW = [['-m32']] if IS_X86 else []
# No builtins: the compiler shall not know what abs() is.
PLAIN = ['-O0', '-fno-builtin', '-w']


class Bench:
    def __init__(self, tracer, sources, folder):
        self.tracer = tracer
        self.sources = pathlib.Path(sources)
        self.folder = pathlib.Path(folder)

    def build(self, source, command, name=None, plain=PLAIN):
        target = self.folder / (name or pathlib.Path(source).stem)
        # gcc wants to find ld.lld by the name ld.lld; Debian's lld has it.
        done = subprocess.run([*command, *plain, str(self.sources / source), '-o', str(target), '-pthread', '-ldl',
                               '-lm'],
                              capture_output=True, text=True, timeout=TIMEOUT)
        if done.returncode != 0:
            return None
        return target

    @functools.cache
    def why_no_uprobes(self):
        """What keeps this machine from counting calls in the kernel; empty: nothing."""
        tried = subprocess.run([self.tracer, '--engine=bpf', '-c', '-e', 'trace=none', '-e', 'symbol=nothing', 'true'],
                               capture_output=True, text=True, timeout=TIMEOUT)
        return tried.stderr.strip() if tried.returncode != 0 else ''

    def trace(self, options, program, arguments=(), debuginfod=''):
        """Lines, and the exit status. No server is asked for debugging information but `debuginfod`."""
        log = self.folder / 'log'
        environment = dict(os.environ, DEBUGINFOD_URLS=debuginfod, DEBUGINFOD_CACHE_PATH=str(self.folder / 'cache'),
                           DEBUGINFOD_TIMEOUT='20')
        done = subprocess.run([self.tracer, '-o', str(log), *options, str(program), *arguments], capture_output=True,
                              text=True, timeout=TIMEOUT, env=environment)
        expect(done.stderr == '' or 'Killed' not in done.stderr, 'unexpected errors: ' + done.stderr)
        return log.read_text().splitlines(), done.returncode


def calls_in(lines):
    found = []
    for line in lines:
        match = CALL.match(re.sub(r'^\d+ +', '', line))
        if match:
            found.append((match.group(1), match.group(3)))
    return found


def without_addresses(lines):
    return [re.sub(r'0x[0-9a-f]+', 'ADDRESS', line) for line in lines if 'runs in' not in line]


def run_in_folder(cases):
    """Cases take a Bench; the command line is TRACER SOURCES [CASE...]."""
    tracer, sources = sys.argv[1:3]
    with tempfile.TemporaryDirectory(prefix='functions.') as folder:
        bench = Bench(os.path.abspath(tracer), sources, folder)
        return run_cases({name: (lambda c=case: c(bench)) for name, case in cases.items()}, sys.argv[3:])
