#!/usr/bin/python3
"""A peer is itself: strace of Debian testing says so in its messages, its name and its /proc/PID/exe."""

import os
import subprocess
import sys

import peers

SCRIPT = 'readlink /proc/$PPID/exe; tr "\\0" "\\n" < /proc/$PPID/cmdline | head -n 1; cat /proc/$PPID/comm'


def main():
    strace = peers.need_reference()
    said = subprocess.run([strace, '-o', '/dev/null', 'sh', '-c', SCRIPT], capture_output=True, text=True, check=True).stdout
    wanted = f'{strace}\n{strace}\n{os.path.basename(strace)}\n'
    if said != wanted:
        print(f'FAILED: {said!r}, and wanted is {wanted!r}')
        return 1
    # A library of another release would be taken from here.
    maps = subprocess.run([strace, '-o', '/dev/null', 'sh', '-c', 'cat /proc/$PPID/maps'], capture_output=True, text=True, check=True)
    files = {line.split()[-1] for line in maps.stdout.splitlines() if '.so' in line}
    strange = [file for file in files if not file.startswith(os.path.dirname(strace))]
    if strange:
        print(f'FAILED: uses {strange}')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
