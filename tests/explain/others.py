#!/usr/bin/python3
"""Programs that start well, chains of programs, and what else --explain promises."""

import functools
import glob
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import time

from harness import TIME_LIMIT, Skipped, answer_in, main

TESTS = []


def test(function):
    TESTS.append(function)
    return function


def test_without_engine(function):
    """One that is the same with every engine, and runs with one."""
    function.once = True
    return test(function)


# ------------------------------------------------------------------------------------------- nothing looks wrong

GOOD = {
    'true': ['true'],
    'shell': ['sh', '-c', 'x=$(ls /); test -n "$x"'],
    'bash': ['bash', '-lc', 'type no-such-command || true; ls / | sort | head -1'],
    'python': ['/usr/bin/python3', '-c', 'import json, ssl, sqlite3, curses'],
    'perl': ['perl', '-MPOSIX', '-e', 'print 1'],
    'git': ['git', '--version'],
    'git_init': ['git', 'init', '-q', 'repository'],
    'gcc': ['gcc', '-c', '-x', 'c', '/dev/null', '-o', 'nothing.o'],
    'make': ['make', '--version'],
    'sqlite': ['sqlite3', ':memory:', 'select 1'],
    'tmux': ['tmux', '-V'],
    'ssh': ['ssh', '-V'],
    'sshd': ['/usr/sbin/sshd', '-t'],
    'nginx': ['nginx', '-t'],
    'postgres': ['postgres', '--version'],
    'curl': ['curl', '--version'],
    'openssl': ['openssl', 'version'],
    'awk': ['awk', 'BEGIN { print 1 }'],
    'sed': ['sed', '-n', '1p', '/etc/passwd'],
    'find': ['find', '/etc', '-maxdepth', '1', '-name', 'passwd'],
    'tar': ['tar', 'cf', '/dev/null', '/etc/passwd'],
    'grep': ['grep', '-r', 'root', '/etc/passwd'],
    'dd': ['dd', 'if=/dev/zero', 'of=file', 'bs=1k', 'count=1'],
    'date': ['date'],
    'id': ['id'],
    'getent': ['getent', 'hosts', 'localhost'],
    'xargs': ['sh', '-c', 'echo a b | xargs -n1 echo'],
    'cmake': ['cmake', '--version'],
}


def starts_well(name, command):
    def check(place):
        if shutil.which(command[0]) is None:
            raise Skipped(f'no {command[0]}')
        plain = subprocess.run(command, cwd=place.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, timeout=TIME_LIMIT, check=False)
        if plain.returncode != 0:
            raise Skipped(f'{name} does not start well here without us')
        answer, status = place.explain(*command)
        assert status == 0 and answer['outcome'] == 'good' and not answer['answers'], answer
        assert 'nothing looks wrong' in answer['headline'], answer
    check.__name__ = 'good_' + name
    return check


TESTS += [starts_well(name, command) for name, command in GOOD.items()]


@test
def library_search_is_ruled_out(place):
    place.cc('lib.so.1', 'int answer(void) { return 42; }', '-shared', '-fPIC', '-Wl,-soname,lib.so.1')
    program = place.cc('program', 'int answer(void); int main(void) { return answer() - 42; }',
                       str(place.folder / 'lib.so.1'), f'-Wl,-rpath,/no/such/folder:{place.folder}')
    answer, status = place.explain(program)
    assert status == 0 and any('lookups of libraries' in line for line in answer['ruled_out']), answer


@test
def alternative_is_ruled_out(place):
    """Three places are tried and the last one has the file; the failure afterwards is the cause."""
    place.file('c/settings')
    names = [str(place.folder / folder / 'settings') for folder in 'abc']
    answer, _ = place.explain('sh', '-c', f'{place.fail} alternatives {" ".join(names)} && '
                              f'exec {place.fail} alternatives {" ".join(names)} /no/such/key')
    assert '/no/such/key' in answer['answers'][0]['cause'], answer
    assert len(answer['answers']) == 1 and any('found elsewhere' in line for line in answer['ruled_out']), answer


