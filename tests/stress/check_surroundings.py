#!/usr/bin/python3
"""Low limits, borrowed rights and crowds of sockets around the tracer.

    check_surroundings.py TRACER [CASE...]     runs all cases, or those whose names begin so
"""

import os
import pathlib
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

PATIENCE = float(os.environ.get('TRACER_LIVE_PATIENCE', 20))  # seconds
NOBODY = 65534


def run(*words, **more):
    more.setdefault('capture_output', 'stdout' not in more)
    return subprocess.run([str(word) for word in words], text=True, timeout=3 * PATIENCE, **more)


def file_size_limit(tracer, folder):
    """What it writes ends there, with a word; the program goes on, and has the signal as it was."""
    done = run('sh', '-c', f"""ulimit -f 1; exec {tracer} -o {folder}/log sh -c 'for i in 1 2 3 4 5 6 7 8 9; do
                               grep -c . /etc/passwd > /dev/null; done; grep SigIgn /proc/self/status; echo alive'""")
    assert 'alive' in done.stdout and 'File too large' in done.stderr, done
    ignored = int(re.search(r'SigIgn:\t(\w+)', done.stdout)[1], 16)
    assert not ignored & 1 << 24, f'the program ignores SIGXFSZ: {done}'


def little_memory(tracer, folder):
    done = run('sh', '-c', f'ulimit -v 20000; exec {tracer} -o {folder}/log -k true')
    assert 'bad_alloc' not in done.stderr, done.stderr


def deep_descriptions(tracer, folder):
    """They are refused in a line, whatever nests."""
    deep = 100_000
    for what in ('close(fd: ' + '*' * deep + 'i32)', 'close(fd: ' + '(' * deep + 'i32' + ')' * deep + ')',
                 'close(fd: i32' + '[1]' * deep + ')', 'close(fd: i32, x: bytes[' + '(' * deep + '1' + ')' * deep + '])',
                 'close(fd: i32, x: bytes[' + '1|' * deep + '1])'):
        path = folder / 'deep.sys'
        path.write_text(what + '\n')
        done = run(tracer, f'--define={path}', 'true')
        assert done.returncode == 1 and 'deep.sys:1:' in done.stderr, f'{what[:40]}: {done.returncode}: {done.stderr[:200]}'
    path.write_text('# ' + 'x' * (17 << 20) + '\n')
    done = run(tracer, f'--define={path}', 'true')
    assert done.returncode == 1 and 'is longer than' in done.stderr, done.stderr[:200]


def borrowed_rights(tracer, folder):
    """A copy with file capabilities watches only what it starts, and that gains no rights."""
    if os.geteuid() != 0 or shutil.which('setcap') is None or shutil.which('setpriv') is None:
        return 'needs root, setcap and setpriv'
    folder.chmod(0o755)
    own = folder / 'copy'
    shutil.copy(tracer, own)
    if run('setcap', 'cap_bpf,cap_perfmon+ep', own).returncode != 0:
        return 'the file system has no capabilities'
    as_nobody = ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups']
    if 'BPF' in run(tracer, '--engine=bpf', '-o', '/dev/null', 'true').stderr:
        return 'no BPF here'
    for chosen in (['--comm=sh'], ['--system-wide'], ['-p', str(os.getpid())]):
        for what in ([], ['-c']):
            done = run(*as_nobody, own, '--engine=bpf', *what, *chosen, 'true')
            assert done.returncode != 0 and 'watches only programs that it starts' in done.stderr, f'{chosen}: {done}'
    own.chmod(0o755)  # which takes no capabilities away
    assert 'every user can run this copy' in run(*as_nobody, own, '--doctor').stdout
    assert 'this copy' not in run(*as_nobody, tracer, '--doctor').stdout
    done = run(*as_nobody, own, '--engine=bpf', '-e', 'trace=getppid', 'sh', '-c', 'grep NoNewPrivs /proc/self/status')
    assert 'NoNewPrivs:\t1' in done.stdout, done
    return None


def useless_rights(tracer, folder):
    """A set-id copy, and one with more capabilities than those for BPF, trace and write what their user may."""
    if os.geteuid() != 0 or shutil.which('setcap') is None or shutil.which('setpriv') is None:
        return 'needs root, setcap and setpriv'
    folder.chmod(0o755)
    secret = folder / 'secret'
    secret.write_text('secret')
    secret.chmod(0o600)
    as_nobody = ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups']
    for name, raise_rights in (('set-uid', ['chmod', '4755']), ('set-gid', ['chmod', '2755']),
                               ('capabilities', ['setcap', 'cap_sys_ptrace,cap_dac_override,cap_sys_admin,cap_setuid+ep'])):
        own = folder / name
        shutil.copy(tracer, own)
        if run(*raise_rights, own).returncode != 0:
            return 'the file system has no capabilities'
        done = run(*as_nobody, own, '-f', '-e', 'trace=getppid', 'perl', '-e', 'getppid; exit 3')
        assert done.returncode == 3 and 'getppid()' in done.stderr, f'{name}: {done}'
        for words in (['-p', str(os.getpid())], ['-o', folder / 'log', 'true'], [f'--define={secret}', 'true'],
                      [f'--replay={secret}'], ['-u', 'root', 'true']):
            done = run(*as_nobody, own, *words)
            assert done.returncode == 1 and re.search('not permitted|denied|must be root', done.stderr), f'{name} {words}: {done}'
        assert not (folder / 'log').exists(), name
        doctor = run(*as_nobody, own, '--doctor').stdout
        assert 'drops the rights that its file gives' in doctor and 'uses BPF with it' not in doctor, f'{name}: {doctor}'
    return None


