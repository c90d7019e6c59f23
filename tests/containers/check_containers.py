#!/usr/bin/python3
"""Containers: watched from the host by name, and the tracer inside them.

    check_containers.py TRACER CONTAINED [CASE...]     runs all cases, or those whose names begin so
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE = float(os.environ.get('TRACER_LIVE_PATIENCE', 20))  # seconds


def run(*words, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=3 * PATIENCE, **more)


def mount_of_groups():
    for line in pathlib.Path('/proc/self/mounts').read_text().splitlines():
        if line.split()[2] == 'cgroup2':
            return pathlib.Path(line.split()[1])
    return None


class Group:
    """A control group of our own, made and removed."""

    def __init__(self, name):
        self.path = mount_of_groups() / name

    def __enter__(self):
        self.path.mkdir()
        return self.path

    def __exit__(self, *what):
        until(lambda: removed(self.path))


def removed(path):
    try:
        path.rmdir()
    except OSError:
        return False
    return True


def until(condition):
    limit = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < limit, 'it does not happen'
        time.sleep(0.01)


class Watching:
    """A tracer that watches for as long as the block lasts."""

    def __init__(self, tracer, folder, *options):
        self.log = folder / 'log'
        self.errors = folder / 'errors'
        self.words = [tracer, '-e', 'trace=chdir', '-o', self.log, *options]

    def __enter__(self):
        with open(self.errors, 'w') as errors:
            self.process = subprocess.Popen([str(word) for word in self.words], stderr=errors)
        return self

    def said(self, text):
        return text in self.errors.read_text()

    def saw(self, text):
        return self.log.exists() and text in self.log.read_text()

    def __exit__(self, *what):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(PATIENCE)


def why_no_groups(tracer):
    if os.geteuid() != 0:
        return 'needs root'
    if mount_of_groups() is None:
        return 'cgroup v2 is not mounted'
    done = run(tracer, '--engine=bpf', '-o', '/dev/null', 'true')
    if done.returncode != 0:
        return 'no BPF here: ' + done.stderr.strip()
    try:
        with Group(f'tracer-probe-{os.getpid()}'):
            return None
    except OSError as error:
        return f'no control group can be made: {error}'


def starts_later(tracer, contained, folder, option, group):
    """What starts after the tracer is seen, and again when it starts again; others are not."""
    with Watching(tracer, folder, option) as watching:
        until(lambda: watching.said('waiting for it to start'))
        for turn in ('first', 'second'):
            run(contained, '-', f'/no/{turn}-outside')
            with Group(group) as path:
                # A runtime needs a moment between making the group and running in it, too.
                time.sleep(0.3)
                assert run(contained, path / 'cgroup.procs', f'/no/{turn}').returncode == 0
                until(lambda: watching.saw(f'/no/{turn}"'))
        assert not watching.saw('outside'), watching.log.read_text()


def unit_starts_later(tracer, contained, folder):
    name = f'tracer-test-{os.getpid()}'
    starts_later(tracer, contained, folder, f'--unit={name}', f'{name}.service')


def unit_runs(tracer, contained, folder):
    name = f'tracer-test-{os.getpid()}.scope'
    with Group(name) as path, Watching(tracer, folder, f'--unit={name}') as watching:
        until(lambda: run(contained, path / 'cgroup.procs', '/no').returncode == 0 and watching.saw('/no'))
    assert not watching.said('waiting'), watching.errors.read_text()


def unit_is_counted(tracer, contained, folder):
    """By the engine that counts, beside a command."""
    name = f'tracer-test-{os.getpid()}.service'
    with Group(name) as path:
        done = run(tracer, '-c', '-U', 'calls,name', '-e', 'trace=chdir', f'--unit={name}', 'sh', '-c',
                   f'{contained} {path}/cgroup.procs /no /no /no; {contained} - /no')
    assert re.search(r'\b3 chdir$', done.stderr, re.M), done


def container_by_id_starts_later(tracer, contained, folder):
    identity = f'{os.getpid():064x}'[::-1]
    starts_later(tracer, contained, folder, f'--container={identity[:20]}', f'libpod-{identity}.scope')


def ambiguous(tracer, contained, folder):
    """One line, and nothing runs."""
    one, other = (f'{os.getpid():x}'.rjust(8, 'f') + digit * 56 for digit in 'ab')
    with Group(f'docker-{one}.scope'), Group(f'crio-{other}.scope'):
        done = run(tracer, f'--container={one[:8]}', 'touch', folder / 'made')
        assert done.returncode == 1 and not (folder / 'made').exists(), done
        assert re.search(rf'--container={one[:8]}: 2 containers are called that; choose one by its id: {one[:12]}, {other[:12]}\n',
                         done.stderr), done.stderr
        with Watching(tracer, folder, f'--container={one[:-1]}c') as watching:
            until(lambda: watching.said(f'--container={one[:-1]}c: no container of that name is running; waiting for it to start; '
                                        f'did you mean {one}?'))
    with Watching(tracer, folder, f'--unit={"q" * 20}') as watching:
        until(lambda: watching.said(f'--unit={"q" * 20}: no unit of that name is running; waiting for it to start'))


def bundle(folder, words, capabilities, binds):
    """An OCI bundle with a root of its own; the program's calls are watched by name."""
    (folder / 'rootfs').mkdir()
    for name in ('proc', 'run', 'dev'):
        (folder / 'rootfs' / name).mkdir()
    assert run('crun', 'spec', cwd=folder).returncode == 0
    config = json.loads((folder / 'config.json').read_text())
    config['process'].update(terminal=False, args=[str(word) for word in words])
    config['process'].pop('rlimits', None)
    for which in config['process']['capabilities'].values():
        which.extend(capabilities)
    config['linux'].pop('resources', None)  # limits of devices would take rights that root may lack
    config['annotations'] = {'io.kubernetes.cri.container-name': 'tracer-test-web'}
    config['mounts'] = [one for one in config['mounts'] if one['destination'] in ('/proc', '/dev', '/dev/pts')]
    config['mounts'] += [{'destination': str(path), 'source': str(path), 'type': 'none', 'options': ['rbind', 'ro']}
                         for path in map(pathlib.Path, binds) if path.exists()]
    (folder / 'config.json').write_text(json.dumps(config))


