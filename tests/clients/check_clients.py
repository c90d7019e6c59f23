#!/usr/bin/python3
"""Other people's programs that run strace and read its text: check_clients.py TRACER

Each finds a program called strace in PATH: the tracer by a link of that name, or strace itself. Both must bring it to the
same result. strace-log-merge comes with strace; the parser behind `doit strace` was written in another house.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'peers'))
import peers  # noqa: E402

LIMIT = 120  # seconds
TRIES = 4
TREE = 'cd {folder}; (cat text; cat missing) 2>/dev/null | sort; /bin/true; exit 3'


def run(command, folder, environment, wanted=0):
    done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors='backslashreplace', timeout=LIMIT)
    assert wanted is None or done.returncode == wanted, f'{command}: {done.returncode}: {done.stdout}{done.stderr}'
    return done.stdout + done.stderr


def without_chance(text):
    """No process ids, clocks and addresses."""
    text = re.sub(r'\b\d{10}\.\d+\b|\b\d\d:\d\d:\d\d(\.\d+)?', 'CLOCK', text)
    text = re.sub(r'0x[0-9a-f]{6,}', 'ADDRESS', text)
    return re.sub(r'(?<![\w.])\d{3,7}(?![\w.])', 'N', text)


def log_merge(folder, environment):
    """The files of each process, put together again in the order of their clocks."""
    run(['strace', '-ff', '-ttt', '-o', 'trace', '-e', 'trace=%process,openat,read', 'sh', '-c', TREE.format(folder=folder)], folder,
        environment, 3)
    files = sorted(folder.glob('trace.*'))
    merged = run(['strace-log-merge', 'trace'], folder, environment).splitlines()
    lines = sorted(f'{path.suffix[1:]} {line}' for path in files for line in path.read_text().splitlines())
    shown = sorted(re.sub(r'^(\d+) +', r'\1 ', line) for line in merged)
    assert shown == lines, f'merged is {len(shown)} lines, the files have {len(lines)}'
    clocks = [float(re.match(r'\d+ +(\d+\.\d+)', line)[1]) for line in merged]
    assert clocks == sorted(clocks) and len(files) >= 5, (len(files), clocks)
    # Whether the shell is in its wait4 when a child ends is chance.
    return sorted({line for line in without_chance('\n'.join(merged)).split('\n') if 'SIGCHLD' not in line and 'wait4' not in line})


def doit(folder, environment):
    """The files that a task reads and writes, found by `doit strace`."""
    if not shutil.which('doit'):
        return []
    (folder / 'dodo.py').write_text("def task_copy():\n    return {'actions': ['cp text copy', 'sort copy > sorted']}\n")
    for old in ('copy', 'sorted', *(path.name for path in folder.glob('.doit*'))):
        (folder / old).unlink(missing_ok=True)
    told = run(['doit', 'strace', 'copy'], folder, environment)
    assert re.search(r'^R .*/text$', told, re.M) and re.search(r'^[RW] .*/copy$', told, re.M), told
    return sorted(told.split('\n'))


def found_by(client, path, folder):
    """What a client says with this PATH, in a new directory."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / 'text').write_text('b\na\n')
    told = client(folder, {'PATH': path, 'LC_ALL': 'C.UTF-8', 'HOME': str(folder)})
    return [line.replace(str(folder), 'FOLDER') for line in told]


def linked(links, tracer, strace):
    """A PATH in which the tracer is called strace."""
    links.mkdir()
    (links / 'strace').symlink_to(tracer)
    (links / 'strace-log-merge').symlink_to(strace.parent / 'usr/bin/strace-log-merge')
    return f'{links}:{os.environ["PATH"]}'


def main():
    tracer = os.path.realpath(sys.argv[1])
    strace = pathlib.Path(peers.need_reference())
    failed = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        paths = {who: linked(pathlib.Path(name) / who, place, strace) for who, place in (('ours', tracer), ('theirs', strace))}
        for client in (log_merge, doit):
            # Which calls overlap, and so which lines are in two parts, is chance, for either tracer.
            for _ in range(TRIES):
                found = {who: found_by(client, path, pathlib.Path(name) / 'work') for who, path in paths.items()}
                if found['ours'] == found['theirs']:
                    break
            if found['ours'] != found['theirs']:
                failed += 1
                only = {who: [line for line in found[who] if line not in found[other]] for who, other in (('ours', 'theirs'), ('theirs', 'ours'))}
                print(f'FAILED: {client.__name__}: {only}')
            else:
                print(f'{client.__name__}: {len(found["ours"])} lines alike' if found['ours'] else f'{client.__name__}: not there')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
