"""Files, directories, devices and locks."""

import os
import shutil
import socket
import stat

from cause import as_nobody, cause
from harness import Skipped


@cause('missing-file', 'cp FOLDER/etc/server.conf.example FOLDER/etc/server.conf', status=1)
def missing_configuration(place):
    place.file('etc/server.conf.example')
    return [place.fail, 'open-quietly', str(place.folder / 'etc/server.conf')]


@cause('missing-file', 'a file is missing: FOLDER/here/package.json')
def missing_file_that_is_seldom_one(place):
    """What it complains about by its whole name is no harmless search for modules."""
    (place.folder / 'here').mkdir()
    path = place.folder / 'here/package.json'
    return [place.file('node', f'#!/usr/bin/perl\nopen F, "<", "{path}"; stat "/usr/lib/node" for 1..30; '
                       f'print STDERR "ENOENT: no such file or directory, open {path}\\n"; exit 1', 0o755)]


@cause('missing-file', 'FOLDER/no/such')
def missing_folder(place):
    return [place.fail, 'open', str(place.folder / 'no/such/file')]


@cause('missing-file', 'a file is missing: /here/settings')
def missing_file_in_another_root(place):
    if os.geteuid() != 0:
        raise Skipped('needs root for chroot')
    (place.folder / 'jail/here').mkdir(parents=True)
    program = 'int open(const char *, int); int main(void) { return open("/here/settings", 0) < 0; }'
    place.cc('jail/program', program, '-static')
    return ['chroot', str(place.folder / 'jail'), '/program']


@cause('wrong-working-folder', 'cd FOLDER/app')
def wrong_working_folder(place):
    program = place.copy_of_fail('app/program')
    place.file('app/data.txt')
    return [program, 'open', 'data.txt']


@cause('missing-file', 'a file is missing: FOLDER/a/settings does not exist')
def folder_that_was_left_afterwards(place):
    """What counts is where and who it was when the call failed, whatever comes before anybody has looked."""
    (place.folder / 'a').mkdir()
    return ['perl', '-e', 'chdir "a"; open F, "<", "settings" or $bad = $!; chdir "/"; die "fatal: $bad\n"']


@cause('file-permission', 'user nobody (65534) may not read FOLDER/file')
def user_that_was_another_afterwards(place):
    if os.geteuid() != 0:
        raise Skipped('needs root to become another user')
    path = place.file('file', mode=0o600)
    return ['perl', '-e', f'$> = 65534; open F, "<", "{path}" or $bad = $!; $> = 0; die "fatal: $bad\n"']


@cause('working-folder-deleted', 'deleted')
def working_folder_deleted(place):
    (place.folder / 'gone').mkdir()
    return {'command': [place.fail, 'getcwd', str(place.folder / 'gone')], 'cwd': place.folder / 'gone'}


@cause('file-permission', 'FOLDER/closed', 'setfacl -m u:nobody:x FOLDER/closed')
def folder_permission(place):
    path = place.file('closed/deep/file')
    os.chmod(place.folder / 'closed', 0o700)
    return as_nobody(place, [place.fail, 'open', path])


@cause('file-permission', 'FOLDER/secret', 'may not read')
def file_permission(place):
    return as_nobody(place, [place.fail, 'open', place.file('secret', mode=0o600)])


@cause('file-permission', 'may not write to the directory FOLDER')
def folder_not_writable(place):
    return as_nobody(place, [place.fail, 'write-file', str(place.folder / 'new')])


@cause('dangling-link', 'FOLDER/link', 'FOLDER/nowhere')
def dangling_link(place):
    os.symlink(place.folder / 'nowhere', place.folder / 'link')
    return [place.fail, 'open', str(place.folder / 'link')]


@cause('link-loop', 'circle')
def link_loop(place):
    os.symlink('b', place.folder / 'a')
    os.symlink('a', place.folder / 'b')
    return [place.fail, 'open', str(place.folder / 'a')]


@cause('file-as-folder', 'FOLDER/file is a file where a directory was expected')
def file_as_folder(place):
    place.file('file')
    return [place.fail, 'open', str(place.folder / 'file/inside')]


@cause('missing-device', '/dev/no-such-device')
def missing_device(place):
    return [place.fail, 'open', '/dev/no-such-device']


def device_without_driver(place):
    """A number that is set aside for experiments (Documentation/admin-guide/devices.txt), so nobody answers for it."""
    path = str(place.folder / 'device')
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(120, 77))
        os.close(os.open(path, os.O_RDONLY))
    except PermissionError as error:
        raise Skipped(f'no device can be made here: {error}') from error
    except OSError:
        return path
    raise Skipped('a driver answers for 120:77')


