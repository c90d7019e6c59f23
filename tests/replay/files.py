#!/usr/bin/python3
"""Trace files as their users meet them: views, pieces, pipes, killed recorders, full disks, damaged files.

    files.py TRACER [NAME...] [--kills N] [--damages N]
"""

import argparse
import contextlib
import fcntl
import os
import pathlib
import pty
import random
import re
import select
import signal
import stat
import subprocess
import sys
import tempfile
import time

TESTS = []
LIMIT = 60  # seconds for anything that is waited for
LOOP = 'i=0; while :; do cd /; cd /tmp; done'


def test(function):
    TESTS.append(function)
    return function


class Failure(Exception):
    pass


def wait_until(true, what):
    deadline = time.monotonic() + LIMIT
    while not true():
        if time.monotonic() > deadline:
            raise Failure(f'within {LIMIT} s: {what}')
        time.sleep(0.05)


def expect(condition, what):
    if not condition:
        raise Failure(what)


class Place:
    """A directory of its own, and the tracer."""

    def __init__(self, tracer, directory, arguments):
        self.tracer = str(tracer)
        self.path = pathlib.Path(directory)
        self.arguments = arguments

    def run(self, *words, **more):
        return subprocess.run([self.tracer, *(word if isinstance(word, bytes) else str(word) for word in words)], cwd=self.path, capture_output=True, timeout=120,
                              env={**os.environ, 'LC_ALL': 'C', 'TZ': 'UTC'}, **more)

    def text(self, *words):
        """Standard output and error of a run that must succeed."""
        done = self.run(*words)
        expect(done.returncode == 0, f'{words}: {done.returncode}: {done.stderr[-500:]}')
        return (done.stdout + done.stderr).decode('latin-1')

    def record(self, *words):
        return self.run('--record=run.trace', '-o', '/dev/null', *words)


@test
def every_view_of_a_recording_is_that_of_the_run(place):
    """The live view in one run, and the replayed one."""
    for options in (['--format=json'], ['--format=folded'], ['-k'], ['-kk'], ['-c', '-w', '-O0'], ['-C', '-O0'], ['-ttt', '-T', '-n', '-i'],
                    ['-c', '-O0', '--summary-histogram', '-w'], ['--min-duration=1ms'], ['--errno=ENOENT'], ['-e', 'trace=%file', '-yy', '-Y']):
        place.run('--record=run.trace', '-f', *options, '-o', 'live', 'sh', '-c', 'ls / /missing; /bin/echo')
        place.text('--replay=run.trace', *options, '-o', 'replayed')
        live, replayed = ((place.path / name).read_bytes() for name in ('live', 'replayed'))
        expect(live == replayed and live, f'{options}: they differ')


@test
def functions_are_replayed(place):
    for options in (['-T'], ['--format=json'], ['-k']):
        place.run('--record=run.trace', '-e', 'library=@MAIN', *options, '-o', 'live', 'ls', '/')
        place.text('--replay=run.trace', *options, '-o', 'replayed')
        live, replayed = ((place.path / name).read_bytes() for name in ('live', 'replayed'))
        other = next(((one, two) for one, two in zip(live.splitlines(), replayed.splitlines()) if one != two), 'in length')
        call = b'"type":"library"' if '--format=json' in options else b'@libc.so.6('
        expect(live == replayed, f'{options}: they differ: {other}')
        expect(call in live, f'{options}: no function was called')


