"""A virtual machine without acceleration that boots a Debian kernel, runs a list of commands in a root of Debian packages
and hands back what they printed.

    disk a  the root, an ext4 image of a directory of packages; what the guest writes to it is forgotten
    disk b  a tar of what the tests need, unpacked over the root
    disk c  comes back as a tar: one file of output for each command, and their statuses
"""

import dataclasses
import hashlib
import lzma
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

from packages import Packages, Unavailable, unpack

HERE = pathlib.Path(__file__).resolve().parent
# Drivers of the disks, then what the tests' own calls would load by themselves on a whole system.
MODULES = ['virtio_pci', 'virtio_blk', 'crc32c_generic', 'ext4', 'unix_diag', 'inet_diag', 'tcp_diag', 'udp_diag', 'raw_diag',
           'netlink_diag', 'af_packet_diag', 'tun']
RESULTS_SIZE = 256 << 20
TIMED_OUT = 124  # timeout(1)
STARTING = '@@ '  # before a command, on the console
OVER = '@@ over'
ENDED_BADLY = '@! '  # before a command's number and status, on the console


@dataclasses.dataclass
class Machine:
    """`emulator` is the whole command up to what differs from run to run."""
    architecture: str
    emulator: list
    console: str


ARM64 = Machine('arm64', ['qemu-system-aarch64', '-M', 'virt,gic-version=3', '-cpu', 'max,pauth-impdef=on'], 'ttyAMA0')
# Without cmpxchg16b: QEMU 7.2 leaves wrong flags behind it when a breakpoint has led there, of which Linux 6.12 panics.
AMD64 = Machine('amd64', ['qemu-system-x86_64', '-M', 'q35', '-cpu', 'max,-cx16'], 'ttyS0')


@dataclasses.dataclass
class Job:
    name: str
    command: list
    timeout: float = 120
    folder: str = '/'
    skipped: int = -1  # the status that says so


@dataclasses.dataclass
class Result:
    job: Job
    status: int = None  # None: it was never run
    output: str = ''
    seconds: int = 0

    @property
    def skipped(self):
        return self.status == self.job.skipped

    @property
    def failed(self):
        return self.status != 0 and not self.skipped


class Kernel:
    """A kernel and the modules of it that a guest needs; kept as it was when it was first fetched."""

    def __init__(self, cache, architecture, package, release=None):
        key = hashlib.sha256(' '.join(MODULES).encode()).hexdigest()[:8]
        self.folder = cache / f'kernel-{package}-{release or "own"}-{architecture}-{key}'
        if not self.folder.exists():
            debs = Packages(cache, architecture, release).fetch_kernel(package)
            with tempfile.TemporaryDirectory(dir=cache) as scratch:
                for deb in debs:
                    unpack(deb, scratch)
                fresh = pathlib.Path(scratch) / 'kernel'
                (fresh / 'modules').mkdir(parents=True)
                shutil.copy(next(pathlib.Path(scratch).glob('**/vmlinuz*')), fresh / 'vmlinuz')
                self._take_modules(pathlib.Path(scratch), fresh / 'modules')
                (fresh / 'version').write_text(debs[0].name.split('_')[0].removeprefix('linux-image-'))
                fresh.rename(self.folder)
        self.image = self.folder / 'vmlinuz'
        self.modules = sorted((self.folder / 'modules').iterdir())
        self.version = (self.folder / 'version').read_text()

    @staticmethod
    def _take_modules(package, into):
        """Into numbered files, in the order of loading. What is not there is built in, or unknown to that kernel."""
        files = {re.sub(r'\.ko.*', '', file.name).replace('-', '_'): file for file in package.glob('**/*.ko*')}
        taken = []

        def take(name):
            if name not in files or name in taken:
                return
            content = files[name].read_bytes()
            if files[name].suffix == '.xz':
                content = lzma.decompress(content)
            needed = re.search(rb'\0depends=([^\0]*)\0', content)
            for other in needed[1].decode().split(',') if needed else []:
                take(other.replace('-', '_'))
            taken.append(name)
            (into / f'{len(taken):02}-{name}.ko').write_bytes(content)

        for module in MODULES:
            take(module)


