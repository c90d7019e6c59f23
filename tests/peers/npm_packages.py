"""Packages of npm that tests use: kept in a cache from run to run, without their installation scripts."""

import fcntl
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'machines'))
import packages  # noqa: E402

AGAIN = 600  # seconds for which a failure is remembered


def directory(name, version):
    """The directory of a package. Raises packages.Unavailable."""
    cache = packages.cache_folder('npm')
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / 'lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        place = cache / f'{name}-{version}' / 'node_modules' / name
        failure = cache / f'{name}.failure'
        if not place.exists():
            if failure.exists() and time.time() - failure.stat().st_mtime < AGAIN:
                raise packages.Unavailable(failure.read_text())
            try:
                _install(name, version, cache / f'{name}-{version}')
            except (packages.Unavailable, OSError, subprocess.SubprocessError) as error:
                failure.write_text(str(error))
                raise packages.Unavailable(str(error)) from error
            failure.unlink(missing_ok=True)
    return place


def _install(name, version, into):
    npm = shutil.which('npm')
    if npm is None:
        raise packages.Unavailable('npm is not installed')
    fresh = into.with_suffix('.new')
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    done = subprocess.run([npm, 'install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', fresh, f'{name}@{version}'],
                          capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise packages.Unavailable(f'npm cannot fetch {name}: {said[0] if said else done.returncode}')
    fresh.rename(into)