@test
def one_failed_call_has_one_cause(place):
    """What is special, not that and what is general; and a name is none that is a part of another word."""
    answer, _ = place.explain(place.fail, 'open', '/dev/no-such-device')
    assert [one['rule'] for one in answer['answers']] == ['missing-device'], answer
    names = [str(place.folder / 'no/such/include'), str(place.folder / 'settings')]
    answer, _ = place.explain('perl', '-e', f'-e "{names[0]}"; open F, "<", "{names[1]}" or die "#include settings: $!\\n"')
    assert len(answer['answers']) == 1 and names[1] in answer['answers'][0]['cause'], answer


@test
def what_merely_looks_is_no_cause(place):
    """That the name is a directory's is only asked; and `resolve` alone speaks of no host."""
    place.file('taken')
    answer, _ = place.explain('ln', '-s', 'x', str(place.folder / 'taken'))
    assert [one['rule'] for one in answer['answers']] == ['lock-file-exists'], answer
    (place.folder / 'kept').mkdir()
    kept = str(place.folder / 'kept')
    for words in ('In procedure resolve-interface: no', f'A log is in {kept}/log', 'npm warn Unknown user config "x"'):
        answer, _ = place.explain('perl', '-e', f'mkdir "{kept}"; print STDERR q({words}), "\\n"; exit 1')
        assert not answer['answers'], answer


@test
def one_file_in_several_folders(place):
    """Is one cause, and a user's settings that are not there are none."""
    names = [str(place.folder / folder / 'header.h') for folder in 'abc']
    answer, _ = place.explain(place.fail, 'alternatives', str(place.folder / '.failrc'), *names)
    assert len(answer['answers']) == 1 and names[2] in answer['answers'][0]['evidence'][0]['call'], answer
    assert [f'also looked for as {name}' in answer['answers'][0]['looked_at'] for name in names] == [True, True, False], answer


@test
def bad_preload_is_ruled_out(place):
    answer, status = place.explain('true', options=['-E', 'LD_PRELOAD=/no/such.so'])
    assert status == 0 and answer['outcome'] == 'good', answer
    assert any('LD_PRELOAD' in line for line in answer['ruled_out']), answer


@test
def folder_that_may_be_there(place):
    answer, _ = place.explain('sh', '-c', f'mkdir -p {place.folder}; exec {place.fail} open-quietly /dev/no-such-device')
    assert [one['rule'] for one in answer['answers']][0] == 'missing-device', answer
    assert 'lock-file-exists' not in [one['rule'] for one in answer['answers']], answer


@test
def words_of_a_compiler(place):
    """A program whose input is wrong is not said to miss what it looked for on the way."""
    answer, status = place.explain('gcc', '-c', place.file('broken.c', 'int main({\n'))
    assert status == 1 and answer['last_words'], answer
    assert not any('.gch' in one['cause'] for one in answer['answers']), answer


@test
def own_decision(place):
    answer, status = place.explain(place.fail, 'status', '3')
    assert status == 3 and answer['outcome'] == 'failed' and not answer['answers'], answer


@test
def panic_that_was_caught(place):
    """Its status shows that the program went on after its message."""
    program = place.file('program', "#!/bin/sh\nprintf '%s\\n' \"thread 'main' panicked at src/main.rs:4:5:\" boo >&2\nexit 4\n",
                         0o755)
    answer, status = place.explain(program)
    assert status == 4 and 'boo' in answer['last_words'] and not answer['answers'], answer


@test
def folders_of_the_loader(place):
    """It asks for directories below that of an rpath; their names are in the words, but nobody misses them."""
    source = '#include <stdio.h>\nint main(void) { fputs("no plugin in /usr/lib/x86_64-linux-gnu/tls\\n", stderr); return 1; }'
    answer, status = place.explain(place.cc('program', source, f'-Wl,-rpath,{place.folder}'))
    assert status == 1 and not answer['answers'], answer


