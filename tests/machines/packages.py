"""Debian packages of another architecture or release, unpacked into a cache: the machine's own apt and dpkg stay as they are.

Mirrors are those that the machine's own apt knows; each (architecture, release) has an apt state of its own.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

KEYRING = pathlib.Path('/usr/share/keyrings/debian-archive-keyring.gpg')
USR_MERGED = ('bin', 'sbin', 'lib')


class Unavailable(Exception):
    """Packages cannot be had here: what is missing and why."""


def cache_folder(name):
    """A directory outside the tree, kept from run to run."""
    base = pathlib.Path(os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache')
    return base / f'tracer-{name}'


def mirrors():
    """(address, release) of every source of Debian packages that this machine has."""
    try:
        listed = subprocess.run(['apt-get', 'indextargets', '--format', '$(REPO_URI) $(RELEASE) $(COMPONENT)',
                                 'Created-By: Packages'], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unavailable(f'this machine has no apt to fetch packages with ({error})') from error
    found = [line.split() for line in listed.stdout.splitlines()]
    found = [(row[0], row[1]) for row in found if len(row) == 3 and row[2] == 'main']
    if not found:
        raise Unavailable("this machine's apt has no source of Debian packages (component main)")
    return list(dict.fromkeys(found))


class Packages:
    """The packages of one architecture and release. `release` is None for the machine's own; `kind` is deb-src for sources."""

    def __init__(self, cache, architecture, release=None, kind='deb'):
        self._folder = cache / 'apt' / f'{architecture}-{release or "own"}{kind.removeprefix("deb")}'
        self._kind = kind
        self._architecture = architecture
        self._release = release
        self._updated = False

    def _sources(self):
        signed = f' signed-by={KEYRING}' if KEYRING.exists() else ''
        sources = mirrors()
        if self._release:  # where a release itself stands, its siblings stand, too
            sources = [(address, self._release) for address, release in sources if '-' not in release]
        return ''.join(f'{self._kind} [arch={self._architecture}{signed}] {address} {release} main\n'
                       for address, release in dict.fromkeys(sources))

    def _apt(self, *command, cwd=None):
        state = self._folder
        for part in ('lists/partial', 'cache/archives/partial', 'etc'):
            (state / part).mkdir(parents=True, exist_ok=True)
        (state / 'status').touch()
        (state / 'etc/sources.list').write_text(self._sources())
        (state / 'apt.conf').write_text(
            f'APT::Architecture "{self._architecture}";\nAPT::Architectures {{ "{self._architecture}"; }};\n'
            f'APT::Install-Recommends "false";\nAPT::Sandbox::User "root";\nAPT::Update::Post-Invoke-Success "";\n'
            f'#clear APT::Update::Post-Invoke-Success;\n#clear DPkg::Post-Invoke;\n'
            f'Dir::State "{state}";\nDir::State::status "{state}/status";\nDir::State::lists "{state}/lists";\n'
            f'Dir::Cache "{state}/cache";\nDir::Etc::sourcelist "{state}/etc/sources.list";\n'
            'Dir::Etc::sourceparts "/dev/null";\nDir::Etc::preferences "/dev/null";\n'
            'Dir::Etc::preferencesparts "/dev/null";\n')
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=cwd,
                              env={**os.environ, 'APT_CONFIG': str(state / 'apt.conf'), 'LC_ALL': 'C'})
        if done.returncode != 0:
            raise Unavailable(f'{" ".join(command)} ({self._architecture}, {self._release or "own release"}) failed:\n'
                              f'{done.stderr.strip()}')
        return done.stdout

    def _update(self):
        if not self._updated:
            self._apt('apt-get', 'update', '-q')
            self._updated = True

    def fetch(self, names):
        """The .deb files of `names` and of all that they depend on."""
        self._update()
        archives = self._folder / 'cache/archives'
        self._apt('apt-get', 'install', '--download-only', '--yes', '-q', *names)
        plan = self._apt('apt-get', 'install', '--print-uris', '--simulate', '--yes', '-q', *names)
        # Inst NAME (VERSION ORIGIN [ARCHITECTURE]); the colon of a version is quoted in the file's name.
        wanted = [line.split()[1:3] for line in plan.splitlines() if line.startswith('Inst ')]
        found = [file for name, version in wanted
                 for file in archives.glob(f'{name}_{version.strip("(").replace(":", "%3a")}_*.deb')]
        if len(found) < len(wanted):
            raise Unavailable(f'apt fetched {len(found)} of {len(wanted)} packages for {self._architecture}')
        return found

    def fetch_kernel(self, package):
        """The .deb files of the kernel that the package `linux-image-…` depends on; its image is the first one's."""
        self._update()
        image = self._parts(package, 'linux-image-')
        if not image:
            raise Unavailable(f'{package} depends on no kernel')
        # From Debian 14 on, what an image consists of stands in packages of its own.
        return [self._fetch_alone(name) for name in image[:1] + self._parts(image[0], 'linux-binary-', 'linux-modules-')]

    def fetch_source(self, name, into):
        """What the authors of a program published, without Debian's changes, in the directory `into`."""
        self._update()
        folder = self._folder / 'sources'
        folder.mkdir(exist_ok=True)
        self._apt('apt-get', 'source', '--download-only', '-q', name, cwd=folder)
        archive = max(folder.glob(f'{name}_*.orig.tar.*'), key=lambda file: not file.name.endswith('.asc'))
        fresh = into.with_suffix('.new')
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        subprocess.run(['tar', '-x', '--strip-components=1', '-f', archive, '-C', fresh], check=True)
        fresh.rename(into)

    def _parts(self, package, *prefixes):
        """What it depends on, as far as the names begin so."""
        shown = self._apt('apt-cache', 'show', '--no-all-versions', package)
        depends = next((line for line in shown.splitlines() if line.startswith('Depends:')), '')
        return [word.strip(' ,') for word in depends.split() if word.startswith(prefixes)]

    def _fetch_alone(self, name):
        folder = self._folder / 'kernels'
        folder.mkdir(exist_ok=True)
        if not any(folder.glob(name + '_*.deb')):
            self._apt('apt-get', 'download', '-q', name, cwd=folder)
        return max(folder.glob(name + '_*.deb'))


