#!/usr/bin/python3
"""Programs that hang: --explain-after says what each thread waits for, resolved; also for running processes (-p)."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

from harness import TIME_LIMIT, Skipped, answer_in, main

TESTS = []
LIMITS = (0.4, 2, 8, 30)  # seconds; a program that has not come as far within one, on a busy machine, gets the next


def hang(*words):
    """A test that returns the command (or command and standard input) which hangs."""
    def wrap(function):
        def launched(place):
            command = function(place)
            sooner_or_later(lambda limit: check(explained(place, command, limit), place, words))

        def attached(place):
            command = function(place)
            started = place.start(*command, stdin=place.input, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            until_asleep(started.pid)
            sooner_or_later(lambda limit: check(explained(place, ['-p', str(started.pid)], limit, ends=True), place,
                                                words))
            assert started.poll() is None, 'the process did not outlive the tracer'
        launched.__name__ = function.__name__
        attached.__name__ = function.__name__ + '_attached'
        TESTS.extend([launched, attached])
        return function
    return wrap


def sooner_or_later(attempt):
    """Makes it with each time limit, until one is enough."""
    for limit in LIMITS:
        try:
            return attempt(limit)
        except AssertionError:
            if limit == LIMITS[-1]:
                raise
    return None


def until_asleep(pid):
    """Waits until every thread of the process has slept for a while, or it is clear that one never will."""
    end = time.monotonic() + 1.5
    calm = 0
    while calm < 5 and time.monotonic() < end:
        states = [open(f'/proc/{pid}/task/{tid}/stat').read().rsplit(')', 1)[1].split()[0]
                  for tid in os.listdir(f'/proc/{pid}/task')]
        calm = calm + 1 if all(state == 'S' for state in states) else 0
        time.sleep(0.05)


def check(answer, place, words):
    assert answer['outcome'] == 'running', answer
    text = '\n'.join([answer['verdict'], *answer['waiting']])
    assert f'{os.path.basename(place.tracer)} (pid' not in text, f'the tracer names itself: {text}'
    for word in words:
        assert word.replace('FOLDER', str(place.folder)) in text, f'no {word!r} in {text}'


def explained(place, command, limit, ends=False):
    """Runs the tracer until the explanation comes; a launched program goes on, and is then ended."""
    tracer = subprocess.Popen([place.tracer, '--explain', '--format=json', f'--explain-after={limit}s', *place.engine,
                               *command],
                              stdin=place.input, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=place.folder,
                              start_new_session=True)
    place.at_end(lambda: (stop_group(tracer.pid), tracer.wait()))
    watch = threading.Timer(TIME_LIMIT + limit, lambda: stop_group(tracer.pid))
    watch.start()
    try:
        lines = b''
        while b'"type":"explanation"' not in lines.rpartition(b'\n')[0]:
            line = tracer.stderr.readline()
            assert line, 'no explanation in ' + lines.decode()
            lines += line
        if ends:
            assert tracer.wait(TIME_LIMIT) == 0, 'exit status'
        return answer_in(lines)
    finally:
        watch.cancel()


def stop_group(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


@hang('sleeps for a time')
def sleeping(place):
    return [place.fail, 'sleep']


@hang('opens the other end of the FIFO FOLDER/fifo')
def fifo(place):
    if not (place.folder / 'fifo').exists():
        os.mkfifo(place.folder / 'fifo')
    return [place.fail, 'read-fifo', str(place.folder / 'fifo')]


def unanswering(place, call):
    """A program that asks a file system whose server says nothing any more. To look there is to hang as well."""
    folder = place.folder / 'served'
    folder.mkdir(exist_ok=True)
    place.run(place.fail, 'wait-server', str(folder), 'nothing')
    return [place.fail, 'wait-server', str(folder), call]


@hang('waits for FOLDER/served/file, on FOLDER/served (fuse), to be opened')
def opened_where_nobody_answers(place):
    return unanswering(place, 'open')


@hang('waits for an answer about FOLDER/served/file, on FOLDER/served (fuse)')
def asked_where_nobody_answers(place):
    return unanswering(place, 'access')


@hang('waits for the lock of FOLDER/lock, which python3', 'holds')
def lock(place):
    return [place.fail, 'wait-lock', place.lock('lock')]


@hang('waits for a mutex that thread', 'waits for a signal')
def mutex(place):
    return [place.fail, 'deadlock']


@hang('stopped', ': kill -CONT')
def stopped(place):
    return [place.fail, 'stop']


@hang('waits for a message in the message queue')
def message(place):
    if os.geteuid() != 0:
        raise Skipped('needs root for an IPC namespace, which takes the queue with it')
    return ['unshare', '--ipc', place.fail, 'receive']


@hang('waits until its child fail (pid', 'runs another program or ends', 'waits for a signal')
def child_of_vfork(place):
    return [place.fail, 'vfork']


@hang('waits for its child fail (pid', 'waits for a signal')
def child(place):
    return [place.fail, 'wait-child']


@hang('waits for descriptor 3: 127.0.0.1:', 'at the other end of a connection (python3 (pid', 'which has not accepted it yet')
def peer(place):
    return [place.fail, 'wait-peer', place.listen()]


@hang(', 3600 s of time at most')
def waits_for_an_hour(place):
    return [place.cc('waiter', '#include <sys/epoll.h>\nint main() { struct epoll_event one;\n'
                     'for (int all = epoll_create1(0);;) epoll_wait(all, &one, 1, 3600000); }')]


@hang('it tries again and again', 'gone', 's of time at most')
def asks_for_a_file_between_ppolls(place):
    return [place.cc('waiter', '#define _GNU_SOURCE\n#include <poll.h>\n#include <unistd.h>\nint main() { int ends[2]; pipe(ends);\n'
                     'for (;;) { struct pollfd one = {ends[0], POLLIN}; struct timespec pause = {0, 50000000};\n'
                     'access("gone", F_OK); ppoll(&one, 1, &pause, 0); } }')]


@hang('waits for changes of FOLDER/watched (inotify)')
def watched_file(place):
    return ['tail', '-f', place.file('watched')]


@hang('waits for standard input', 'a pipe that python3 (pid')
def pipe(place):
    reading, writing = os.pipe()
    place.input = reading
    place.at_end(lambda: (os.close(reading), os.close(writing)))
    return [place.fail, 'wait-pipe']


@hang('waits for standard input: a Unix socket', 'whose other end is in python3 (pid')
def unix_socket(place):
    ours, theirs = socket.socketpair()
    place.input = theirs.fileno()
    place.at_end(lambda: (ours.close(), theirs.close()))
    return [place.fail, 'wait-pipe']


@hang('it is a server with nothing to do: it waits for connections to 127.0.0.1:')
def server(place):
    """A server that waits for connections with poll is not stuck: it says on what."""
    code = ('import selectors, socket; s = selectors.DefaultSelector(); c = socket.create_server(("127.0.0.1", 0)); '
            's.register(c, 1); s.select()')
    return ['/usr/bin/python3', '-c', code]


@hang('it is a server with nothing to do: it waits for connections to 127.0.0.1:')
def server_with_poll(place):
    code = 'import select, socket; c = socket.create_server(("127.0.0.1", 0)); p = select.poll(); p.register(c, 1); p.poll()'
    return ['/usr/bin/python3', '-c', code]


@hang('it is a deadlock: thread', 'waits for thread')
def two_mutexes(place):
    source = ('#include <pthread.h>\n#include <unistd.h>\n'
              'pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;\n'
              'void *other(void *x) { pthread_mutex_lock(&b); sleep(1); pthread_mutex_lock(&a); return x; }\n'
              'int main(void) { pthread_t t; pthread_mutex_lock(&a); pthread_create(&t, 0, other, 0); sleep(1); '
              'pthread_mutex_lock(&b); }')
    return [place.cc('program', source, '-pthread')]


@hang('10 threads')
def equal_threads(place):
    code = 'import threading\nwait = threading.Event()\nfor i in range(9): threading.Thread(target=wait.wait).start()\nwait.wait()'
    return ['/usr/bin/python3', '-c', code]


@hang('it computes')
def spinning(place):
    return ['/usr/bin/python3', '-c', 'while True: pass']


def ends_before_the_limit(place):
    """Then it is explained as ever, once."""
    done = subprocess.run([place.tracer, '--format=json', f'--explain-after={TIME_LIMIT}', *place.engine, place.fail, 'open',
                           '/etc/no-such.conf'],
                          stderr=subprocess.PIPE, timeout=TIME_LIMIT, check=False)
    assert done.returncode == 1 and done.stderr.count(b'"type":"explanation"') == 1, done.stderr
    assert answer_in(done.stderr)['answers'][0]['rule'] == 'missing-file', done.stderr


def goes_on_after_the_limit(place):
    """The program is explained while it runs, and again when it ends; the exit status is its own."""
    tracer = subprocess.Popen([place.tracer, '--format=json', '--explain-after=0.1s', *place.engine, 'sh', '-c',
                               'read x; exit 5'], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    place.at_end(lambda: (tracer.kill(), tracer.wait()))
    watch = threading.Timer(TIME_LIMIT, tracer.kill)
    watch.start()
    answers = []
    for line in tracer.stderr:
        if b'"type":"explanation"' in line:
            answers.append(json.loads(line))
            if len(answers) == 1:
                tracer.stdin.write(b'\n')
                tracer.stdin.flush()
    watch.cancel()
    assert tracer.wait(TIME_LIMIT) == 5 and [one['outcome'] for one in answers] == ['running', 'failed'], answers


def interrupted(place):
    """Ctrl-C on -p: what it waits for."""
    started = place.start(place.fail, 'sleep')
    until_asleep(started.pid)
    tracer = subprocess.Popen([place.tracer, '--explain', '--format=json', *place.engine, '-p', str(started.pid)],
                              stderr=subprocess.PIPE)
    place.at_end(lambda: (tracer.kill(), tracer.wait()))
    end = time.monotonic() + TIME_LIMIT

    def ready():
        """It is awaiting signals, and, where that shows, has attached; else it does that before it serves them."""
        blocked = next(line for line in open(f'/proc/{tracer.pid}/status') if line.startswith('SigBlk:'))
        return int(blocked.split()[1], 16) & 1 << (signal.SIGINT - 1) and \
            (place.in_kernel or 'TracerPid:\t0' not in open(f'/proc/{started.pid}/status').read())

    while not ready() and time.monotonic() < end:
        time.sleep(0.02)
    tracer.send_signal(signal.SIGINT)
    _, words = tracer.communicate(timeout=TIME_LIMIT)
    check(answer_in(words), place, ['sleeps for a time'])


def busy(place):
    """One that makes calls all the time stands still for the tracer's sake, if at all."""
    started = place.start('/usr/bin/python3', '-c', 'import os\nos.write(1, b"begins")\nwhile True: os.getppid()',
                          stdout=subprocess.PIPE)
    assert started.stdout.read(6) == b'begins', 'it did not begin'
    answer = explained(place, ['-p', str(started.pid)], LIMITS[0], ends=True)
    assert answer['waiting'] and 'sleeps' not in '\n'.join(answer['waiting']), answer


