#!/usr/bin/python3
"""For each cause a program that fails so; the answer must name the cause first, and what to do about it."""

import os
import shutil
import socket
import stat
import subprocess

from harness import TIME_LIMIT, Skipped, all_words, main

TESTS = []


def cause(rule, *words, status=None):
    """A test that returns the command to explain, or a dictionary for Place.explain. `rule`: the cause that has to come
    first; `words`: in the answer."""
    def wrap(function):
        def test(place):
            more = function(place)
            if not isinstance(more, dict):
                more = {'command': more}
            command = more.pop('command')
            answer, ended = place.explain(*command, **more)
            rules = [one['rule'] for one in answer['answers']]
            assert rules and rules[0] in rule.split('|'), f'{rules} instead of {rule}: {answer}'
            text = all_words(answer['answers'][0])
            for word in words:
                word = word.replace('FOLDER', str(place.folder))
                assert word in text, f'no {word!r} in {answer["answers"][0]}'
            assert answer['answers'][0]['remedy'], 'no remedy'
            if status is not None:
                assert ended == status, f'exit status {ended} instead of {status}'
        test.__name__ = function.__name__
        TESTS.append(test)
        return test
    return wrap


NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']


def as_nobody(place, command):
    """The program, not the tracer, is an ordinary user; it keeps no capability."""
    if os.geteuid() != 0:
        raise Skipped('needs root to become another user')
    return [*NOBODY, '--inh-caps=-all', *command]


# ------------------------------------------------------------------------------------------- the loader

LIBRARY = 'int answer(void) { return 42; }'
USER = 'int answer(void); int main(void) { return answer() - 42; }'


def program_with_library(place, *options):
    (place.folder / 'build').mkdir(exist_ok=True)
    place.cc('build/libanswer.so', LIBRARY, '-shared', '-fPIC', '-Wl,-soname,libanswer.so.1')
    return place.cc('program', USER, str(place.folder / 'build/libanswer.so'), *options)


@cause('missing-library', 'libanswer.so.1', 'apt-file search', status=127)
def missing_library(place):
    return [program_with_library(place)]


@cause('missing-library', 'libanswer.so.1', 'LD_LIBRARY_PATH=FOLDER/lib')
def missing_library_that_is_elsewhere(place):
    program = program_with_library(place)
    (place.folder / 'lib').mkdir()
    shutil.copy(place.folder / 'build/libanswer.so', place.folder / 'lib/libanswer.so.1')
    return [program]


@cause('bad-run-path', '/opt/no/such/lib', 'RUNPATH')
def bad_run_path(place):
    return [program_with_library(place, '-Wl,-rpath,/opt/no/such/lib')]


@cause('symbol-version', 'ANSWER_2', 'ANSWER_1', status=1)
def symbol_version(place):
    place.file('v1.map', 'ANSWER_1 { global: answer; };')
    place.file('v2.map', 'ANSWER_1 { }; ANSWER_2 { global: answer; } ANSWER_1;')
    name = str(place.folder / 'libanswer.so.1')
    build = ['-shared', '-fPIC', '-Wl,-soname,libanswer.so.1']
    place.cc('libanswer.so.1', LIBRARY, *build, f'-Wl,--version-script={place.folder}/v2.map')
    program = place.cc('program', USER, name, f'-Wl,-rpath,{place.folder}')
    place.cc('libanswer.so.1', LIBRARY, *build, f'-Wl,--version-script={place.folder}/v1.map')
    return [program]


@cause('undefined-symbol', 'answer', status=127)
def undefined_symbol(place):
    name = str(place.folder / 'libanswer.so.1')
    build = ['-shared', '-fPIC', '-Wl,-soname,libanswer.so.1']
    place.cc('libanswer.so.1', LIBRARY, *build)
    program = place.cc('program', USER, name, f'-Wl,-rpath,{place.folder}', '-Wl,-z,now')
    place.cc('libanswer.so.1', 'int other;', *build)
    return [program]


@cause('wrong-elf-class', '32-bit', '64-bit')
def wrong_elf_class(place):
    program = program_with_library(place, f'-Wl,-rpath,{place.folder}')
    try:
        place.cc('libanswer.so.1', LIBRARY, '-m32', '-nostdlib', '-shared', '-fPIC', '-Wl,-soname,libanswer.so.1')
    except subprocess.CalledProcessError as error:
        raise Skipped('no 32-bit compiler') from error
    return [program]


