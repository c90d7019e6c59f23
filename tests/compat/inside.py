#!/usr/bin/python3
"""One traced run, inside fresh PID, mount and network namespaces: started by runner.py and by nobody else.

Reads a JSON job from standard input, builds a fresh /mnt (so names, inode numbers and modification times are the
same each time), runs the tracer there and copies what came out to the job's directory.
"""

import ctypes
import fcntl
import json
import os
import platform
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

FIRST_PID = 30000  # canonical.py knows the range


def mount(kind, where, data):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(kind, where, kind, 0, data) != 0:
        raise OSError(ctypes.get_errno(), f'mount {kind} on {where}')


def make_world():
    mount(b'tmpfs', b'/mnt', b'mode=755')
    mount(b'devpts', b'/dev/pts', b'ptmxmode=666')  # so that the terminals of others do not count
    for folder in ('work/data/sub', 'tmp', 'home', 'out'):
        os.makedirs('/mnt/' + folder)
    os.chdir('/mnt/work')
    numbers = random.Random(1)
    with open('data/text', 'w') as text:
        for line in range(300):
            text.write(f'{line:03} The quick brown fox\t{numbers.randrange(1 << 30):x}\n')
    with open('data/large', 'w') as large:
        for _ in range(3000):
            large.write(f'{numbers.randrange(1 << 60):020}\n')
    with open('data/sub/bytes', 'wb') as data:
        data.write(bytes(range(256)))
    with open('hello.c', 'w') as source:
        source.write('#include <stdio.h>\nint main(void) { return puts("Hello") < 0; }\n')
    os.symlink('text', 'data/link')
    for folder, _, files in os.walk('.'):
        for name in [*files, '.']:
            os.utime(os.path.join(folder, name), (1e9, 1e9), follow_symlinks=False)


def loopback_up():
    with socket.socket() as any_socket:  # SIOCSIFFLAGS with IFF_UP
        fcntl.ioctl(any_socket, 0x8914, struct.pack('16sh14x', b'lo', 1))


def wait_for_port(port):
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(('127.0.0.1', port)) == 0:
                return
        time.sleep(0.02)
    raise TimeoutError(f'no server on port {port}')


def main():
    job = json.load(sys.stdin)
    environment = job['environment']
    make_world()
    loopback_up()
    if job['setup']:
        subprocess.run(['sh', '-ec', job['setup']], env=environment, check=True, timeout=30,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    server = None
    if job['server']:
        server = subprocess.Popen(job['server'], env=environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for_port(job['port'])
    # Under one name and from one place: what a tracer is called decides where its own environment is in memory, which
    # shows in execve. Under the name strace the program also speaks as strace does.
    os.mkdir('/mnt/bin')
    tracer, *arguments = job['command']
    shutil.copy(tracer, '/mnt/bin/strace')
    with open('/proc/sys/kernel/ns_last_pid', 'w') as last_pid:
        last_pid.write(str(FIRST_PID))
    with open('/mnt/out/stdout', 'wb') as stdout, open('/mnt/out/stderr', 'wb') as stderr:
        running = subprocess.Popen(['setarch', platform.machine(), '-R', '/mnt/bin/strace', *arguments], env=environment,
                                   stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)
        try:
            status = running.wait(job['timeout'])
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGKILL)
            status = 'timeout'
    if server:
        server.kill()
    for name in ('stdout', 'stderr', 'trace'):
        if os.path.exists('/mnt/out/' + name):
            shutil.copy('/mnt/out/' + name, job['results'])
    with open(job['results'] + '/status', 'w') as result:
        result.write(str(status))


main()