def hidden_files(tracer, folder):
    """Without /proc or /sys, and with a root that nothing can be written to, programs run, and a line says what is missing."""
    if os.geteuid() != 0 or shutil.which('unshare') is None:
        return 'needs root and unshare'

    def without(directory, *options):
        return run('unshare', '-m', 'sh', '-c', f'mount -t tmpfs none {directory} && exec "$@"', 'sh', tracer, '-o', '/dev/null',
                   *options, 'sh', '-c', 'echo well; exit 3')

    if 'well' not in without('/proc').stdout:
        return 'nothing can be mounted here'
    for options, words in (([], ''), (['-f', '-e', 'trace=openat'], ''), (['-f', '-yy', '-k'], '/proc is not mounted'),
                           (['-e', 'library=puts'], '/proc is not mounted'), (['-Y'], '/proc is not mounted'),
                           (['-c'], ''), ([f'--record={folder}/record'], ''), (['--explain'], '')):
        done = without('/proc', *options)
        assert done.returncode == 3 and 'well' in done.stdout, f'{options}: {done}'
        assert words in done.stderr and (words or '/proc' not in done.stderr), f'{options}: {done.stderr}'
        assert done.stderr.count('/proc is not mounted') <= 1, f'{options}: {done.stderr}'
    refused = without('/proc', '--engine=bpf').stderr
    assert 'CAP_BPF' not in refused, f'root lacks no capability: {refused}'
    for options in ([], ['-f', '-yy', '-k'], ['-c'], ['-e', 'library=puts'], ['--secontext', '--namespace']):
        done = without('/sys', *options)
        assert done.returncode == 3 and 'well' in done.stdout, f'{options}: {done}'
    done = run('unshare', '-m', 'sh', '-c', 'mount --bind / / && mount -o remount,ro,bind / && cd / && exec "$@"', 'sh', tracer,
               '-o', '/tracer-output', 'true')
    assert done.returncode == 1 and done.stderr.count('\n') == 1 and 'Read-only file system' in done.stderr, done
    return None


def few_resources(tracer, folder):
    """With any low limit, the program runs as it would, or one line says why it does not."""
    addresses, data, stack = (24 << 20, *range(26 << 20, 32 << 20, 1 << 19), 40 << 20), (1 << 20, 8 << 20), 128 << 10
    if os.environ.get('SANITIZED') == '1':
        addresses = data = ()  # AddressSanitizer itself needs terabytes
        stack *= 4  # its frames are several times as large
    limits = ((resource.RLIMIT_NOFILE, (4, 5, 6, 7, 8, 12, 24)), (resource.RLIMIT_AS, addresses),
              (resource.RLIMIT_DATA, data), (resource.RLIMIT_STACK, (stack,)),
              (resource.RLIMIT_CPU, (5,)), (resource.RLIMIT_FSIZE, (0, 100)), (resource.RLIMIT_MEMLOCK, (0,)))
    modes = ([], ['-f', '-k', '-yy'], ['-c'], ['--engine=bpf'], ['--format=json', f'--record={folder}/record'])
    for mode in modes:
        for limit, values in limits:
            for value in values:
                done = run(tracer, '-o', folder / 'log', *mode, '/bin/echo', 'well',
                           preexec_fn=lambda limit=limit, value=value: resource.setrlimit(limit, (value, value)))
                what = f'{mode} limit {limit}={value}: {done}'
                lines = [line for line in done.stderr.splitlines() if 'debugging information' not in line]
                assert done.returncode in (0, 1, 127), what
                is_out_of_memory = done.stderr.endswith('not enough memory for the tracer (ulimit -v)\n')
                assert done.stdout == 'well\n' if done.returncode == 0 else is_out_of_memory or not done.stdout, what
                assert len(lines) <= 2 and (done.returncode == 0 or lines), what
                assert 'terminate called' not in done.stderr and 'CAP_BPF' not in done.stderr, what
    if os.environ.get('SANITIZED') != '1':
        check_small_stacks(tracer, folder)