@test
def folders_of_node(place):
    """Where it looks for a module is not what is missing."""
    node = place.file('node', '#!/bin/sh\ntest -e /usr/lib/node || test -e node_modules/nosuch/package.json\n'
                      'echo "Error: Cannot find module \'nosuch\'\n    at node:internal/main:5" >&2\nexit 1\n', 0o755)
    answer, status = place.explain(node)
    assert status == 1 and [one['rule'] for one in answer['answers']] == ['missing-module'], answer
    assert "2 failed: Node.js's search for its modules (optional)" in answer['ruled_out'], answer


# ------------------------------------------------------------------------------------------- chains

@test
def third_command_of_a_script(place):
    script = place.file('script', f'#!/bin/sh\nset -e\ntrue\nls / >/dev/null\n{place.fail} open /etc/no-such.conf\n', 0o755)
    answer, status = place.explain(script)
    assert status == 1 and answer['program'] == place.fail, answer
    assert '/etc/no-such.conf' in answer['answers'][0]['cause'], answer
    assert 'started by' in answer['chain'][-1], answer


@test
def wrapper_that_executes_twice(place):
    inner = place.file('inner', f'#!/bin/sh\nexec {place.fail} open /etc/no-such.conf\n', 0o755)
    answer, _ = place.explain('env', 'A=b', inner)
    assert answer['program'] == place.fail and '/etc/no-such.conf' in answer['answers'][0]['cause'], answer
    assert 'env, then inner, then fail' in answer['chain'][0] or 'then fail' in answer['chain'][0], answer


@test
def make_run(place):
    place.file('Makefile', f'all: first\n\t@{place.fail} open /etc/no-such.conf\nfirst:\n\t@true\n')
    answer, status = place.explain('make')
    assert status == 2 and answer['program'] == place.fail, answer
    assert '/etc/no-such.conf' in answer['answers'][0]['cause'], answer


@test
def parent_with_a_reason_of_its_own(place):
    """A child fails, as it may; then the parent fails by itself."""
    answer, status = place.explain('sh', '-c', f'grep -q nothing /etc/passwd; exec {place.fail} open /etc/no-such.conf')
    assert answer['program'] == place.fail and '/etc/no-such.conf' in answer['answers'][0]['cause'], answer
    assert status == 1


@test
def child_that_was_left_behind(place):
    answer, status = place.explain(place.fail, 'orphan', '/etc/no-such.conf')
    assert status == 0 and answer['outcome'] == 'failed', answer
    assert '/etc/no-such.conf' in answer['answers'][0]['cause'], answer


# ------------------------------------------------------------------------------------------- real software

@test
def postgres_with_an_open_data_folder(place):
    answer = explain_postgres(place, 0o755)
    assert answer['answers'][0]['rule'] == 'permissions-too-open', answer
    assert f'chmod 0700 {place.folder}/data' in answer['answers'][0]['remedy'], answer


@test
def postgres_with_a_closed_data_folder(place):
    answer = explain_postgres(place, 0)
    assert answer['answers'][0]['rule'] == 'file-permission', answer
    assert f'{place.folder}/data' in answer['answers'][0]['cause'], answer


def explain_postgres(place, mode):
    found = [path for path in (shutil.which('postgres'), *glob.glob('/usr/lib/postgresql/*/bin/postgres')) if path]
    if not found:
        raise Skipped('no postgres')
    data = place.folder / 'data'
    data.mkdir()
    place.file('data/PG_VERSION', '15\n')
    place.file('data/postgresql.conf', '')
    if os.geteuid() == 0:
        place.run('chown', '-R', 'nobody', str(data))
    data.chmod(mode)
    # The program, not the tracer, is another user; a postgres of root's refuses to run.
    user = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] if os.geteuid() == 0 else []
    answer, _ = place.explain(*user, found[0], '-D', str(data))
    return answer


