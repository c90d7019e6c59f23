#!/usr/bin/python3
"""The newest strace and ltrace, to run beside ours: Debian testing's, unpacked into a cache.

    peers.py [--installed] strace    prints a command's path, and on standard error which version that is

The machine's own packages stay as they are. What cannot be fetched is replaced by the installed program, and that is
reported; where there is none either, the status is 77.
"""

import functools
import os
import pathlib
import platform
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'machines'))
import packages  # noqa: E402

RELEASE = 'testing'
SKIPPED = 77
ARCHITECTURES = {'x86_64': ('amd64', 'ld-linux-x86-64.so.2'), 'aarch64': ('arm64', 'ld-linux-aarch64.so.1')}

# A peer runs with the libraries of its own release: the dynamic linker of that root starts it.
WRAPPER = '''#!/bin/sh
exec {linker} --library-path {libraries} --argv0 {name} {program} "$@"
'''


def _unpacked(name):
    """The wrapper of the newest `name`; fetches it unless the cache has it."""
    if platform.machine() not in ARCHITECTURES:
        raise packages.Unavailable(f'no peers are known for {platform.machine()}')
    architecture, linker = ARCHITECTURES[platform.machine()]
    cache = packages.cache_folder('peers')
    wrapper = cache / 'bin' / name
    if wrapper.exists():
        return wrapper
    print(f'fetching {name} of Debian {RELEASE} to {cache}', file=sys.stderr, flush=True)
    archives = packages.Packages(cache, architecture, RELEASE).fetch([name])
    root = cache / name
    fresh = root.with_suffix('.new')
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.rmtree(root, ignore_errors=True)
    for directory in packages.USR_MERGED + ('lib64',):
        (fresh / 'usr' / directory).mkdir(parents=True)
        (fresh / directory).symlink_to(f'usr/{directory}')
    for archive in archives:
        packages.unpack(archive, fresh)
    fresh.rename(root)
    libraries = ':'.join(f'{root}/usr/lib/{part}' for part in (f'{platform.machine()}-linux-gnu',
                                                               f'{platform.machine()}-linux-gnu/elfutils'))
    wrapper.parent.mkdir(exist_ok=True)
    written = wrapper.with_suffix('.new')
    written.write_text(WRAPPER.format(linker=next(root.glob(f'usr/lib*/**/{linker}')), libraries=libraries, name=name,
                                      program=root / 'usr/bin' / name))
    written.chmod(0o755)
    subprocess.run([written, '-V'], check=True, stdout=subprocess.DEVNULL)
    written.rename(wrapper)
    return wrapper


@functools.cache
def find(name, installed=False):
    """The path of the newest `name`, or of the installed one with a note; None where there is none."""
    if not installed and not os.environ.get('TRACER_INSTALLED_PEERS'):
        try:
            return str(_unpacked(name))
        except (packages.Unavailable, OSError, subprocess.SubprocessError) as error:
            print(f'no {name} of Debian {RELEASE}: {error}\nthe installed {name} stands in', file=sys.stderr)
    return shutil.which(name)


def version(path):
    """The first line of `-V`."""
    said = subprocess.run([path, '-V'], capture_output=True, text=True, check=False)
    return (said.stdout or said.stderr).splitlines()[0]


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
