#!/usr/bin/python3
"""The newest strace, ltrace and others, to run beside ours: Debian testing's, unpacked into a cache.

    peers.py [--installed] strace    prints a command's path, and on standard error which version that is

The machine's own packages stay as they are. A program is made to find the libraries of its own release: by its name in
/proc and in messages it is the program itself. What cannot be fetched is replaced by the installed program, and that is
reported; where there is none either, the status is 77. TRACER_INSTALLED_PEERS=1 fetches nothing.
"""

import contextlib
import fcntl
import functools
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'machines'))
import packages  # noqa: E402

RELEASE = 'testing'
REFERENCE = 'strace -- version 7.2'  # whose text ours is held to
SKIPPED = 77
VERSION_OPTIONS = {'duckdb': '--version', 'uftrace': '--version', 'trace-cmd': '-v'}  # of those that have no -V
AGAIN = 600  # seconds for which a failure is remembered
ARCHITECTURES = {'x86_64': ('amd64', 'ld-linux-x86-64.so.2'), 'aarch64': ('arm64', 'ld-linux-aarch64.so.1')}


@contextlib.contextmanager
def _locked(cache):
    """Tests run side by side; the first one fetches."""
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / 'lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _use_own_libraries(program, root, machine, linker):
    """Changes the program's file: the kernel starts it with the dynamic linker of `root`, which looks for libraries there."""
    libraries = [root / f'usr/lib/{machine}-linux-gnu', root / f'usr/lib/{machine}-linux-gnu/elfutils']
    interpreter = next(root.glob(f'usr/lib*/**/{linker}'))
    # DT_RPATH is for the libraries that libraries need, too.
    subprocess.run(['patchelf', '--set-interpreter', interpreter, '--force-rpath', '--set-rpath', ':'.join(map(str, libraries)),
                    program], check=True)


def _unpack(name, root, machine, emulator):
    """Fetches the newest `name` and all that it needs to `root`; `emulator` is a command before it, to try it."""
    if shutil.which('patchelf') is None:
        raise packages.Unavailable('patchelf is not installed')
    architecture, linker = ARCHITECTURES[machine]
    print(f'fetching {name} of Debian {RELEASE} to {root}', file=sys.stderr, flush=True)
    archives = packages.Packages(root.parent, architecture, RELEASE).fetch([name])
    shutil.rmtree(root, ignore_errors=True)
    for directory in packages.USR_MERGED + ('lib64',):
        (root / 'usr' / directory).mkdir(parents=True)
        (root / directory).symlink_to(f'usr/{directory}')
    for archive in archives:
        packages.unpack(archive, root)
    fresh = root / 'fresh'
    shutil.copy(root / 'usr/bin' / name, fresh)
    _use_own_libraries(fresh, root, machine, linker)
    subprocess.run([*emulator, fresh, VERSION_OPTIONS.get(name, '-V')], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    fresh.rename(root / name)


def fetched(name, machine=platform.machine(), emulator=()):
    """The path of the newest `name` for `machine`, which `emulator` can run here; fetches it unless the cache has it. Its
    folder holds all that it needs. Raises packages.Unavailable."""
    if machine not in ARCHITECTURES:
        raise packages.Unavailable(f'no peers are known for {machine}')
    cache = packages.cache_folder('peers' if machine == platform.machine() else f'peers-{machine}')
    program = cache / f'{name}-{RELEASE}' / name
    with _locked(cache):
        failure = cache / f'{name}.failure'
        if not program.exists():
            if failure.exists() and time.time() - failure.stat().st_mtime < AGAIN:
                raise packages.Unavailable(failure.read_text())
            try:
                _unpack(name, program.parent, machine, emulator)
            except (packages.Unavailable, OSError, subprocess.SubprocessError) as error:
                failure.write_text(str(error))
                raise packages.Unavailable(str(error)) from error
            failure.unlink(missing_ok=True)
    return program


@functools.cache
def find(name, installed=False):
    """The path of the newest `name`, or of the installed one with a note; None where there is none."""
    if not installed and not os.environ.get('TRACER_INSTALLED_PEERS'):
        try:
            return str(fetched(name))
        except packages.Unavailable as error:
            print(f'no {name} of Debian {RELEASE}: {error}\nthe installed {name} stands in', file=sys.stderr)
    return shutil.which(name)


def said_of_version(path):
    """The lines of what it says of its version."""
    said = subprocess.run([path, VERSION_OPTIONS.get(pathlib.Path(path).name, '-V')], capture_output=True, text=True, check=False)
    return (said.stdout or said.stderr).splitlines()


def version(path):
    """The first of those lines."""
    return said_of_version(path)[0]


def reference():
    """(path of the strace whose text ours is held to, nothing), or (None, why it is not there). Reports its version."""
    path = find('strace')
    if path is None:
        return None, 'there is no strace'
    found, *more = said_of_version(path)
    print(f'beside {found} ({path})', file=sys.stderr, flush=True)
    # Under strace's name we claim its version.
    if any('tracer' in line.split() for line in more):
        return None, f'{path} is the tracer itself'
    return (path, '') if found == REFERENCE else (None, f'{found} is there, and needed is {REFERENCE}')


def need_reference():
    """The path of the strace whose text ours is held to. Without one, the test ends as skipped."""
    path, reason = reference()
    if path is None:
        print(f'SKIPPED: {reason}')
        sys.exit(SKIPPED)
    return path


def main():
    arguments = sys.argv[1:]
    installed = '--installed' in arguments
    names = [argument for argument in arguments if argument != '--installed']
    if len(names) != 1:
        sys.exit(__doc__)
    path = find(names[0], installed)
    if path is None:
        print(f'there is no {names[0]} here', file=sys.stderr)
        sys.exit(SKIPPED)
    print(version(path), file=sys.stderr)
    print(path)


if __name__ == '__main__':
    main()