def crun(*words):
    """crun wants nothing but cgroup v2, in the place for it."""
    return ['unshare', '-m', 'sh', '-c', 'umount -l /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup && exec crun "$@"', 'crun', *words]


def why_no_crun(folder):
    if shutil.which('crun') is None:
        return 'there is no crun'
    trial = folder / 'trial'
    trial.mkdir()
    bundle(trial, ['/bin/true'], [], ['/bin', '/usr', '/lib', '/lib64'])
    done = run(*crun('run', f'tracer-trial-{os.getpid()}'), cwd=trial, stdin=subprocess.DEVNULL)
    return None if done.returncode == 0 else f'crun runs nothing here: {done.stderr.strip()}'


def crun_by_name(tracer, contained, folder):
    """A container that starts later, by its id and by the name that Kubernetes gives it."""
    if why_not := why_no_crun(folder):
        return why_not
    place = folder / 'bundle'
    place.mkdir()
    bundle(place, [contained, 'until', '/run/seen', '/no/inside'], [], [contained.parent])
    seen = place / 'rootfs/run/seen'
    identity = f'tracer-test-{os.getpid()}'
    for name in (identity, 'tracer-test-web'):
        with Watching(tracer, folder, f'--container={name}') as watching:
            until(lambda: watching.said('waiting for it to start'))
            container = subprocess.Popen(crun('run', identity), cwd=place, stdin=subprocess.DEVNULL)
            try:
                until(lambda: watching.saw('/no/inside'))
            finally:
                seen.touch()
                assert container.wait(PATIENCE) == 0
            seen.unlink()
    return None


SYSTEM = ('/bin', '/usr', '/lib', '/lib64', '/lib32', '/etc')


def trace_inside(tracer):
    """What a user does in a container: trace what it starts, and a process that runs already."""
    return f"""{tracer} -f -e trace=chdir -o /run/log sh -c 'cd /' && grep -c 'chdir("/") *= 0' /run/log
               sleep 60 & sleep 0.2; timeout 1 {tracer} -p $! -o /run/attached; cat /run/attached; kill $!
               {tracer} --doctor | sed -n 's/^/doctor: /p'"""


def check_inside(done, may_attach_to_others):
    assert done.stdout.startswith('1\n'), done
    assert re.search('(nanosleep|restart_syscall).* <detached ...>', done.stdout), done
    assert re.search('doctor: works +ptrace', done.stdout), done
    assert ('no CAP_SYS_PTRACE' in done.stdout) == (not may_attach_to_others), done


def inside_crun(tracer, contained, folder):
    if why_not := why_no_crun(folder):
        return why_not
    for number, capabilities in enumerate(([], ['CAP_SYS_PTRACE'])):  # a runtime's default has it not
        place = folder / f'bundle{number}'
        place.mkdir()
        bundle(place, ['/bin/sh', '-c', trace_inside(tracer)], capabilities, [*SYSTEM, tracer.parent])
        config = json.loads((place / 'config.json').read_text())
        config['mounts'].append({'destination': '/run', 'source': 'tmpfs', 'type': 'tmpfs'})
        config['root']['readonly'] = False
        (place / 'config.json').write_text(json.dumps(config))
        check_inside(run(*crun('run', f'tracer-test-{os.getpid()}-{number}'), cwd=place, stdin=subprocess.DEVNULL), capabilities)
    return None


def inside_bwrap(tracer, contained, folder):
    if shutil.which('bwrap') is None:
        return 'there is no bwrap'
    box = ['bwrap', '--unshare-user', '--unshare-pid', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/run']
    for path in (*SYSTEM, tracer.parent):
        box += ['--ro-bind-try', path, path]
    probe = run(*box, 'true')
    if probe.returncode != 0:
        return f'bwrap runs nothing here: {probe.stderr.strip()}'
    for capabilities in (['--cap-drop', 'ALL'], ['--cap-drop', 'ALL', '--cap-add', 'CAP_SYS_PTRACE']):
        check_inside(run(*box, *capabilities, 'sh', '-c', trace_inside(tracer)), 'CAP_SYS_PTRACE' in capabilities)
    return None


OF_GROUPS = (unit_starts_later, unit_runs, unit_is_counted, container_by_id_starts_later, ambiguous, crun_by_name)
OTHERS = (inside_crun, inside_bwrap)


def main():
    tracer, contained = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    chosen = sys.argv[3:]
    no_groups = why_no_groups(tracer)
    ran = 0
    for case in (*OF_GROUPS, *OTHERS):
        if chosen and not any(case.__name__.startswith(one) for one in chosen):
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            why_not = no_groups if case in OF_GROUPS and no_groups else case(tracer, contained, pathlib.Path(folder))
        ran += why_not is None
        print(f'{case.__name__}: ' + ('ok' if why_not is None else f'skipped: {why_not}'), flush=True)
    sys.exit(0 if ran else 77)


if __name__ == '__main__':
    main()