@cause('missing-file', '/etc/no-such.conf')
def bad_preload_is_not_blamed(place):
    return {'command': [place.fail, 'open', '/etc/no-such.conf'], 'options': ['-E', 'LD_PRELOAD=/no/such.so']}


# ------------------------------------------------------------------------------------------- executing

@cause('elf-interpreter-missing', '/lib/ld-musl-absent.so.1', 'musl')
def missing_elf_interpreter(place):
    return [place.cc('program', 'int main(void) { return 0; }', '-Wl,--dynamic-linker=/lib/ld-musl-absent.so.1')]


@cause('script-interpreter-missing', '/no/such/interpreter')
def missing_script_interpreter(place):
    return [place.file('script', '#!/no/such/interpreter\n', 0o755)]


@cause('script-with-carriage-returns', "sed -i 's/\\r$//' FOLDER/script")
def script_with_carriage_returns(place):
    return [place.file('script', '#!/bin/sh\r\necho hello\r\n', 0o755)]


@cause('script-with-carriage-returns', 'the command "python3', "sed -i 's/\\r$//' FOLDER/script", status=127)
def script_of_env_with_carriage_returns(place):
    return [place.file('script', '#!/usr/bin/env python3\r\nprint("hello")\r\n', 0o755)]


@cause('command-not-found', 'no-such-command', 'PATH', status=127)
def env_command_missing(place):
    return [place.file('script', '#!/usr/bin/env no-such-command\n', 0o755)]


@cause('command-not-found', 'no-such-command', 'PATH', status=127)
def command_missing(place):
    return ['no-such-command']


@cause('command-not-found', 'no-such-command', status=127)
def command_missing_in_shell(place):
    return ['sh', '-c', 'echo start; no-such-command --now']


@cause('program-missing', 'FOLDER/programm', 'FOLDER holds program')
def program_missing(place):
    place.file('program', '', 0o755)
    return [str(place.folder / 'programm')]


@cause('empty-program', 'empty')
def empty_program(place):
    return [place.file('program', '', 0o755)]


@cause('no-interpreter-line', '#!/bin/sh')
def no_interpreter_line(place):
    return [place.file('program', 'echo hello\n', 0o755)]


@cause('wrong-machine', 'AArch64')
def wrong_machine(place):
    program = bytearray(open(place.fail, 'rb').read())
    program[18:20] = (183).to_bytes(2, 'little')  # EM_AARCH64
    return [place.file('program', bytes(program), 0o755)]


@cause('truncated-program|elf-unsupported', 'FOLDER/program')
def truncated_program(place):
    program = open(place.fail, 'rb').read()
    return [place.file('program', program[:100], 0o755)]


@cause('not-executable', 'chmod +x FOLDER/program')
def not_executable(place):
    return ['sh', '-c', place.copy_of_fail('program', 0o644)]


@cause('noexec-mount', 'noexec')
def noexec_mount(place):
    point = place.mount('noexec')
    shutil.copy(place.file('script', '#!/bin/sh\n', 0o755), point / 'program')
    return [str(point / 'program')]


@cause('exec-of-a-folder', 'is a folder')
def exec_of_a_folder(place):
    return [str(place.folder)]


@cause('folder-not-enterable', 'FOLDER/closed')
def folder_not_enterable(place):
    program = place.copy_of_fail('closed/program')
    os.chmod(place.folder / 'closed', 0o700)
    return as_nobody(place, ['sh', '-c', f'exec {program} status 0'])


@cause('program-being-written', 'is open for writing')
def program_being_written(place):
    program = place.copy_of_fail('program')
    writer = open(program, 'ab')
    place.at_end(writer.close)
    return [program, 'status', '0']


@cause('arguments-too-long', 'too long')
def arguments_too_long(place):
    return ['/usr/bin/python3', '-c', 'import os; os.execv("/bin/true", ["true", "x" * 200000])']


# ------------------------------------------------------------------------------------------- files

@cause('missing-file', 'cp FOLDER/etc/server.conf.example FOLDER/etc/server.conf', status=1)
def missing_configuration(place):
    place.file('etc/server.conf.example')
    return [place.fail, 'open-quietly', str(place.folder / 'etc/server.conf')]


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


@cause('file-permission', 'may not write to the folder FOLDER')
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


@cause('file-as-folder', 'FOLDER/file is a file where a folder was expected')
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


@cause('read-only-file-system', 'read-only')
def read_only_file_system(place):
    return [place.fail, 'write-file', str(place.mount('ro') / 'file')]


@cause('file-size-limit', '4 KiB')
def file_size_limit(place):
    return [place.fail, 'file-size', str(place.folder / 'file')]