@cause('missing-device', 'no driver answers', '120:77')
def device_without_a_driver(place):
    return [place.fail, 'open', device_without_driver(place)]


@cause('nobody-at-other-end', 'nobody reads the FIFO FOLDER/fifo')
def fifo_without_a_reader(place):
    os.mkfifo(place.folder / 'fifo')
    return [place.fail, 'open-for-writing', str(place.folder / 'fifo')]


@cause('nobody-at-other-end', 'FOLDER/socket is a socket')
def socket_opened_as_a_file(place):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place.folder / 'socket'))
    return [place.fail, 'open', str(place.folder / 'socket')]


@cause('disk-full', 'is full')
def disk_full(place):
    return [place.fail, 'write-file', str(place.mount() / 'file')]


@cause('disk-full', 'the device /dev/full takes no more')
def device_that_is_full(place):
    return ['dd', 'if=/dev/zero', 'of=/dev/full', 'count=1']


@cause('immutable-file', 'FOLDER/file has an attribute', 'chattr -i -a FOLDER/file')
def immutable_file(place):
    path = place.file('file')
    kind = place.run('stat', '-f', '-c', '%T', path).strip()
    if shutil.which('chattr') is None or kind not in ('ext2/ext3', 'xfs', 'btrfs'):
        raise Skipped(f'no chattr, or a file system that does not tell of attributes: {kind}')
    place.run('chattr', '+i', path)
    place.at_end(lambda: place.run('chattr', '-i', path))
    return ['sh', '-c', f'echo more >>{path}']


@cause('not-of-this-kernel', 'the kernel has no /sys/kernel/no-such-setting')
def setting_of_another_kernel(place):
    if os.geteuid() != 0 or os.statvfs('/sys').f_flag & os.ST_RDONLY:
        raise Skipped('needs root, whom the modes allow it, and a /sys that can be written')
    return ['sh', '-c', 'echo 1 >/sys/kernel/no-such-setting']


@cause('kernel-files-not-mounted', 'mount -t proc proc /proc')
def processes_not_mounted(place):
    if os.geteuid() != 0:
        raise Skipped('needs root for a mount')
    return ['unshare', '-m', 'sh', '-c', 'mount -t tmpfs none /proc && exec cat /proc/self/stat']


@cause('no-such-process', 'there is no process 4194305')
def process_that_is_not_there(place):
    return ['cat', '/proc/4194305/status']


@cause('value-not-taken', '/proc/sys/vm/swappiness')
def setting_that_makes_no_sense(place):
    if os.geteuid() != 0 or os.statvfs('/proc/sys').f_flag & os.ST_RDONLY:
        raise Skipped('needs root, whom the modes allow it, and a /proc/sys that can be written')
    return ['sh', '-c', 'echo nonsense >/proc/sys/vm/swappiness']


@cause('descriptor-not-open', 'its standard input is not open')
def standard_input_closed(place):
    return ['sh', '-c', 'exec cat <&-']


@cause('folder-not-empty', 'ls -A FOLDER/full')
def folder_not_empty(place):
    place.file('full/file')
    return ['rmdir', str(place.folder / 'full')]


@cause('read-only-file-system', 'read-only')
def read_only_file_system(place):
    return [place.fail, 'write-file', str(place.mount('ro') / 'file')]


@cause('file-size-limit', '4 KiB')
def file_size_limit(place):
    return [place.fail, 'file-size', str(place.folder / 'file')]


@cause('file-permission', 'user nobody', 'may not write to the directory FOLDER')
def file_that_cannot_be_made_is_not_missing(place):
    if shutil.which('sqlite3') is None:
        raise Skipped('no sqlite3')
    return as_nobody(place, ['sqlite3', str(place.folder / 'database'), 'create table t(x)'])


@cause('lock-file-exists', 'exists already', 'choose another name')
def folder_that_exists_is_not_to_be_removed(place):
    return ['mkdir', str(place.folder)]


@cause('missing-module', 'the Node.js module nosuch is not installed')
def node_module(place):
    # As it says it; it has looked for a directory beside its own before.
    node = place.file('node', '#!/bin/sh\ntest -e /usr/lib/node.none\n'
                      'echo "Error: Cannot find module \'nosuch\'" >&2\n'
                      'echo "    at Module._resolveFilename (loader:1)" >&2\nexit 1\n', 0o755)
    return [node]