def _initrd(cache, kernel, root, machine):
    """busybox, the modules and init."""
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        tree = pathlib.Path(scratch)
        for name in ('modules', 'dev', 'proc', 'root'):
            (tree / name).mkdir()
        shutil.copy(root / 'bin/busybox', tree / 'busybox')
        shutil.copy(HERE / 'init', tree / 'init')
        (tree / 'init').chmod(0o755)
        for module in kernel.modules:
            shutil.copy(module, tree / 'modules')
        names = '\n'.join(str(path.relative_to(tree)) for path in sorted(tree.rglob('*')))
        packed = subprocess.run(['cpio', '--quiet', '-o', '-H', 'newc', '-R', '0:0'], cwd=tree, input=names.encode(),
                                stdout=subprocess.PIPE, check=True).stdout
    initrd = cache / f'initrd-{machine.architecture}-{kernel.version}'
    initrd.write_bytes(packed)
    return initrd


def _image(root):
    """An ext4 image of the root, with room to write."""
    image = root.with_suffix('.ext4')
    if not image.exists():
        fresh = image.with_suffix('.new')
        fresh.unlink(missing_ok=True)
        # The tests' own directories are made beforehand: the packages that would do so run no scripts here.
        for name in ('proc', 'sys', 'dev', 'tmp', 'run', 'mnt', 'root', 'guest', 'home', 'var/tmp'):
            (root / name).mkdir(parents=True, exist_ok=True)
        subprocess.run(['mkfs.ext4', '-q', '-d', root, '-O', '^has_journal,^metadata_csum', '-E', 'root_owner=0:0',
                        '-m', '0', '-F', fresh, '2G'], check=True,
                       stdout=subprocess.DEVNULL, env={**os.environ, 'PATH': os.environ['PATH'] + ':/usr/sbin:/sbin'})
        fresh.rename(image)
    return image


def _commands(jobs):
    """The shell script that runs the jobs in the guest."""
    lines = [(HERE / 'prepare.sh').read_text()]
    for number, job in enumerate(jobs):
        lines.append(f'run {number} {int(job.timeout)} {shlex.quote(job.folder)} {shlex.quote(job.name)} {shlex.join(job.command)}')
    lines.append(f'echo "{OVER}" >/dev/console')
    return '\n'.join(lines) + '\n'


def _pack(files, script, where):
    with tarfile.open(where, 'w') as tar:
        for file in files:
            tar.add(file, arcname=str(file).lstrip('/'))
        name = pathlib.Path(where).with_suffix('.sh')
        name.write_text(script)
        tar.add(name, arcname='guest/run.sh')


def _results(jobs, disk):
    results = [Result(job) for job in jobs]
    try:
        with tarfile.open(disk) as tar:
            for line in tar.extractfile('./status').read().decode().splitlines():
                number, status, seconds = map(int, line.split())
                output = tar.extractfile(f'./{number}').read().decode(errors='replace')
                results[number] = Result(jobs[number], status, output, seconds)
    except (tarfile.TarError, KeyError):
        pass  # the guest came to no end: what it did not run says so
    return results


class _Guest:
    """One virtual machine, from its start until `take_results`."""

    def __init__(self, command, jobs, folder):
        self._jobs = jobs
        self._log = folder / 'console'
        self._disk = folder / 'results.tar'
        self._position = 0
        self._running = 'its start'
        self._failed = []
        self._started = time.monotonic()
        self._machine = subprocess.Popen(command, stdin=subprocess.DEVNULL)

    def is_running(self):
        return self._machine.poll() is None

    def follow(self, verbose):
        """Reads what the guest has begun since the last time."""
        with open(self._log, errors='replace') as console:
            console.seek(self._position)
            for line in iter(console.readline, ''):
                if not line.endswith('\n'):
                    break
                self._position = console.tell()
                if line.startswith(STARTING):
                    self._running = line[len(STARTING):].rstrip()
                    if verbose and not line.startswith(OVER):
                        print(f'{time.monotonic() - self._started:6.0f} s  {self._running}', flush=True)
                elif line.startswith(ENDED_BADLY):
                    number, status = map(int, line[len(ENDED_BADLY):].split())
                    if status != self._jobs[number].skipped:
                        self._failed.append(f'{self._jobs[number].name}: status {status}')

    def end(self):
        """At once. Prints what it was at, and what had failed by then; whether something had."""
        if not self.is_running():
            return False
        self._machine.kill()
        self._machine.wait()
        self.follow(False)
        print(f'a guest was ended while it was at: {self._running}')
        print('\n'.join(f'FAILED  {what}' for what in self._failed), flush=True)
        return bool(self._failed)

    def take_results(self):
        console = self._log.read_text(errors='replace')
        if OVER not in console:
            print('a guest came to no end; its console ended with')
            print('\n'.join('    ' + line for line in console.splitlines()[-25:]))
        return _results(self._jobs, self._disk)