@test
def filters_choose_among_recorded_functions(place):
    """As they would have when it was recorded."""
    place.record('-e', 'trace=write', '-e', 'library=@MAIN', 'ls', '/')
    every = place.text('--replay=run.trace', '-e', 'signal=none')
    for chosen in ('strlen', 'str*+free'):
        names = re.compile(r'(<\.\.\. )?(strlen)@' if chosen == 'strlen' else r'(<\.\.\. )?(str\w*|free)@')
        wanted = [line for line in every.splitlines() if not re.match(r'(<\.\.\. )?\w+@', line) or names.match(line)]
        found = place.text('--replay=run.trace', '-e', 'signal=none', '-e', f'library={chosen}').splitlines()
        expect(found == wanted and len(wanted) < len(every.splitlines()), f'{chosen}: {found[:5]} {wanted[:5]}')
    text = place.text('--replay=run.trace', '-e', 'library=no_such')
    expect(re.search('-e library=no_such: no function of the recording matches', text), text[-300:])
    expect('@libc' not in text, text[-300:])


@test
def prototypes_come_from_the_files_that_were_traced(place):
    """As long as they are there."""
    (place.path / 'work.c').write_text('struct pair { int x; const char *name; };\n'
                                       'int work(struct pair *pair, double d) { return pair->x + (int)d; }\n')
    (place.path / 'main.c').write_text('struct pair { int x; const char *name; };\nint work(struct pair *, double);\n'
                                       'int main(void) { struct pair pair = {3, "abc"}; return work(&pair, 2.5) - 5; }\n')
    for command in (['-shared', '-fPIC', '-o', 'libwork.so', 'work.c'], ['-o', 'main', 'main.c', '-L.', '-lwork', f'-Wl,-rpath,{place.path}']):
        if subprocess.run(['gcc', '-g', *command], cwd=place.path).returncode != 0:
            return  # there is no compiler here
    place.record('-e', 'library=work', './main')
    text = place.text('--replay=run.trace')
    expect('work@libwork.so({x=3, name="abc"}, 2.5) = 5' in text, text[-300:])
    (place.path / 'libwork.so').unlink()
    (place.path / 'main').unlink()
    text = place.text('--replay=run.trace')
    expect('work@libwork.so(0x' in text, text[-300:])


@test
def a_recording_is_for_its_owner_alone(place):
    (place.path / 'run.trace').write_text('of somebody')
    os.chmod(place.path / 'run.trace', 0o644)
    place.record('true')
    mode = stat.S_IMODE((place.path / 'run.trace').stat().st_mode)
    expect(mode == 0o600, f'its mode is {mode:o}')


@test
def it_is_a_file_of_zstd(place):
    place.record('ls')
    try:
        done = subprocess.run(['zstd', '-q', '-t', 'run.trace'], cwd=place.path, capture_output=True, text=True)
    except FileNotFoundError:
        return  # there is no zstd here
    expect(done.returncode == 0, done.stderr)


@test
def what_was_not_captured_is_said(place):
    place.record('-s', '300', 'true')
    text = place.text('--replay=run.trace', '-s', '400', '-kk')
    expect('recorded with -s 300' in text and 'recorded without -k' in text, text[-400:])
    expect('recorded' not in place.text('--replay=run.trace', '-s', '300'), 'a complaint without a reason')


@test
def information_says_what_is_in_it(place):
    place.record('-f', 'sh', '-c', 'echo; exit 3; :')
    text = place.text('--replay=run.trace', '--info')
    for pattern in (r'^command +.*--record=run\.trace', r'^engine +ptrace', r'^captured +-s 256 -v -yy$', r'^events +\d+: \d+ system calls',
                    r'^lost +0$', r'^processes +1$', r'^ +\d+ sh$'):
        expect(re.search(pattern, text, re.MULTILINE), f'{pattern} is not in {text}')
    expect('missing' not in text, text)


@test
def information_does_not_drive_the_terminal(place):
    """Whatever stands in the command line: control characters, marks of direction, bytes that are no UTF-8."""
    place.record('sh', '-c', ':', b'\x1b[31m', b'\xc2\x9b31m', b'\xe2\x80\xae', b'\xff', 'é')
    done = place.run('--replay=run.trace', '--info')
    shown = r"'\033[31m' '\302\23331m' '\342\200\256' '\377' 'é'"
    expect(shown.encode() in done.stdout, done.stdout)