def in_the_background(place):
    """A server that leaves itself in the background holds up the explanation, and a line says so."""
    tracer = subprocess.Popen([place.tracer, '--explain', '--format=json', *place.engine,
                               'sh', '-c', 'sleep 60 2>/dev/null & exit 0'],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=place.folder, start_new_session=True)
    place.at_end(lambda: (stop_group(tracer.pid), tracer.wait()))
    watch = threading.Timer(TIME_LIMIT, lambda: stop_group(tracer.pid))
    watch.start()
    line = tracer.stderr.readline().decode()
    watch.cancel()
    assert 'sh has ended, and a process that it started runs on in the background' in line, line
    tracer.send_signal(signal.SIGINT)
    _, words = tracer.communicate(timeout=TIME_LIMIT)
    assert answer_in(words)['type'] == 'explanation', words


def retries(place):
    """A program that asks for a lock again and again, and who holds it."""
    held = place.lock('lock')
    code = (f'import fcntl, time\nfile = open("{held}", "w")\nwhile True:\n  try: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\n'
            '  except OSError: time.sleep(0.05)')
    sooner_or_later(lambda limit: check(explained(place, ['/usr/bin/python3', '-c', code], limit), place,
                                        ['tries again and again: the lock of FOLDER/lock, which python3 (pid']))