@cause('file-permission', 'user nobody', 'may not write to the folder FOLDER')
def file_that_cannot_be_made_is_not_missing(place):
    if shutil.which('sqlite3') is None:
        raise Skipped('no sqlite3')
    return as_nobody(place, ['sqlite3', str(place.folder / 'database'), 'create table t(x)'])


@cause('lock-file-exists', 'exists already', 'choose another name')
def folder_that_exists_is_not_to_be_removed(place):
    return ['mkdir', str(place.folder)]


@cause('missing-module', 'the Node.js module nosuch is not installed')
def node_module(place):
    # As it says it; it has looked for a folder beside its own before.
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


@cause('no-repository', 'the folder FOLDER is in no git repository', 'git init')
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


# ------------------------------------------------------------------------------------------- network

@cause('port-in-use', 'python3 (pid', 'the port is taken')
def port_in_use(place):
    return [place.fail, 'bind', '127.0.0.1', place.listen()]


@cause('privileged-port', 'port 80', 'cap_net_bind_service')
def privileged_port(place):
    if open('/proc/sys/net/ipv4/ip_unprivileged_port_start').read().strip() != '1024':
        raise Skipped('low ports are not privileged here')
    return as_nobody(place, [place.fail, 'bind', '127.0.0.1', '80'])


@cause('wrong-address', '192.0.2.1')
def wrong_address(place):
    return [place.fail, 'bind', '192.0.2.1', '8080']


@cause('server-not-running', 'FOLDER/.s.PGSQL.5432', 'PostgreSQL', 'systemctl start postgresql')
def unix_socket_absent(place):
    return [place.fail, 'connect-unix', str(place.folder / '.s.PGSQL.5432')]


@cause('server-not-running', 'the X server (DISPLAY)', 'FOLDER/.X11-unix/X7')
def x_server_absent(place):
    return [place.fail, 'connect-unix', str(place.folder / '.X11-unix/X7')]


@cause('server-not-running', 'the D-Bus daemon', 'systemctl start dbus')
def system_bus_absent(place):
    return [place.fail, 'connect-unix', str(place.folder / 'dbus/system_bus_socket')]


@cause('server-not-running', "the session's D-Bus daemon", 'dbus-run-session')
def session_bus_absent(place):
    return [place.fail, 'connect-unix', str(place.folder / 'bus')]


@cause('no-display', 'DISPLAY', 'xvfb-run')
def display_not_set(place):
    return ['sh', '-c', 'echo "Error: cannot open display: " >&2; exit 1']


@cause('server-not-running', 'nobody listens')
def unix_socket_stale(place):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place.folder / 'socket'))
    return [place.fail, 'connect-unix', str(place.folder / 'socket')]


@cause('socket-file-exists', 'rm FOLDER/socket')
def unix_socket_left_behind(place):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place.folder / 'socket'))
    return [place.fail, 'bind-unix', str(place.folder / 'socket')]


@cause('connection-refused', '127.0.0.1:5432', 'PostgreSQL')
def connection_refused(place):
    return [place.fail, 'connect', '127.0.0.1', '5432']


@cause('connection-refused', '127.0.0.1:6379', 'Redis')
def connection_refused_later(place):
    return [place.fail, 'connect-later', '127.0.0.1', '6379']


def with_name_server(place, server):
    """A mount namespace whose /etc/resolv.conf names a server; `hosts` and `dns` only. A server of ours has all the time
    that the machine may keep it from answering."""
    if os.geteuid() != 0:
        raise Skipped('needs root for a mount namespace')
    conf = place.file('resolv.conf', f'nameserver {server}\noptions timeout:30 attempts:1\n')
    switch = place.file('nsswitch.conf', 'hosts: dns\n')
    script = (f'mount --bind {conf} /etc/resolv.conf && mount --bind {switch} /etc/nsswitch.conf && '
              f'exec {place.fail} resolve no-such-host.example')
    place.run('unshare', '-m', 'true')
    return ['unshare', '-m', 'sh', '-c', script]


@cause('name-not-resolved', '127.0.0.9', 'resolv.conf')
def name_server_dead(place):
    return with_name_server(place, '127.0.0.9')


@cause('name-not-resolved', '127.0.0.8', 'does not exist')
def name_does_not_exist(place):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        server.bind(('127.0.0.8', 53))
    except OSError as error:
        raise Skipped(f'port 53: {error}') from error
    place.at_end(server.close)

    def answer():
        try:
            while True:
                query, sender = server.recvfrom(512)
                server.sendto(query[:2] + b'\x81\x83' + query[4:6] + b'\0' * 6 + query[12:], sender)
        except OSError:
            pass
    import threading
    threading.Thread(target=answer, daemon=True).start()
    return with_name_server(place, '127.0.0.8')


