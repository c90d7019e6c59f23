"""How long the kernel's programs of a tool take: by the kernel's own count (sysctl kernel.bpf_stats_enabled), of which the
load of the machine changes next to nothing."""

import contextlib
import json
import pathlib
import shutil
import subprocess
import threading

SWITCH = pathlib.Path('/proc/sys/kernel/bpf_stats_enabled')
INTERVAL = 0.02  # seconds between two looks: nothing can be read of a program that is gone


def why_not():
    if not shutil.which('bpftool'):
        return 'bpftool is not there'
    try:
        SWITCH.write_text(SWITCH.read_text())
    except OSError as error:
        return f'{SWITCH}: {error.strerror}'
    return ''


def look():
    """Nanoseconds and runs of every program that there is, by id."""
    shown = subprocess.run(['bpftool', '-j', 'prog', 'show'], capture_output=True, text=True, check=False).stdout
    try:
        programs = json.loads(shown or '[]')
    except json.JSONDecodeError:
        return {}
    return {one['id']: (one['run_time_ns'], one['run_cnt']) for one in programs if 'run_cnt' in one}


@contextlib.contextmanager
def switched_on():
    before = SWITCH.read_text()
    SWITCH.write_text('1\n')
    try:
        yield
    finally:
        SWITCH.write_text(before)


def nanoseconds_per_call(run, calls):
    """Of all programs together that are there while `run()` runs and have not been before, for each of so many system
    calls; None if none of them was seen at work. A program that was last seen before its end is taken to have gone on
    as it had begun."""
    with switched_on():
        older = look()
        seen = {}
        done = threading.Event()

        def watch():
            while not done.wait(INTERVAL):
                seen.update((number, figures) for number, figures in look().items() if number not in older)

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            run()
        finally:
            done.set()
            watcher.join()
    most = max((runs for _, runs in seen.values()), default=0)
    return sum(time for time, _ in seen.values()) / min(most, calls) if most else None