@test
def nginx_with_its_port_taken(place):
    if shutil.which('nginx') is None:
        raise Skipped('no nginx')
    with socket.create_server(('127.0.0.1', 0)) as server:
        port = server.getsockname()[1]
        conf = place.file('nginx.conf', f'daemon off; pid {place.folder}/pid; error_log stderr; events {{}} '
                          f'http {{ access_log off; server {{ listen 127.0.0.1:{port}; }} }}')
        answer, status = place.explain('nginx', '-p', str(place.folder), '-c', conf)
    assert status == 1 and answer['answers'][0]['rule'] == 'port-in-use', answer
    assert str(port) in answer['answers'][0]['cause'] and 'python3' in answer['answers'][0]['cause'], answer


@test
def nginx_without_its_user(place):
    if shutil.which('nginx') is None or os.geteuid() != 0:
        raise Skipped('no nginx, or not root')
    conf = place.file('nginx.conf', f'user no-such-user; daemon off; pid {place.folder}/pid; error_log stderr; events {{}} '
                      'http { access_log off; server { listen unix:socket; } }')
    answer, status = place.explain('nginx', '-p', str(place.folder), '-c', conf)
    assert status == 1 and answer['answers'][0]['rule'] == 'unknown-user', answer
    assert 'no-such-user' in answer['answers'][0]['cause'], answer


@test
def ssh_key_that_others_may_read(place):
    if shutil.which('ssh-keygen') is None:
        raise Skipped('no ssh-keygen')
    key = str(place.folder / 'key')
    place.run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', key)
    os.chmod(key, 0o644)
    answer, _ = place.explain('ssh-keygen', '-y', '-f', key)
    assert answer['answers'][0]['rule'] == 'permissions-too-open' and 'chmod 0600' in answer['answers'][0]['remedy'], answer


@test
def python_without_a_library(place):
    """An extension module whose shared library is missing."""
    place.cc('libgone.so', 'int gone(void) { return 1; }', '-shared', '-fPIC', '-Wl,-soname,libgone.so.1')
    place.cc('extension.so', 'int gone(void); int PyInit_extension(void) { return gone(); }', '-shared', '-fPIC',
             str(place.folder / 'libgone.so'))
    answer, status = place.explain('/usr/bin/python3', '-c', 'import extension', options=['-E', f'PYTHONPATH={place.folder}'])
    assert status == 1 and answer['answers'][0]['rule'] == 'missing-library', answer
    assert 'libgone.so.1' in answer['answers'][0]['cause'], answer


@test
def python_under_a_filter(place):
    answer, status = place.explain(place.fail, 'without-sockets', '/usr/bin/python3', '-c', 'import socket; socket.socket()')
    assert status == 1 and answer['answers'][0]['rule'] == 'seccomp-refusal', answer
    assert 'system call socket' in answer['answers'][0]['cause'] and answer['program'] == '/usr/bin/python3', answer


# ------------------------------------------------------------------------------------------- output

@test
def text_and_its_colours(place):
    place.file('server.conf.example')
    command = [place.tracer, '--explain', *place.engine, place.fail, 'open-quietly', str(place.folder / 'server.conf')]
    brief = subprocess.run(command, stderr=subprocess.PIPE, timeout=TIME_LIMIT, check=False).stderr.decode()
    for part in ['fail: failed: it exited with status 1', 'server.conf does not exist', '= -1 ENOENT', 'remedy',
                 '--explain=verbose']:
        assert part in brief, f'no {part!r} in:\n{brief}'
    assert len(brief.splitlines()) <= 10 and 'ruled out' not in brief and 'looked at' not in brief, brief
    verbose = [command[0], '--explain=verbose', *command[2:]]
    plain = subprocess.run(verbose, stderr=subprocess.PIPE, timeout=TIME_LIMIT, check=False).stderr.decode()
    lines = plain.splitlines()
    for part in ['fail: failed: it exited with status 1', 'evidence', 'looked at', 'remedy', 'its last words', 'ruled out',
                 'holds server.conf.example', 'openat(AT_FDCWD, ', '= -1 ENOENT']:
        assert any(part in line for line in lines), f'no {part!r} in:\n{plain}'
    assert '\33' not in plain
    for environment, is_colored in [('TERM=xterm', True), ('TERM=xterm NO_COLOR=', True), ('TERM=xterm NO_COLOR=1', False),
                                    ('TERM=dumb', False)]:
        on_terminal = f'unset NO_COLOR; {environment} ' + ' '.join(command)
        shown = subprocess.run(['script', '-qec', on_terminal, '/dev/null'], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                               timeout=TIME_LIMIT, check=False).stdout.decode()
        assert ('\33[1;31m' in shown) == is_colored, (environment, shown)


