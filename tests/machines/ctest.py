"""What a build directory's ctest would run, sorted by where it can run."""

import json
import pathlib
import subprocess

from guest import Job

# By the directory under tests/ that adds a test. What needs neither ptrace nor a machine of its own …
PURE = {'unit', 'sysc', 'decode', 'fuzz'}
# … and what says nothing about another machine, or needs its compilers and servers. All others go to a guest.
AT_HOME = {'layers', 'uapi', 'bench', 'compat', 'probe', 'install', 'explain', 'library', 'terminal', 'completions', 'options',
           'clients'}
# Emulated, each test takes longer than its author expected.
SLOWER = 3


def _tests(build):
    listed = subprocess.run(['ctest', '--test-dir', build, '--show-only=json-v1'], capture_output=True, text=True, check=True)
    for test in json.loads(listed.stdout)['tests']:
        yield test, {item['name']: item['value'] for item in test.get('properties', [])}


def _kind(properties):
    return pathlib.Path(properties['WORKING_DIRECTORY']).name


def run_pure(build, jobs):
    """Those that run under the emulator of a cross build, too. True if all passed."""
    names = [test['name'] for test, properties in _tests(build) if _kind(properties) in PURE]
    folders = [pathlib.Path(build) / 'tests' / kind for kind in sorted(PURE)]
    print(f'{len(names)} tests that need no kernel of their own', flush=True)
    passed = bool(names)
    for folder in folders:
        done = subprocess.run(['ctest', '--test-dir', folder, '--output-on-failure', '--progress', f'-j{jobs}',
                               '--timeout', '120'], capture_output=True, text=True)
        if done.returncode != 0:
            print(done.stdout)
            passed = False
    return passed


def live_jobs(build, emulator=()):
    """Those that a guest has to run; `emulator` is the command's beginning that ctest would put before each."""
    jobs = []
    left_out = []
    for test, properties in _tests(build):
        if _kind(properties) in PURE | AT_HOME:
            left_out += [test['name']] if _kind(properties) in AT_HOME else []
            continue
        command = test.get('command', ['false'])  # one that was not built fails
        if command[:len(emulator)] == list(emulator):
            command = command[len(emulator):]
        jobs.append(Job(test['name'], command, SLOWER * float(properties.get('TIMEOUT', 100)), properties['WORKING_DIRECTORY'],
                        int(properties.get('SKIP_RETURN_CODE', -1))))
    print('left out, since they need the compilers of the machine or say nothing about it:', ', '.join(left_out))
    return jobs


def _is_program(file):
    if not file.is_file() or file.is_symlink() or file.suffix in ('.o', '.a'):
        return False
    with open(file, 'rb') as content:
        return content.read(4) == b'\x7fELF'


def live_files(build, tree):
    """What those tests need: the programs of the build, and the tests' own files."""
    programs = [file for file in pathlib.Path(build).rglob('*') if _is_program(file)]
    return [*programs, *(tree / name for name in ('tests', 'syscalls', 'man'))]