def tries_to_connect(place):
    """Each try has a socket of its own; what failed while the program started does not go on."""
    code = ('import socket, time\nfor _ in range(9): os = __import__("os"); os.access("/nosuchplace-at-start", 0)\nwhile True:\n'
            '  try: socket.create_connection(("127.0.0.1", 1))\n  except OSError: time.sleep(0.05)')
    sooner_or_later(lambda limit: check(explained(place, ['/usr/bin/python3', '-c', code], limit), place,
                                        ['tries again and again: connect', '127.0.0.1']))


def tries_with_children(place):
    """A shell whose child fails each time; the child connects without waiting, so that getsockopt has the error."""
    code = ('import socket, sys\ns = socket.socket(); s.setblocking(False); s.connect_ex(("127.0.0.1", 1))\n'
            'import select; select.select([], [s], []); sys.exit(s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0)')
    script = place.file('try.py', code)
    sooner_or_later(lambda limit: check(explained(place, ['/bin/sh', '-c', f'until /usr/bin/python3 {script}; do sleep 0.05; done'],
                                                  limit), place, ['tries again and again: to connect to 127.0.0.1:1']))


def wakes_up_often(place):
    """A server with a timer is as idle as another: it is looked at while it waits, not in one of its calls."""
    code = ('import select, socket\nc = socket.create_server(("127.0.0.1", 0)); e = select.epoll(); e.register(c, 1)\n'
            'while True:\n  e.poll(0.002); open("/proc/self/stat").read()')
    sooner_or_later(lambda limit: check(explained(place, ['/usr/bin/python3', '-c', code], limit), place,
                                        ['it is a server with nothing to do: it waits for connections to 127.0.0.1:']))