@test
def full_trace_is_kept(place):
    trace = place.folder / 'trace'
    answer, status = place.explain(place.fail, 'open', '/etc/no-such.conf', options=['-o', str(trace)])
    assert status == 1 and answer['answers'][0]['rule'] == 'missing-file', answer
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    names = {line['name'] for line in lines if line['type'] == 'syscall'}
    assert {'execve', 'openat', 'mmap', 'exit_group', 'close', 'read'} <= names, names


@test_without_engine
def recorded_trace(place):
    trace = place.folder / 'trace'
    subprocess.run([place.tracer, '-f', '--format=json', '-o', str(trace), 'sh', '-c',
                    f'true; {place.fail} open /etc/no-such.conf'], stderr=subprocess.DEVNULL, timeout=TIME_LIMIT, check=False)
    for name, stream in ((str(trace), subprocess.DEVNULL), ('-', open(trace, 'rb'))):
        done = subprocess.run([place.tracer, f'--explain={name}', '--format=json'], stdin=stream, stderr=subprocess.PIPE,
                              timeout=TIME_LIMIT, check=False)
        answer = answer_in(done.stderr)
        assert done.returncode == 0 and answer['answers'][0]['rule'] == 'missing-file', answer
        assert '/etc/no-such.conf' in answer['answers'][0]['cause'] and answer['program'] == place.fail, answer


def explain_record(place, *words, options=(), cwd=None):
    """Records a run, and explains the record from another directory."""
    trace = str(place.folder / 'trace')
    subprocess.run([place.tracer, '-f', '--format=json', '-o', trace, *options, *words], stderr=subprocess.DEVNULL,
                   timeout=TIME_LIMIT, check=False, cwd=cwd or place.folder)
    done = subprocess.run([place.tracer, f'--explain={trace}', '--format=json'], stderr=subprocess.PIPE, timeout=TIME_LIMIT,
                          check=False, cwd='/')
    return answer_in(done.stderr)


@test_without_engine
def recorded_folder(place):
    """With -y a record has where the program ran; without it, nothing is claimed about that."""
    place.file('settings.example')
    known = explain_record(place, place.fail, 'open', 'settings', options=['-y', '-s', '1024'])
    assert f'{place.folder}/settings does not exist' in known['answers'][0]['cause'], known
    assert f'{place.folder} holds settings.example' in known['answers'][0]['looked_at'], known
    assert len(known['not_looked_at']) == 1 and 'limits' in known['not_looked_at'][0], known
    unknown = explain_record(place, place.fail, 'open', 'settings')
    assert '/settings' not in json.dumps([unknown['answers'][0][part] for part in ('cause', 'looked_at')]), unknown
    assert any('-y records it' in line for line in unknown['not_looked_at']), unknown
    assert any('-s 4096 records it' in line for line in unknown['not_looked_at']), unknown


@test_without_engine
def recorded_crash(place):
    known = explain_record(place, place.fail, 'segv', options=['-k'])
    assert 'in main in' in known['answers'][0]['cause'], known
    unknown = explain_record(place, place.fail, 'segv')
    assert unknown['answers'][0]['rule'] == 'segmentation-fault' and 'does not show' in unknown['answers'][0]['cause'], unknown
    assert any('-k records' in line for line in unknown['not_looked_at']), unknown


