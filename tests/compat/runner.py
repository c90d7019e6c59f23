"""Runs a program under a tracer in a world of its own, so that two runs differ only in the tracer."""

import dataclasses
import json
import os
import pathlib
import platform
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
NAMESPACES = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc', '--net', '--ipc']
CUT_OFF, FAILED = 'timeout', 'the run itself failed'  # in place of a tracer's status
TIMEOUT = 3 * float(os.environ.get('TRACER_LIVE_PATIENCE', 20))  # seconds

ENVIRONMENT = {
    'PATH': '/usr/bin:/bin', 'HOME': '/mnt/home', 'TMPDIR': '/mnt/tmp', 'LC_ALL': 'C', 'TZ': 'UTC',
    'PYTHONHASHSEED': '0', 'PYTHONDONTWRITEBYTECODE': '1', 'PERL_HASH_SEED': '0',
    'GIT_AUTHOR_NAME': 'A', 'GIT_AUTHOR_EMAIL': 'a@b', 'GIT_AUTHOR_DATE': '1000000000 +0000',
    'GIT_COMMITTER_NAME': 'A', 'GIT_COMMITTER_EMAIL': 'a@b', 'GIT_COMMITTER_DATE': '1000000000 +0000',
}


@dataclasses.dataclass
class Run:
    trace: str
    stdout: str
    stderr: str
    status: str

    @property
    def ended(self):
        """Whether the tracer came to its end; what a run shows that was cut off is no answer."""
        return self.status not in (CUT_OFF, FAILED)


def why_not():
    """The reason why runs are impossible here; None if they are possible."""
    if os.geteuid() != 0:
        return 'needs root for PID namespaces'
    tried = subprocess.run([*NAMESPACES, 'setarch', platform.machine(), '-R', 'mount', '-t', 'tmpfs', 'none', '/mnt'],
                           capture_output=True, text=True, timeout=30)
    return f'no namespaces here: {tried.stderr.strip()}' if tried.returncode else None


def run(tracer, options, program):
    """`tracer` is a command with its first options, `program` a cases.Program. The trace goes to a file of its own unless the options say `stderr`."""
    options = list(options)
    to_stderr = 'stderr' in options
    if to_stderr:
        options.remove('stderr')
    else:
        options += ['-o', '/mnt/out/trace']
    with tempfile.TemporaryDirectory(prefix='compat.') as results:
        job = {'command': [*tracer, *options, *program.argv], 'environment': ENVIRONMENT, 'setup': program.setup,
               'server': program.server, 'port': program.port, 'timeout': TIMEOUT, 'results': results}
        inside = subprocess.run([*NAMESPACES, '/usr/bin/python3', HERE / 'inside.py'], input=json.dumps(job),
                                capture_output=True, text=True, timeout=TIMEOUT + 60)
        if inside.returncode != 0:
            return Run('', '', inside.stderr, FAILED)

        def text(name):
            path = pathlib.Path(results) / name
            return path.read_bytes().decode('latin-1') if path.exists() else ''

        result = Run(text('trace'), text('stdout'), text('stderr'), text('status'))
        if to_stderr:
            result.trace, result.stderr = result.stderr, ''
        return result