def failed_long_ago(place):
    """What failed again and again when the program started is no verdict on what it does now."""
    code = ('import os, time\nfor _ in range(9): os.access("/nosuchplace-at-start", 0)\nopen("started", "w")\n'
            'while True: time.sleep(0.05)')

    def look(limit):
        answer = explained(place, ['/usr/bin/python3', '-c', code], limit)
        assert (place.folder / 'started').exists(), 'it has not started'
        assert 'nosuchplace-at-start' not in answer['verdict'], answer['verdict']
    sooner_or_later(look)


def pipes_in_a_circle(place):
    """Two processes, of which each reads what only the other can write."""
    code = ('import subprocess\nchild = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n'
            'child.stdout.read()')
    sooner_or_later(lambda limit: check(explained(place, ['/usr/bin/python3', '-c', code], limit), place,
                                        ['it is a deadlock: ', 'a pipe that cat (pid']))


def many_processes(place):
    """Processes that wait for the same are one line, and so are those that nobody looked at."""
    code = ('import os, signal\nreading, writing = os.pipe()\nfor _ in range(90):\n  if os.fork() == 0:\n'
            '    os.close(writing); os.read(reading, 1); os._exit(0)\nsignal.pause()')

    def look(limit):
        answer = explained(place, ['/usr/bin/python3', '-c', code], limit)
        waiting = [line for line in answer['waiting'] if 'processes' in line]
        assert len(answer['waiting']) == 3 and re.match(
            r'python3, 63 processes \(\d+, \d+, \d+, \d+, …\), in read: waits for descriptor \d+, a pipe that python3 '
            r'\(pid \d+\) can write to$', waiting[0]) and waiting[1].startswith('27 more processes run'), answer['waiting']
    sooner_or_later(look)


def many_names(place):
    """A report is short: what waits beyond six lines is for --explain=verbose."""
    code = ('import os, signal, threading\nfor i in range(20):\n  r, w = os.pipe()\n  threading.Thread(target=os.read, args=(r, 1)).start()\n'
            'signal.pause()')

    def look(limit):
        tracer = subprocess.Popen([place.tracer, '--explain', f'--explain-after={limit}s', *place.engine, '/usr/bin/python3', '-c', code],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        place.at_end(lambda: (stop_group(tracer.pid), tracer.wait()))
        watch = threading.Timer(TIME_LIMIT, lambda: stop_group(tracer.pid))
        watch.start()
        lines = []
        while not lines or 'more that wait' not in lines[-1]:
            lines.append(tracer.stderr.readline().decode())
            assert lines[-1], lines
        watch.cancel()
        assert len(lines) <= 10 and '--explain=verbose shows 15 more' in lines[-1], lines
    sooner_or_later(look)


def java_monitors(place):
    """Two threads that lock two monitors in opposite order: Java alone knows their owners, and the threads have names."""
    if shutil.which('javac') is None:
        raise Skipped('no javac')
    source = place.file('V.java', 'public class V { static Object a = new Object(), b = new Object();\n'
                        'static void take(Object x, Object y) { synchronized (x) { try { Thread.sleep(300); } catch (Exception e) { }\n'
                        'synchronized (y) { } } }\npublic static void main(String[] s) throws Exception {\n'
                        'Thread t = new Thread(() -> take(a, b), "left"), u = new Thread(() -> take(b, a), "right");\n'
                        't.start(); u.start(); t.join(); } }')
    place.run('javac', '-d', str(place.folder), source)
    sooner_or_later(lambda limit: check(explained(place, ['java', '-cp', str(place.folder), 'V'], limit), place,
                                        ['its threads left, right all wait for another thread', 'jstack']))


def waits_by_signal(place):
    """dash waits for its child with sigsuspend(2)."""
    sooner_or_later(lambda limit: check(explained(place, ['/bin/sh', '-c', 'sleep 20 & wait'], limit), place,
                                        ['waits for ', 'child sleep (pid']))


def goes_to_the_background(place):
    """The tracer ends, although a daemon runs on."""
    code = 'import os, time\nif os.fork() == 0:\n  os.setsid()\n  os.closerange(0, 3)\n  time.sleep(20)'
    answer, status = place.explain('/usr/bin/python3', '-c', code)
    assert status == 0 and 'started: pid' in answer['headline'] and 'runs on' in answer['headline'], answer
    os.kill(int(answer['headline'].split('pid ')[1].split()[0]), signal.SIGKILL)


TESTS += [ends_before_the_limit, goes_on_after_the_limit, interrupted, busy, in_the_background, retries,
          tries_to_connect, tries_with_children, wakes_up_often, failed_long_ago, pipes_in_a_circle, many_processes, many_names, java_monitors, waits_by_signal,
          goes_to_the_background]

if __name__ == '__main__':
    main(TESTS)