@test_without_engine
def recorded_kernel_message(place):
    """What the kernel says of a mount by read(2), and the program does not repeat."""
    if os.geteuid() != 0:
        raise Skipped('needs root')
    program = place.file('mount.py', 'import ctypes, os, sys\n'
                         'libc = ctypes.CDLL(None)\n'
                         'fd = libc.syscall(430, b"tmpfs", 0)\n'  # fsopen
                         'libc.syscall(431, fd, 1, b"nosuchoption", b"1", 0)\n'  # fsconfig
                         'os.read(fd, 999)\n'
                         'sys.exit("cannot mount")\n')
    answer = explain_record(place, '/usr/bin/python3', program, options=['-s', '1024'])
    assert answer['answers'][0]['rule'] == 'unknown-option', answer
    assert "the kernel says: tmpfs: Unknown parameter 'nosuchoption'" in answer['answers'][0]['looked_at'], answer


@test_without_engine
def recorded_limits(place):
    answers = [explain_record(place, place.fail, *words)['answers'][0]['rule']
               for words in (['memory'], ['file-size', str(place.folder / 'file')], ['files'])]
    assert answers == ['memory-limit', 'file-size-limit', 'open-file-limit'], answers


@test
def words_as_they_are_but_for_what_harms_a_terminal(place):
    answer, _ = place.explain('sh', '-c', "printf '\\033[2Jno \"luck\" f\\303\\274r \\377\\302\\233\\340\\202\\233you\\n' >&2; exit 3")
    assert answer['last_words'] == '\\33[2Jno "luck" für \\377\\302\\233\\340\\202\\233you', answer


@test
def words_on_a_copy_of_standard_error(place):
    """`>&2` of a shell writes to descriptor 1."""
    answer, _ = place.explain('sh', '-c', 'echo "no luck today" >&2; exec 1>/dev/null; echo "not this"; exit 3')
    assert answer['last_words'] == 'no luck today', answer


@test
def secrets_stay_secret(place):
    """Neither the environment nor what was read shows up."""
    secret = place.file('secret', 'the-password\n')
    answer, _ = place.explain('sh', '-c', f'read x <{secret}; echo "$x"; exec {place.fail} open /etc/no-such.conf',
                              options=['-E', 'TOKEN=the-token'], )
    text = json.dumps(answer)
    assert 'the-password' not in text and 'the-token' not in text, text


# Complains of a line of a file that it has read, and puts a link to another one in its place.
SWAPPER = 'read x <app.conf; ln -sf {} app.conf; echo "app.conf: line 2: syntax error" >&2; exit 3'


@test
def passwords_in_addresses(place):
    """What a program says of an address is quoted without the password."""
    answer, _ = place.explain('python3', '-c', 'import os, sys\ntry:\n    os.stat("/nosuch/list")\nexcept OSError:\n    '
                              'sys.exit("cannot read /nosuch/list of ftp://me:hush-hush@files.test/x")')
    assert answer['answers'] and 'me:********@files.test' in answer['last_words'], answer
    assert 'hush-hush' not in json.dumps(answer), answer


@test
def secrets_of_others_behind_a_link(place):
    """The tracer may read the file, the program may not: no line of it shows up."""
    if os.geteuid() != 0:
        raise Skipped('needs root, to run the program as another user')
    secret = place.file('shadow', 'first\nline of root\n', mode=0o600)
    place.folder.chmod(0o777)
    place.file('app.conf', 'first\nwrong line\n')
    answer, _ = place.explain('sh', '-c', SWAPPER.format(secret), options=['-f', '-u', 'nobody', '-E', 'PATH=/usr/bin:/bin'])
    assert 'line of root' not in json.dumps(answer), answer
    pathlib.Path(secret).chmod(0o644)
    (place.folder / 'app.conf').unlink()
    place.file('app.conf', 'first\nwrong line\n')
    answer, _ = place.explain('sh', '-c', SWAPPER.format(secret), options=['-f', '-u', 'nobody', '-E', 'PATH=/usr/bin:/bin'])
    assert 'line of root' in json.dumps(answer), answer