def _command(machine, kernel, root, folder, options, cpu):
    emulator = list(machine.emulator)
    if cpu:
        emulator[emulator.index('-cpu') + 1] = cpu
    disks = []
    for file, snapshot in ((_image(root), 'on'), (folder / 'tests.tar', 'on'), (folder / 'results.tar', 'off')):
        disks += ['-drive', f'file={file},format=raw,if=virtio,snapshot={snapshot},cache=unsafe']
    # thread=single: with a thread for each processor a ptrace stop costs thirty times as much.
    return [*emulator, '-accel', 'tcg,thread=single', '-smp', '2', '-m', '1024', '-nodefaults', '-display', 'none',
            '-no-reboot', '-serial', f'file:{folder / "console"}', *disks, '-kernel', str(kernel.image),
            '-initrd', str(_initrd(folder, kernel, root, machine)),
            '-append', f'console={machine.console} quiet panic=-1 {options}']


def run(machine, kernel, root, shares, files, limit, options='', verbose=False, cpu=None):
    """Runs lists of jobs, each list in a fresh guest of its own and the guests side by side: the results of all, in that
    order. `files` are there under the paths that they have here.

    `limit` seconds are for all of it. `options` are words for the kernel's command line."""
    if not shutil.which(machine.emulator[0]):
        raise Unavailable(f'{machine.emulator[0]} is not installed')
    guests = []
    with tempfile.TemporaryDirectory(dir=root.parent) as scratch:
        started = time.monotonic()
        try:
            for number, jobs in enumerate(shares):
                folder = pathlib.Path(scratch) / str(number)
                folder.mkdir()
                _pack(files, _commands(jobs), folder / 'tests.tar')
                with open(folder / 'results.tar', 'wb') as disk:
                    disk.truncate(RESULTS_SIZE)
                (folder / 'console').touch()
                guests.append(_Guest(_command(machine, kernel, root, folder, options, cpu), jobs, folder))
            while any(guest.is_running() for guest in guests) and time.monotonic() - started < limit:
                time.sleep(0.2)
                for guest in guests:
                    guest.follow(verbose)
        except Unavailable:
            if any([guest.end() for guest in guests]):
                sys.exit(1)
            raise
        finally:
            for guest in guests:
                guest.end()
        return [result for guest in guests for result in guest.take_results()]


def report(results):
    """Prints what failed, what was skipped and what took long; (passed, failed, skipped)."""
    for result in results:
        if result.skipped:
            print(f'SKIPPED {result.job.name}: {result.output.strip().splitlines()[-1:] or ["no reason given"]}')
        elif result.failed:
            what = {None: 'was never run', TIMED_OUT: f'took more than {result.job.timeout:.0f} s'}.get(
                result.status, f'status {result.status}')
            print(f'FAILED  {result.job.name}: {what}')
            print('\n'.join('    ' + line for line in result.output.splitlines()[-60:]))
    longest = sorted(results, key=lambda result: result.seconds, reverse=True)[:5]
    print('longest: ' + ', '.join(f'{result.job.name} {result.seconds} s' for result in longest))
    failed = sum(result.failed for result in results)
    skipped = sum(result.skipped for result in results)
    return len(results) - failed - skipped, failed, skipped
