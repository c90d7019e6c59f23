#!/usr/bin/python3
"""What recording costs, and how large the files are, beside perf trace record, trace-cmd record, uftrace and LTTng.

Every tool runs --rounds times, in turns; the least time counts, as others use the machine, too.
    recording.py --ours build/tracer [--calls 400000] [--rounds 5]
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'peers'))
import kernel_tools  # noqa: E402
import peers  # noqa: E402

TIMEOUT = 120  # seconds
MOST_CALLS_OF_PTRACE = 100_000


def size_of(path):
    """In bytes; of a directory, with all that is in it."""
    if path.is_dir():
        return sum(each.stat().st_size for each in path.rglob('*') if each.is_file())
    return path.stat().st_size if path.exists() else 0


def tools(ours, out):
    """(name, command before the program, whether it records system calls). A command that is a text is the reason why there is none."""
    uftrace = peers.find('uftrace')
    perf, trace_cmd = shutil.which('perf'), shutil.which('trace-cmd')
    quiet = ['-f', '-o', '/dev/null']
    return [
        ('bare', [], True),
        ('tracer bpf, text', [ours, '--engine=bpf', *quiet], True),
        # What --record captures, shown and not recorded.
        ('tracer bpf, -yy -v -s 256', [ours, '--engine=bpf', '-yy', '-v', '-s', '256', *quiet], True),
        ('tracer bpf, --record', [ours, '--engine=bpf', '--record=' + out, '-c', '-w', *quiet], True),
        ('tracer ptrace, --record', [ours, '--engine=ptrace', '--record=' + out, '-c', '-w', *quiet], True),
        ('tracer in-process, --record', [ours, '--engine=inprocess', '--record=' + out, '-c', '-w', *quiet], True),
        ('perf trace record', kernel_tools.with_tracefs([perf, 'trace', 'record', '-o', out]) if perf else 'it is not installed (Debian: linux-perf)', True),
        ('trace-cmd record', kernel_tools.with_tracefs([trace_cmd, 'record', '-q', '-e', 'raw_syscalls', '-F', '-o', out]) if trace_cmd else
         'it is not installed (Debian: trace-cmd)', True),
        ('uftrace (functions)', [uftrace, 'record', '--force', '-d', out] if uftrace else 'there is none', False),
        ('tracer, functions', [ours, '-e', 'library=read+write', '-e', 'trace=none', '--record=' + out, '-c', '-w', *quiet], False),
        ('LTTng', lttng_is_missing(), True),
    ]


def lttng_is_missing():
    """Its records of system calls take kernel modules of its own."""
    release = os.uname().release
    found = subprocess.run(['modinfo', 'lttng-tracer'], capture_output=True, check=False) if shutil.which('modinfo') else None
    if found is None or found.returncode != 0:
        return f"its kernel modules (lttng-modules) are not built for this kernel, {release}"
    return 'lttng-tools is not installed' if shutil.which('lttng') is None else 'its modules are there, but this script knows no row for them'


def run(command):
    """(seconds, what went wrong or nothing)."""
    began = time.monotonic()
    try:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return TIMEOUT, f'it was not done after {TIMEOUT} s'
    took = time.monotonic() - began
    said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return took, '' if done.returncode == 0 else ' '.join(said[-2:]) or f'status {done.returncode}'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--ours', required=True, type=pathlib.Path)
    parser.add_argument('--calls', type=int, default=400_000)
    parser.add_argument('--rounds', type=int, default=5)
    arguments = parser.parse_args()
    ours = str(arguments.ours.resolve())
    calls = arguments.calls
    with tempfile.TemporaryDirectory(prefix='tracer-recording-') as folder:
        out = pathlib.Path(folder) / 'out'
        rows = tools(ours, str(out))
        least, sizes, wrong = {}, {}, {}
        for _ in range(arguments.rounds):
            for name, before, _ in rows:
                if isinstance(before, str):
                    wrong[name] = before
                if name in wrong:
                    continue
                slow = name in ('tracer ptrace, --record', 'tracer, functions')
                count = min(calls, MOST_CALLS_OF_PTRACE) if slow else calls
                shutil.rmtree(out, ignore_errors=True)
                out.unlink(missing_ok=True)
                took, why = run([*before, 'dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', f'count={count // 2}', 'status=none'])
                if why:
                    wrong[name] = why
                    continue
                least[name] = min(least.get(name, 1e9), took / count)
                sizes[name] = size_of(out) / count
        bare = least['bare']
        print(f'{calls} calls of dd, least of {arguments.rounds}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors')
        print(f'{"":30}{"ns a call":>10}{"more than bare":>16}{"bytes a call":>14}')
        for name, _, _ in rows:
            if name in wrong:
                print(f'{name:30}not measured: {wrong[name]}')
            else:
                size = f'{sizes[name]:.1f}' if sizes[name] else ''
                print(f'{name:30}{least[name] * 1e9:10.0f}{(least[name] - bare) * 1e9:16.0f}{size:>14}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