@test_without_engine
def secrets_that_a_record_names(place):
    """Nobody knows who wrote a record: it opens no file that others may not read."""
    place.file('app.conf', 'first\nwrong line\n')
    record = functools.partial(explain_record, place, 'sh', '-c',
                               f'read x <{place.folder}/app.conf; echo "app.conf: line 2: syntax error" >&2; exit 3')
    known = record()
    assert 'wrong line' in json.dumps(known), known
    (place.folder / 'app.conf').chmod(0o600)
    assert 'wrong line' not in json.dumps(record())
    (place.folder / 'app.conf').chmod(0o644)
    place.folder.chmod(0o700)
    assert 'wrong line' not in json.dumps(record())


HOSTILE = 'x;$(y)'


def says(message):
    return ['sh', '-c', 'printf "%s\\n" "$1" >&2; exit 1', 'sh', message]


@test_without_engine
def names_in_commands_are_one_word(place):
    """A command of the report may be pasted into a shell, whatever the names of the tracee are."""
    home = place.folder / 'tmp'  # below /tmp, whose rights nobody calls the system's
    place.file(f'{HOSTILE}/{HOSTILE}.example')
    place.file(f'{HOSTILE}/{HOSTILE}.so')
    closed, shut = place.file('closed' + HOSTILE, mode=0o600), place.file('shut' + HOSTILE, mode=0o601)
    folder = place.folder / HOSTILE
    cases = [
        ('cp ', [place.fail, 'open', f'{folder}/{HOSTILE}'], {}),
        ('make ', [place.fail, 'open', f'{folder}/other;$(z)'], {}),
        ('mkdir -p ', [place.fail, 'open', f'{home}/{HOSTILE}/file'], {}),
        ('chmod 0600 ', says(f'Permissions 0644 for "{closed}" are too open.'), {}),
        ('apt-file search ', says(f'p: error while loading shared libraries: no{HOSTILE}.so: cannot open shared object file: '
                                  'No such file or directory'), {}),
        ('LD_LIBRARY_PATH=', says(f'p: error while loading shared libraries: {HOSTILE}.so: cannot open shared object file: '
                                  'No such file or directory'), {'cwd': folder}),
        ('apt-file search ', says(f'/usr/bin/ld: cannot find -l{HOSTILE}: No such file or directory'), {}),
        ('safe.directory ', says(f"fatal: detected dubious ownership in repository at '{folder}'"), {}),
    ]
    if os.geteuid() == 0:
        as_nobody = {'options': ['-u', 'nobody']}
        cases += [('setfacl ', [place.fail, 'open', closed], as_nobody), ('chmod o+r ', [place.fail, 'open', shut], as_nobody)]
    for command, words, more in cases:
        answer, _ = place.explain(*words, **more)
        remedies = [one['remedy'] for one in answer['answers'] if command in one['remedy']]
        assert remedies, f'no {command!r} in {answer}'
        for remedy in remedies:
            bare = re.sub("'[^']*'", '', remedy)
            assert '$(' not in bare and ';' not in bare.replace('; or, if', ''), f'unquoted: {remedy}'


@test_without_engine
def secrets_of_a_configuration(place):
    """The line that a program complains of is shown, but what it keeps secret is not."""
    for line in ('passphrase: hunter2', 'db_pass=hunter2', 'api-key: hunter2', 'pwd = hunter2', 'STRIPE_KEY=hunter2',
                 '<password>hunter2</password>', 'wpa-psk hunter2', 'db postgres://u:pa@hunter2@h/db',
                 'db postgres://u:hunter2@h/db?sslkey=a'):
        place.file('app.conf', f'first\n{line}\n')
        answer, _ = place.explain('sh', '-c', 'read x <app.conf; echo "app.conf: line 2: syntax error" >&2; exit 3')
        shown = ' '.join(answer['answers'][0]['looked_at'])
        assert '2 | ' + line[:3] in shown and 'hunter2' not in shown, shown