# ------------------------------------------------------------------------------------------- limits

@cause('open-file-limit', 'ulimit -n', ': 20')
def open_file_limit(place):
    return [place.fail, 'files']


@cause('process-limit', 'ulimit -u')
def process_limit(place):
    return as_nobody(place, [place.fail, 'processes'])


@cause('memory-limit', '64 MiB', 'ulimit -v')
def memory_limit(place):
    return [place.fail, 'memory']


@cause('locked-memory-limit', '4 KiB', 'ulimit -l')
def locked_memory_limit(place):
    return as_nobody(place, [place.fail, 'mlock'])


@cause('processor-time-limit', '1 s')
def processor_time_limit(place):
    return [place.fail, 'cpu']


@cause('out-of-memory', 'control group', '16 MiB')
def out_of_memory(place):
    """In a control group of its own with little memory; of version 2 or of version 1, as the machine has it."""
    name = 'explain.' + place.folder.name
    two = os.path.exists('/sys/fs/cgroup/cgroup.controllers')
    group = f'/sys/fs/cgroup/{name}' if two else f'/sys/fs/cgroup/memory/{name}'
    limits = {'memory.max': '16M', 'memory.swap.max': '0'} if two else {'memory.limit_in_bytes': '16M'}
    try:
        os.mkdir(group)
        place.at_end(lambda: os.rmdir(group))
        for file, limit in limits.items():
            if os.path.exists(f'{group}/{file}') or file != 'memory.swap.max':
                with open(f'{group}/{file}', 'w', encoding='ascii') as out:
                    out.write(limit)
    except OSError as error:
        raise Skipped(f'no control group for memory: {error}') from error
    return ['sh', '-c', f'echo $$ >{group}/cgroup.procs && exec {place.fail} eat']


@cause('missing-file', '/etc/no-such.conf')
def program_of_32_bits(place):
    """Static and 32-bit: other call numbers, other layouts."""
    source = '#include <fcntl.h>\nint main(void) { return open("/etc/no-such.conf", O_RDONLY) < 0; }'
    try:
        return [place.cc('program', source, '-m32', '-static')]
    except subprocess.CalledProcessError as error:
        raise Skipped('no 32-bit C library') from error


@cause('killed-by-process', 'SIGKILL')
def killed_by_process(place):
    return [place.fail, 'killed-by-child']


@cause('killed-from-outside', 'SIGKILL', 'dmesg')
def killed_from_outside(place):
    return ['timeout', '-s', 'KILL', '0.3', place.fail, 'sleep']


# ------------------------------------------------------------------------------------------- permissions

ATTACHING_PROGRAM = """
#include <bpf/libbpf.h>
#include <unistd.h>
int main(int count, char **arguments) { /* as long as somebody keeps its standard input open */
  struct bpf_object *object = bpf_object__open_file(arguments[1], NULL);
  if (!object || bpf_object__load(object) || !bpf_program__attach(bpf_object__next_program(object, NULL))) return 1;
  write(1, "ready\\n", 6);
  return read(0, &count, 1);
}
"""
DENYING_MODULE = """
static long (*get_comm)(void *, unsigned) = (void *)16; /* bpf_get_current_comm */
char terms[] __attribute__((section("license"))) = "GPL";
__attribute__((section("lsm/file_open"))) int deny(unsigned long long *arguments) {
  char name[16], wanted[] = "lsm-denied";
  get_comm(name, sizeof name);
  for (int i = 0; i < (int)sizeof wanted; ++i)
    if (name[i] != wanted[i]) return 0;
  return -13;
}
"""


@cause('seccomp-kill', 'socket')
def seccomp_kill(place):
    return {'command': [place.fail, 'seccomp-kill'], 'options': ['-o', str(place.folder / 'trace')]}


@cause('seccomp-kill', 'socket')
def seccomp_trap(place):
    return [place.fail, 'seccomp-trap']


@cause('seccomp-refusal', 'forbids the system call socket')
def seccomp_refusal(place):
    return [place.fail, 'seccomp-errno']


@cause('security-module', 'Landlock')
def landlock(place):
    path = place.file('file')
    if subprocess.run([place.fail, 'landlock', path], capture_output=True, check=False).returncode == 77:
        raise Skipped('the kernel has no Landlock')
    return [place.fail, 'landlock', path]