def unpack(deb, into):
    """Only the files of a package: none of its scripts runs."""
    content = subprocess.Popen(['dpkg-deb', '--fsys-tarfile', deb], stdout=subprocess.PIPE)
    subprocess.run(['tar', '-x', '--keep-directory-symlink', '-C', into], stdin=content.stdout, check=True)
    content.stdout.close()
    if content.wait() != 0:
        raise Unavailable(f'{deb} is damaged: remove it')


def tree(cache, architecture, names, release=None):
    """A directory that holds the files of `names` and of what they depend on: a root of a system, as far as they make one."""
    key = hashlib.sha256(' '.join([architecture, release or '', *sorted(names)]).encode()).hexdigest()
    root = cache / f'root-{architecture}'
    written = root.with_suffix('.key')  # outside: the name stays, which the compiler's cache depends on
    if root.exists() and written.exists() and written.read_text() == key:
        return root
    print(f'fetching packages for {architecture} to {root}', file=sys.stderr, flush=True)
    for old in (root.with_suffix('.ext4'), written):
        old.unlink(missing_ok=True)
    shutil.rmtree(root, ignore_errors=True)
    fresh = root.with_suffix('.new')
    shutil.rmtree(fresh, ignore_errors=True)
    packages = Packages(cache, architecture, release).fetch(names)
    for name in USR_MERGED:
        (fresh / 'usr' / name).mkdir(parents=True)
        (fresh / name).symlink_to(f'usr/{name}')
    if architecture == 'amd64':
        (fresh / 'usr/lib64').mkdir()
        (fresh / 'lib64').symlink_to('usr/lib64')
    for package in packages:
        unpack(package, fresh)
    fresh.rename(root)
    written.write_text(key)
    return root