@test
def a_piece_in_time_is_shown(place):
    place.record('sh', '-c', 'cd /; sleep 1.5; cd /tmp; sleep 1.5; cd /usr')

    def directories(*options):
        return re.findall(r'chdir\("(.*?)"\)', place.text('--replay=run.trace', *options))

    expect(directories() == ['/', '/tmp', '/usr'], f'all: {directories()}')
    text = place.text('--replay=run.trace', '-ttt')
    first = float(re.match(r'(\d+\.\d+) execve', text).group(1))
    start, last = (float(re.search(rf'^(\d+\.\d+) .*chdir\("{name}"', text, re.MULTILINE).group(1)) for name in ('/tmp', '/usr'))
    before, between = start - first - 0.5, last - first - 0.5
    expect(directories(f'--from={before:.3f}', f'--to={between * 1000:.0f}ms') == ['/tmp'], 'the middle')
    expect(directories(f'--from={between:.3f}') == ['/usr'], 'the end')
    expect(directories(f'--from=@{start:.6f}')[0] == '/tmp', 'by the time of -ttt')
    expect(directories(f'--to=@{start - 0.5:.6f}') == ['/'], 'up to the time of -ttt')


@test
def a_pipe_carries_a_recording(place):
    live = subprocess.Popen([place.tracer, '--record=-', '-o', place.path / 'live', 'true'], stdout=subprocess.PIPE)
    replayed = place.run('--replay=-', '-o', 'replayed', stdin=live.stdout)
    expect(live.wait() == 0 and replayed.returncode == 0, replayed.stderr)
    expect((place.path / 'live').read_bytes() == (place.path / 'replayed').read_bytes(), 'they differ')


@test
def a_full_disk_is_said_once(place):
    done = place.run('--record=/dev/full', '-o', '/dev/null', 'sh', '-c', 'ls /; exit 3')
    expect(done.returncode == 3, f'the program ends with {done.returncode}')
    expect(done.stderr.count(b'\n') == 1 and b'/dev/full: No space left on device' in done.stderr, done.stderr)


@test
def a_limit_of_the_file_size_leaves_what_was_written(place):
    program = 'ulimit -f 400; exec "$@"'
    done = subprocess.run(['sh', '-c', program, 'sh', place.tracer, '--record=run.trace', '-o', '/dev/null', 'dd',
                           'if=/dev/urandom', 'of=/dev/null', 'bs=256', 'count=4000'], cwd=place.path, capture_output=True)
    expect(done.returncode == 0, f'{done.returncode}: {done.stderr}')
    expect(done.stderr.count(b'File too large') == 1, done.stderr)
    text = place.text('--replay=run.trace')
    expect(text.count('read(') > 100 and 'cut off after' in text, text[-300:])


