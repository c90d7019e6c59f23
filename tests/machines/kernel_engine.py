"""Whether a machine lets the tracer watch from the kernel."""

import os
import re
import subprocess
import sys

OLDEST = (5, 12)  # kernel that may run the programs
NOT_TAKEN = ('the kernel cannot run the BPF programs', 'the kernel does not accept the BPF programs')


def why_not(tracer):
    """The tracer's reason if this machine does not allow it; None if it works. A tracer that fails otherwise, or that
    fails in CI, where root may, ends the test: what it hides would go unnoticed."""
    tried = subprocess.run([tracer, '--engine=bpf', '-o', '/dev/null', 'true'], capture_output=True, text=True, timeout=30)
    if tried.returncode == 0:
        return None
    said = tried.stderr.strip()
    refused = re.fullmatch(r'\S+: --engine=bpf: (.*); leave the option out to trace with ptrace', said)
    release = tuple(int(part) for part in re.findall(r'\d+', os.uname().release)[:2])
    if not refused or (refused[1].startswith(NOT_TAKEN) and release >= OLDEST):
        sys.exit(f'--engine=bpf does not work, and that is not for this machine: exit {tried.returncode}: {said}')
    if os.environ.get('CI') and os.geteuid() == 0:
        sys.exit(f'--engine=bpf has to work in CI: {said}')
    return refused[1]