def check_small_stacks(tracer, folder):
    """The program gets the limit that it was to have; the tracer has more, or says what it needs."""
    for size in (64, 128, 512):
        def limit(size=size):
            resource.setrlimit(resource.RLIMIT_STACK, (size << 10, 1 << 20))
        for mode in ([], ['-f', '-k', '-yy'], ['-e', 'library=*'], ['-c', '--engine=bpf'], ['-D']):
            done = run(tracer, '-o', folder / 'log', *mode, 'sh', '-c', 'ulimit -Ss', preexec_fn=limit)
            assert (done.returncode, done.stdout) == (0, f'{size}\n'), f'{mode} {size} KB: {done}'
    def little_for_a_user():
        resource.setrlimit(resource.RLIMIT_STACK, (64 << 10, 64 << 10))
    done = run('setpriv', '--reuid=65534', '--clear-groups', '--inh-caps=-all', tracer, 'echo', 'well', preexec_fn=little_for_a_user)
    assert (done.returncode, done.stdout) == (1, ''), done
    assert done.stderr.endswith('the stack may have 64 KB, and the tracer needs 128: raise the limit (ulimit -s)\n'), done


def many_sockets(tracer, folder):
    """-yy names each socket as it is, and does not read the tables of all for that."""
    connections = 150
    names = folder / 'names'
    traced = subprocess.Popen([tracer, '-yy', '-e', 'trace=accept4,recvfrom', '-o', str(names), sys.executable, __file__,
                               'serve', str(connections)], stdout=subprocess.PIPE, text=True)
    port = int(traced.stdout.readline())
    peers = []
    idle = [socket.create_connection(('127.0.0.1', port)) for _ in range(50)]

    def ask():
        for _ in range(connections):
            with socket.create_connection(('127.0.0.1', port)) as client:
                peers.append(client.getsockname()[1])
                client.sendall(b'question')
                while client.recv(100):
                    pass

    threading.Thread(target=ask, daemon=True).start()
    assert traced.wait(3 * PATIENCE) == 0
    for client in idle:
        client.close()
    text = names.read_text()
    for peer in peers:
        assert f'recvfrom(' in text and f'<TCP:[127.0.0.1:{port}->127.0.0.1:{peer}]>' in text, f'{peer}: {text[:500]}'
    listening = re.findall(r'accept4\(\d+<([^>]*)>', text)
    assert set(listening) == {f'TCP:[127.0.0.1:{port}]'}, set(listening)


def silent_sockets(tracer, folder):
    """Sockets that connect, are bound only or belong to netlink are asked themselves, not sought among all others."""
    done = run(tracer, '--engine=bpf', '-f', '-qq', '-e', 'trace=openat', '-o', folder / 'outer', tracer, '-yy', '-e', 'trace=lseek',
               '-o', folder / 'names', sys.executable, __file__, 'hold')
    assert done.returncode == 0, done
    text = (folder / 'names').read_text()
    for name in done.stdout.splitlines():
        assert f'<{name}>' in text, f'{name}: {text}'
    if not (folder / 'outer').exists() or 'openat(' not in (folder / 'outer').read_text():
        return f'no BPF here: {done.stderr}'
    read = re.findall(r'"/proc/\d+/net/[^"]*"', (folder / 'outer').read_text())
    assert not read, read
    return None


def ids_of_namespaces(tracer, folder):
    """Since Linux 6.11, ids of another PID namespace are translated without a look at each process of the machine."""
    if tuple(int(number) for number in re.match(r'(\d+)\.(\d+)', os.uname().release).groups()) < (6, 11):
        return 'needs Linux 6.11'
    done = run(tracer, '--engine=bpf', '-f', '-qq', '-e', 'trace=openat', '-o', folder / 'outer', tracer, '-f', '--pidns-translation', '-e',
               'trace=kill', '-o', folder / 'log', 'unshare', '-Urpf', 'sh', '-c', 'kill -0 1; ' + 'kill -0 77; ' * 50)
    text = (folder / 'log').read_text() if (folder / 'log').exists() else ''
    if 'kill(1' not in text:
        return f'no namespaces or no BPF here: {done.stderr}'
    assert re.search(r"kill\(1 /\* \d+ in strace's PID NS \*/, 0\)", text), text
    assert text.count('kill(77') == 50, text[:500]
    looks = len(re.findall(r'"/proc/\d+/status"', (folder / 'outer').read_text()))
    assert looks < 50, f'{looks} looks at processes'
    return None