@test
def a_reader_that_goes_does_not_hurt(place):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([place.tracer, '--record=-', '-o', '/dev/null', 'sh', '-c', 'exit 4'], stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    expect(done.returncode == 4 and b'Broken pipe' in done.stderr, f'{done.returncode}: {done.stderr}')


@test
def a_killed_recorder_leaves_what_it_wrote(place):
    """It writes while the program runs, and whatever moment it is killed at, that can be read."""
    numbers = random.Random(7)
    for _ in range(place.arguments.kills):
        with contextlib.suppress(FileNotFoundError):
            (place.path / 'run.trace').unlink()
        recorder = subprocess.Popen([place.tracer, '-f', '--record=run.trace', '-o', '/dev/null', 'sh', '-c', LOOP], cwd=place.path,
                                    start_new_session=True)
        wait_until(lambda: b'chdir(' in place.run('--replay=run.trace').stderr, 'it writes nothing while the program runs')
        time.sleep(numbers.random() * 2)
        os.killpg(recorder.pid, signal.SIGKILL)
        recorder.wait()
        done = place.run('--replay=run.trace', '-o', 'replayed')
        expect(done.returncode == 0 and (b'ends without its end' in done.stderr or b'cut off' in done.stderr), done.stderr)
        expect('chdir(' in (place.path / 'replayed').read_text(), 'what was there is lost')


@test
def damaged_files_are_read_as_far_as_they_go(place):
    place.record('-f', 'sh', '-c', 'ls /; cat /etc/passwd; /bin/echo')
    whole = (place.path / 'run.trace').read_bytes()
    numbers = random.Random(3)
    for round_ in range(place.arguments.damages):
        data = bytearray(whole)
        if round_ % 2:
            del data[numbers.randrange(len(data)):]
        else:
            for _ in range(numbers.randrange(1, 5)):
                data[numbers.randrange(len(data))] = numbers.randrange(256)
        (place.path / 'damaged').write_bytes(data)
        for view in (['-v', '-yy'], ['--info']):
            done = place.run('--replay=damaged', *view)
            expect(done.returncode in (0, 1), f'round {round_}: {done.returncode}: {done.stderr[-300:]}')


@test
def recordings_are_explained(place):
    place.record('cat', '/missing/file')
    for words in (['--explain=run.trace'], ['--replay=run.trace', '--explain']):
        text = place.text(*words)
        expect('the directory /missing does not exist' in text, text)


def flight(place, condition, program, *options):
    """Runs a flight recorder; returns the names of the files that it wrote."""
    for old in place.path.glob('flight*'):
        old.unlink()
    place.run('-f', '--record=flight', '--record-last=30s', f'--record-when={condition}', *options, '-o', '/dev/null', 'sh', '-c', program)
    return sorted(path.name for path in place.path.glob('flight*'))


@test
def a_flight_recorder_writes_when_something_happens(place):
    for condition, quiet, program in (
            ('exit != 0', 'cd /', '(exit 3); cd /'), ('exit == 3', '(exit 4); :', '(exit 3); :'),
            ('sig in (SIGSEGV, ABRT)', 'kill -TERM $$', 'sh -c "kill -ABRT \\$\\$"; :'), ('errno == ENOTDIR', 'cd /missing', 'cd /dev/null'),
            ('call in (chroot, chdir)', ':', 'cd /'), ('dur > 2s', None, 'sleep 2.2'), ('exit != 0 || call == chdir', ':', 'cd /tmp')):
        # On a busy machine a call may take long that does nothing.
        expect(quiet is None or flight(place, condition, quiet) == [], f'{condition}: {quiet} made it write')
        expect(flight(place, condition, program) == ['flight'], f'{condition}: {program} made it write nothing')
        text = place.text('--replay=flight', '-e', 'trace=execve')
        expect('execve' in text and 'left out' not in text and 'without its end' not in text, text[-300:])
    expect(flight(place, 'dur > 2m', 'sleep 0.1') == [], 'a short call made it write')


@test
def a_flight_recorder_writes_again(place):
    names = flight(place, 'call == chdir', 'cd /; sleep 4.5; echo; cd /tmp')
    expect(names == ['flight', 'flight.2'], names)
    place.text('--replay=flight.2')


@test
def a_flight_recorder_forgets(place):
    place.run('-f', '--record=flight', '--record-last=1s', '--record-when=call==chroot || exit == 7', '-o', '/dev/null', 'sh', '-c',
              'cd /; for i in 1 2 3 4 5 6; do sleep 0.7; done; cd /tmp; exit 7')
    text = place.text('--replay=flight', '-e', 'trace=chdir')
    expect('chdir("/tmp")' in text and 'chdir("/")' not in text, text[-300:])


@test
def a_signal_makes_a_flight_recorder_write(place):
    with subprocess.Popen([place.tracer, '-f', '--record=flight', '--record-last=64M', '-o', '/dev/null', 'sh', '-c', 'cd /; echo; read line'],
                          cwd=place.path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as recorder:
        recorder.stdout.readline()
        recorder.send_signal(signal.SIGUSR1)
        wait_until(lambda: (place.path / 'flight').exists() or recorder.poll() is not None, 'it writes nothing')
        recorder.communicate(b'\n', timeout=LIMIT)
        expect(recorder.returncode == 0, 'the signal ended it')
    expect('chdir("/")' in place.text('--replay=flight'), 'it has not what went before')


@test
def a_long_replay_shows_its_progress_and_ends_with_what_there_is(place):
    """From a pipe that goes on: ^C writes the table of what came, and the terminal shows how far it is."""
    place.record('dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'count=20000', 'status=none')
    recorded = (place.path / 'run.trace').read_bytes()
    master, terminal = pty.openpty()
    replay = subprocess.Popen([place.tracer, '--replay=-', '-c'], stdin=subprocess.PIPE, stdout=terminal, stderr=terminal,
                              env={**os.environ, 'LC_ALL': 'C'})
    os.close(terminal)
    shown = b''
    third = len(recorded) // 3
    fcntl.fcntl(replay.stdin, fcntl.F_SETPIPE_SZ, 4096)
    replay.stdin.write(recorded[:third])
    replay.stdin.flush()  # more than the pipe holds: it reads by now
    time.sleep(1.1)  # the progress shows after a second, when more has come
    replay.stdin.write(recorded[third:2 * third])
    replay.stdin.flush()
    while not re.search(rb'standard input: \d+ MB', shown):
        expect(select.select([master], [], [], LIMIT)[0], f'there is no progress: {shown}')
        shown += os.read(master, 65536)
    replay.send_signal(signal.SIGINT)
    while True:
        try:
            more = os.read(master, 65536)
        except OSError:
            break
        shown += more
    os.close(master)
    expect(replay.wait(20) == -signal.SIGINT, replay.returncode)
    text = shown.decode()
    expect(re.search(r'\r\x1b\[K[^\n]*standard input: interrupted after \d+ MB\r\n', text), text)
    expect(re.search(r' (\d+) +write\r\n', text) and 'total' in text, text)


@test
def descriptions_go_along(place):
    """What --define described is decoded as it was, where the files are no more."""
    (place.path / 'mine.sys').write_text('chdir(where: path, more: u32)\n')
    done = place.run('--define=mine.sys', '--record=run.trace', '-e', 'trace=chdir', '-o', 'live', 'sh', '-c', 'cd /')
    expect(done.returncode == 0, done.stderr)
    live = (place.path / 'live').read_text()
    expect(re.search(r'chdir\("/", \d+\)', live), live)
    (place.path / 'mine.sys').unlink()
    expect(place.text('--replay=run.trace', '-e', 'trace=chdir') == live, 'it is decoded otherwise')
    expect(re.search(r'^definitions +mine.sys$', place.text('--replay=run.trace', '--info'), re.M), 'it is not named')
    # Others, given at replay, take their place.
    (place.path / 'other.sys').write_text('chdir(where: ptr)\n')
    other = place.text('--replay=run.trace', '--define=other.sys', '-e', 'trace=chdir')
    expect('chdir(0x' in other, other)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('tracer', type=pathlib.Path)
    parser.add_argument('--kills', type=int, default=4)
    parser.add_argument('--damages', type=int, default=40)
    parser.add_argument('names', nargs='*')
    arguments = parser.parse_args()
    failed = 0
    for one in TESTS:
        if arguments.names and not any(name in one.__name__ for name in arguments.names):
            continue
        with tempfile.TemporaryDirectory(prefix='files.') as directory:
            try:
                one(Place(arguments.tracer.resolve(), directory, arguments))
                print(f'ok: {one.__name__}', flush=True)
            except Failure as failure:
                failed += 1
                print(f'FAILED: {one.__name__}: {failure}', flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