@cause('missing-library-to-link', 'libnosuch.so', 'apt-file search')
def library_to_link(place):
    return ['gcc', '-o', place.folder / 'x', '-x', 'c', place.file('x.c', 'int main(void) { return 0; }'), '-lnosuch']


@cause('dos-line-ends', 'carriage return', r'/nonexistent\r')
def dos_line_ends_inside(place):
    return [place.file('script', '#!/bin/sh\nls /nonexistent\r\n', 0o755)]


@cause('missing-file', r'a\33[31mb', 'ü')
def hostile_name(place):
    return ['cat', place.folder / 'a\x1b[31mb\nü']


@cause('database-read-only', 'q.db is open for reading only: user')
def database_for_reading_only(place):
    database = str(place.folder / 'q.db')
    place.run('sqlite3', database, 'create table t(a)')
    os.chmod(database, 0o444)
    return as_nobody(place, ['sqlite3', database, 'insert into t values(1)'])


@cause('not-authenticated', 'the password was wrong')
def not_authenticated(place):
    return [place.file('login', '#!/bin/sh\necho "su: Authentication failure" >&2; exit 1\n', 0o755)]


@cause('missing-module', 'the Perl module No/Such/Module.pm is not installed')
def perl_module(place):
    return ['perl', '-MNo::Such::Module', '-e', '1']


@cause('no-repository', 'the directory FOLDER is in no git repository', 'git init')
def no_repository(place):
    clean = {name: value for name, value in os.environ.items() if not name.startswith('GIT_')}
    return {'command': ['git', 'status'], 'env': {**clean, 'GIT_CEILING_DIRECTORIES': str(place.folder.parent)}}


@cause('lock-held', 'FOLDER/lock is locked by')
def lock_held(place):
    return [place.fail, 'lock', place.lock('lock')]


@cause('lock-held', 'FOLDER/lock is locked', 'itself through another descriptor')
def lock_of_its_own(place):
    """When it has ended, nobody holds it: another process is not blamed."""
    code = 'import fcntl; a, b = open("lock", "w"), open("lock", "w"); fcntl.flock(a, 2); fcntl.flock(b, 6)'
    return ['/usr/bin/python3', '-c', code]


@cause('lock-file-exists', 'another instance seems to run')
def pid_file_of_a_living_process(place):
    return [place.fail, 'pid-file', place.file('server.pid', f'{os.getpid()}\n')]


@cause('lock-file-exists', 'left behind', 'rm FOLDER/server.pid')
def pid_file_left_behind(place):
    return [place.fail, 'pid-file', place.file('server.pid', '4000000\n')]


@cause('lock-file-exists', 'left behind', 'began after the file was written', 'rm FOLDER/server.pid')
def pid_file_with_a_number_that_is_used_again(place):
    path = place.file('server.pid', f'{os.getpid()}\n')
    os.utime(path, (1000000000, 1000000000))
    return [place.fail, 'pid-file', path]


@cause('already-running', 'another instance seems to run', 'FOLDER/server.pid', 'stop process')
def process_of_the_pid_file_lives(place):
    return [place.fail, 'ask-pid', place.file('server.pid', f'{os.getpid()}\n')]


@cause('already-running', 'left behind', 'rm FOLDER/server.pid')
def process_of_the_pid_file_is_another(place):
    path = place.file('server.pid', f'{os.getpid()}\n')
    os.utime(path, (1000000000, 1000000000))
    return [place.fail, 'ask-pid', path]


@cause('already-running', 'another instance seems to run')
def process_of_the_pid_file_belongs_to_another_user(place):
    return as_nobody(place, [place.fail, 'ask-pid', place.file('server.pid', f'{os.getpid()}\n')])


@cause('missing-locale', 'LC_ALL', 'C.UTF-8')
def locale_that_is_fatal(place):
    return ['env', 'LC_ALL=xx_XX.UTF-8', '/usr/bin/python3', '-c', 'import locale; locale.setlocale(locale.LC_ALL, "")']


@cause('missing-file', '/etc/no-such.conf')
def locale_that_is_not_fatal(place):
    return ['env', 'LC_ALL=xx_XX.UTF-8', 'bash', '-c', f'exec {place.fail} open /etc/no-such.conf']


@cause('unknown-terminal', 'no-such-terminal', 'TERM=')
def unknown_terminal(place):
    return ['/usr/bin/python3', '-c', 'import curses; curses.setupterm("no-such-terminal")']
