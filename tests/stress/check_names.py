#!/usr/bin/python3
"""Hostile names of programs, threads, files, directories and sockets: in every form of output they are characters and no
more.

    check_names.py TRACER HOSTILE_NAMES     HOSTILE_NAMES: the program of hostile_names.c
"""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

PATIENCE = float(os.environ.get('TRACER_LIVE_PATIENCE', 20))  # seconds
NAME = 'ev\033[31m\n+++ FORGED"il'
FORMS = (
    [], ['-f', '-yy', '-Y'], ['-f', '-kk', '-yy', '-Y', '-n', '-ttt'], ['-ff', '-Y'], ['-f', '-c'], ['-f', '-C'],
    ['-f', '--format=json', '-yy', '-Y', '-k'], ['-f', '--format=folded'], ['-f', '-e', 'library=*'],
    ['-f', '-e', 'library=*', '--format=json'], ['-f', '-c', '-e', 'library=*'], ['-f', '-e', 'symbol=main', '-k'],
    ['-f', '-P', '/dev/null', '-yy'], ['-f', '--engine=bpf', '-yy', '-Y', '-k'],
    ['-f', '--engine=bpf', '--format=json', '-yy', '-Y'], ['--explain', '-f'],
)
REPLAYED = (['-yy', '-Y', '-k'], ['--format=json', '-yy', '-Y'], ['-c'], ['--format=folded'], ['--info'],
            ['--explain', '--format=json'])


def wrong(data, is_json=False):
    for line in data.split(b'\n'):
        if any(byte < 0x20 or byte == 0x7f for byte in line.replace(b'\t', b'')):
            return f'a control character: {line[:200]}'
        if line.startswith(b'+++ FORGED'):
            return 'a forged line'
        if is_json and line:
            record = json.loads(line)
            if 'f' in record:
                return f'a forged member: {line[:200]}'
    return None


def run(tracer, folder, *words):
    """What was written to files, and to standard error by the tracer alone."""
    work = folder / 'work'
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    for old in folder.glob('out*'):
        old.unlink()
    done = subprocess.run([tracer, '-o', str(folder / 'out'), *words], cwd=work, capture_output=True, timeout=3 * PATIENCE)
    return b''.join(path.read_bytes() for path in sorted(folder.glob('out*'))), done


def check(tracer, program, folder):
    (folder / NAME).write_bytes(pathlib.Path(program).read_bytes())
    (folder / NAME).chmod(0o755)
    command = [str(folder / NAME), 'fail']
    silent = ['sh', '-c', '"$@" 2>/dev/null', 'sh', *command]  # it writes what it likes
    for form in FORMS:
        data, done = run(tracer, folder, *form, *silent)
        if not data and 'bpf' in ' '.join(form):
            print(f'skipped: {" ".join(form)}: {done.stderr.decode(errors="replace").strip()}')
            continue
        assert data or '-P' in form or 'symbol=main' in form, f'{form}: nothing was written: {done}'
        problem = wrong(data, '--format=json' in form) or wrong(done.stderr)
        assert problem is None, f'{form}: {problem}'
    for form in (['--explain'], ['--explain', '--format=json']):
        _, done = run(tracer, folder, *form, *silent)
        problem = wrong(done.stderr, '--format=json' in form)
        assert problem is None, f'{form}: {problem}'
    done = run(tracer, folder, '--explain', *silent)[1].stderr.decode()
    for line in done.splitlines():
        if line.startswith('  remedy') and 'mkdir -p ' in line:
            word = line.split('mkdir -p ', 1)[1]
            assert word.startswith("'") and 'touch' in shlex.split(word.split(', or')[0])[0], f'a shell runs more: {line}'
            break
    else:
        raise AssertionError(f'no remedy: {done}')
    run(tracer, folder, '-f', '-k', f'--record={folder}/record', *silent)
    for form in REPLAYED:
        data, done = run(tracer, folder, f'--replay={folder}/record', *form)
        problem = wrong(data, '--format=json' in form) or wrong(done.stdout) or wrong(done.stderr, '--format=json' in form)
        assert problem is None, f'replay {form}: {problem}'
    listed = run(tracer, folder, f'--list-probes={folder / NAME}')[1]
    assert listed.stdout and wrong(listed.stdout) is None, wrong(listed.stdout)


def main():
    with tempfile.TemporaryDirectory() as name:
        try:
            check(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), pathlib.Path(name))
        except AssertionError as failure:
            print(failure)
            return 1
    print('ok')
    return 0


if __name__ == '__main__':
    sys.exit(main())