def record_of_generations(number, message):
    """Each process starts one child, waits for it, and fails as it does."""
    time, records = 0, []

    def record(kind, pid, **more):
        nonlocal time
        time += 1000
        records.append({'v': 1, 'type': kind, 'ts': str(time), 'pid': pid, 'tid': pid, 'comm': 'p', **more})

    def call(who, name, result, **values):
        args = [{'name': key, 'type': 'buf' if key == 'buf' else 'i32', 'raw': 0, 'value': value}
                for key, value in values.items()]
        record('syscall', who, abi='x86_64', nr=0, name=name, args=args, ret=result, dur=1)

    for pid in range(1, number):
        record('fork', pid, child=pid + 1, thread=False)
    for pid in range(number, 0, -1):
        if message:
            call(pid, 'write', 20, fd=2, buf=f'no luck in process {pid}\n', count=20)
        record('exit', pid, status=3 if message else pid % 2 + 1)
        if pid > 1:
            call(pid - 1, 'wait4', pid, pid=-1, status=0, options='0', usage=None)
    return ''.join(json.dumps(one) + '\n' for one in records)


@test_without_engine
def long_chain_of_processes(place):
    """However many generations fail, the stack of the tracer holds and the answer comes soon."""
    for message in (False, True):
        trace = place.file('trace', record_of_generations(15000, message))
        done = subprocess.run(['sh', '-c', f'ulimit -s 256; exec {place.tracer} --explain={trace} --format=json'],
                              stderr=subprocess.PIPE, timeout=TIME_LIMIT, check=False)
        assert done.returncode == 0 and answer_in(done.stderr)['outcome'] == 'failed', done.returncode


@test_without_engine
def attached_program_that_fails(place):
    """It was started long ago: nobody says that it could not be, nor how long it ran."""
    program = place.start('sh', '-c', 'read x; exit 3', stdin=subprocess.PIPE)
    words = [place.tracer, '--explain', '--format=json', '-p', str(program.pid)]
    tracer = place.start(*words, stderr=subprocess.PIPE)
    deadline = time.monotonic() + TIME_LIMIT
    while 'TracerPid:\t0\n' in pathlib.Path(f'/proc/{program.pid}/status').read_text() and time.monotonic() < deadline:
        time.sleep(0.01)
    program.communicate(b'go\n')
    answer = answer_in(tracer.communicate(timeout=TIME_LIMIT)[1])
    assert answer['headline'].endswith(': failed: it exited with status 3'), answer
    record = ''.join(json.dumps(one) + '\n' for one in (
        {'v': 1, 'type': 'fork', 'ts': '1', 'pid': 7, 'tid': 7, 'comm': 'server', 'child': 8, 'thread': False},
        {'v': 1, 'type': 'exit', 'ts': '1000000001', 'pid': 7, 'tid': 7, 'comm': 'server', 'status': 3}))
    done = subprocess.run([place.tracer, '--explain=' + place.file('trace', record), '--format=json'], stderr=subprocess.PIPE,
                          timeout=TIME_LIMIT, check=False)
    assert answer_in(done.stderr)['headline'].startswith('server: failed: it exited with status 3'), done.stderr


@test
def killed_like_the_program(place):
    done = subprocess.run([place.tracer, '--explain', *place.engine, place.fail, 'segv'], stderr=subprocess.PIPE, timeout=TIME_LIMIT,
                          check=False)
    assert done.returncode == -11, done.returncode


@test_without_engine
def usage_errors(place):
    for words, part in ((['-e', 'trace=open', 'true'], 'chooses the calls'), (['-c', 'true'], 'cannot be used with'),
                        ([], 'must have PROG')):
        done = subprocess.run([place.tracer, '--explain', *words], stderr=subprocess.PIPE, timeout=TIME_LIMIT, check=False)
        assert done.returncode == 1 and part in done.stderr.decode(), done.stderr
    done = subprocess.run([place.tracer, '--explain=' + place.file('x', 'no json\n')], stderr=subprocess.PIPE, timeout=TIME_LIMIT,
                          check=False)
    assert done.returncode == 1 and 'line 1' in done.stderr.decode(), done.stderr


if __name__ == '__main__':
    main(TESTS)