@cause('security-module', 'the AppArmor profile test', 'aa-complain test', 'log: audit:')
def denial_in_the_kernels_log(place):
    """What the kernel's log says of the process is read there. The line is made up; the refusal is not."""
    path = place.file('file')
    if subprocess.run([place.fail, 'landlock', path], capture_output=True, check=False).returncode == 77:
        raise Skipped('the kernel has no Landlock')
    if not os.access('/dev/kmsg', os.W_OK):
        raise Skipped('the log of the kernel may not be written')
    line = 'audit: type=1400 apparmor="DENIED" operation="open" profile="test" pid=$$ comm="fail"'
    return ['sh', '-c', f"echo '{line}' | sed s/[$][$]/$$/ >/dev/kmsg; exec {place.fail} landlock {path}"]


@cause('security-module', 'Landlock, with which it confined itself', 'listening on port')
def landlock_of_the_network(place):
    command = [place.fail, 'landlock-bind', '127.0.0.1', '18080']
    if subprocess.run(command, capture_output=True, check=False).returncode == 77:
        raise Skipped('Landlock of this kernel knows no ports')
    return command


@cause('security-module', 'a security module', 'FOLDER/file')
def module_of_another_kind(place):
    """BPF programs can be security modules: one that lets nothing called lsm-denied open a file of its own."""
    program = str(place.folder / 'deny.o')
    if os.geteuid() != 0 or shutil.which('clang-14') is None:
        raise Skipped('needs root and clang-14')
    subprocess.run(['clang-14', '-O2', '-g', '-target', 'bpf', '-c', '-x', 'c', '-', '-o', program],
                   input=DENYING_MODULE.encode(), check=True, timeout=TIME_LIMIT)
    keeper = place.start(place.cc('attach', ATTACHING_PROGRAM, '-lbpf'), program, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if not keeper.stdout.readline():
        raise Skipped('BPF is no security module of this kernel')
    return ['sh', '-c', f'exec {place.copy_of_fail("lsm-denied")} open {place.file("file")}']


@cause('missing-capability', 'CAP_SYS_ADMIN')
def missing_capability(place):
    return as_nobody(place, [place.fail, 'unshare'])


@cause('missing-capability', 'CAP_CHOWN')
def owner_changed_by_an_ordinary_user(place):
    return as_nobody(place, ['chown', 'nobody', place.file('file')])


@cause('not-owner', 'FOLDER/file belongs to root')
def mode_changed_by_another_user(place):
    return as_nobody(place, ['chmod', '600', place.file('file')])


@cause('unknown-user', 'the user no-such-user does not exist', '/etc/passwd has no entry', 'useradd')
def unknown_user(place):
    return ['chown', 'no-such-user', place.file('file')]


@cause('unknown-user', 'the group no-such-group does not exist', 'groupadd')
def unknown_group(place):
    return ['chgrp', 'no-such-group', place.file('file')]


@cause('setuid-under-tracing', 'set-user-ID', 'as root')
def setuid_under_tracing(place):
    if os.geteuid() != 0:
        raise Skipped('needs root to make a set-user-ID program')
    if place.in_kernel:
        raise Skipped('nobody is traced in a way that matters to set-user-ID programs')
    program = place.copy_of_fail('program', 0o4755)
    return {'command': [program, 'setuid-needed'], 'before': NOBODY}


# ------------------------------------------------------------------------------------------- deaths

@cause('illegal-instruction', 'instruction')
def illegal_instruction(place):
    return [place.fail, 'illegal']


@cause('crash-before-main', 'FOLDER/libanswer.so.1', 'before main')
def crash_before_main(place):
    source = LIBRARY + ' __attribute__((constructor)) static void begin(void) { *(volatile int *)0 = 1; }'
    name = place.cc('libanswer.so.1', source, '-shared', '-fPIC', '-Wl,-soname,libanswer.so.1')
    return [place.cc('program', USER, name, f'-Wl,-rpath,{place.folder}')]


@cause('segmentation-fault', 'null pointer')
def segmentation_fault(place):
    return [place.fail, 'segv']


@cause('stack-overflow', 'stack')
def stack_overflow(place):
    return [place.fail, 'stack']


@cause('stack-overflow', 'stack')
def stack_overflow_of_a_thread(place):
    return [place.fail, 'thread-stack']


@cause('aborted', "Assertion `fuel > 0' failed")
def aborted(place):
    return [place.fail, 'abort']


if __name__ == '__main__':
    main(TESTS)