def moved_clocks(tracer, folder):
    """In a time namespace, whatever the engine, no line is missing, and each has its time."""
    for offset in ('1000000', '-100' if time.monotonic() > 1000 else '100'):
        moved = ['unshare', '--time', f'--monotonic={offset}', f'--boottime={offset}']
        if os.geteuid() != 0 or run(*moved, 'true').returncode != 0:
            return 'needs root and time namespaces'
        for mode in ([], ['--engine=bpf'], ['--engine=inprocess'], ['-e', 'trace=exit_group', '-e', 'library=*'],
                     ['--engine=bpf', '-e', 'trace=exit_group', '-e', 'library=*']):
            begun = time.time()
            done = run(*moved, tracer, '-f', '-ttt', '-o', folder / 'log', *mode, 'sleep', '0.1')
            ended = time.time()
            if '--engine=bpf' in mode and 'BPF' in done.stderr:
                continue
            assert done.returncode == 0, f'{mode}: {done}'
            lines = (folder / 'log').read_text().splitlines()
            assert 'exit_group(' in lines[-2] and lines[-1].endswith('+++ exited with 0 +++'), f'{mode} {offset}: {lines[-3:]}'
            for line in lines:
                assert begun < float(line.split()[1]) < ended, f'{mode} {offset}: between {begun} and {ended}: {line}'
    return None


def other_namespaces(tracer, folder):
    """In a PID namespace, --system-wide means the processes that it has: those of others have the same ids."""
    spaces = ['unshare', '--pid', '--fork', '--mount-proc']
    if os.geteuid() != 0 or run(*spaces, 'true').returncode != 0:
        return 'needs root and PID namespaces'
    if 'BPF' in run(tracer, '--engine=bpf', '-o', '/dev/null', 'true').stderr:
        return 'no BPF here'
    answer = '$| = 1; while (<STDIN>) { getppid for 1 .. 20; print "done\\n"; }'
    with subprocess.Popen([*spaces, 'perl', '-e', answer], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as stranger:
        ask = 'for i in 1 2 3 4 5; do echo go >&3; read done; done; perl -e getppid'
        done = run(*spaces, 'sh', '-c', 'exec "$@" 3>&1 >/dev/null', 'sh', tracer, '--system-wide', '-e', 'trace=getppid', '-o',
                   folder / 'log', 'sh', '-c', ask, stdin=stranger.stdout, stdout=stranger.stdin, stderr=subprocess.PIPE)
        stranger.stdin.close()
    assert done.returncode == 0, done
    calls = (folder / 'log').read_text().count('getppid(')
    assert 0 < calls < 20, f'{calls} calls, though the stranger makes 100 alone'
    return None


def serve(connections):
    listening = socket.create_server(('127.0.0.1', 0), backlog=100)
    print(listening.getsockname()[1], flush=True)
    idle = [listening.accept()[0] for _ in range(50)]
    for _ in range(connections):
        client, _ = listening.accept()
        with client:
            client.recv(100)
            client.sendall(b'answer')
    return len(idle) - 50


def hold():
    """Has a socket of each kind, and writes how it must show."""
    listening = socket.create_server(('127.0.0.1', 0), backlog=0)
    port = listening.getsockname()[1]
    sockets = []
    for _ in range(4):  # the last ones find no room in the backlog
        sockets.append(socket.socket())
        sockets[-1].setblocking(False)
        sockets[-1].connect_ex(('127.0.0.1', port))
    names = [f'TCP:[127.0.0.1:{each.getsockname()[1]}->127.0.0.1:{port}]' for each in sockets]
    sockets.append(socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
    sockets[-1].bind((0, 0))
    names.append(f'NETLINK:[ROUTE:{sockets[-1].getsockname()[0]}]')
    for family, kind, name in ((socket.AF_INET, socket.SOCK_DGRAM, 'UDP'), (socket.AF_NETLINK, socket.SOCK_RAW, 'NETLINK')):
        sockets.append(socket.socket(family, kind, 0))
        names.append(f'{name}:[{os.fstat(sockets[-1].fileno()).st_ino}]')
    for each in sockets:
        try:
            os.lseek(each.fileno(), 0, os.SEEK_SET)
        except OSError:
            pass  # a socket has no offset, but the call shows it
    print('\n'.join(names))
    return 0


CASES = (file_size_limit, little_memory, deep_descriptions, borrowed_rights, useless_rights, hidden_files,
         few_resources, many_sockets, silent_sockets, ids_of_namespaces, moved_clocks, other_namespaces)


def main():
    if sys.argv[1] == 'serve':
        return serve(int(sys.argv[2]))
    if sys.argv[1] == 'hold':
        return hold()
    tracer = os.path.abspath(sys.argv[1])
    failed = 0
    for case in CASES:
        if not case.__name__.startswith(tuple(sys.argv[2:]) or ('',)):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                skipped = case(tracer, pathlib.Path(folder))
                print(f'{case.__name__}: ' + (f'skipped: {skipped}' if skipped else 'ok'))
            except (AssertionError, subprocess.TimeoutExpired) as failure:
                failed += 1
                print(f'{case.__name__}: FAILED: {failure}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
