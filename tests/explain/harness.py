"""Runs `tracer --explain` on programs that fail in known ways, and checks what it answers."""

import concurrent.futures
import fcntl
import json
import multiprocessing
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'machines'))
import kernel_engine  # noqa: E402

TIME_LIMIT = 60  # seconds, for any one run: far more than it takes, since others may have the machine meanwhile
SKIPPED = 77  # ctest's SKIP_RETURN_CODE


class Skipped(Exception):
    """The machine cannot do what a test needs."""


class Place:
    """A directory of one test, with the tracer and the program that fails; what was begun is ended after the test."""

    def __init__(self, tracer, fail, folder, engine=()):
        self.tracer, self.fail, self.folder = os.path.abspath(tracer), os.path.abspath(fail), folder
        self.engine = engine  # options that choose it
        self.in_kernel = '--engine=bpf' in engine  # it stops nobody
        self.input = subprocess.DEVNULL
        self._ends = []

    def at_end(self, action):
        self._ends.append(action)

    def close(self):
        for action in reversed(self._ends):
            action()

    def file(self, name, text='', mode=0o644):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        path.chmod(mode)
        return str(path)

    def copy_of_fail(self, name='fail', mode=0o755):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.fail, path)
        path.chmod(mode)
        return str(path)

    def cc(self, name, source, *options):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(['gcc', '-w', '-x', 'c', '-', '-x', 'none', '-o', str(path), *options],
                       input=source.encode(), check=True, timeout=TIME_LIMIT, stderr=subprocess.DEVNULL)
        return str(path)

    def start(self, *words, **more):
        """A process that lives until the test ends."""
        process = subprocess.Popen(words, **more)
        self.at_end(lambda: (process.kill(), process.wait()))
        return process

    def run(self, *words, **more):
        """Runs a command that has to succeed; a test that cannot be prepared is skipped."""
        done = subprocess.run(words, capture_output=True, timeout=TIME_LIMIT, **more)
        if done.returncode != 0:
            raise Skipped(f'{words[0]}: {done.stderr.decode(errors="replace").strip()}')
        return done.stdout.decode()

    def lock(self, name):
        """A file that this process has locked; returns its path."""
        path = self.file(name)
        held = open(path, 'w', encoding='ascii')
        self.at_end(held.close)
        fcntl.flock(held, fcntl.LOCK_EX)
        return path

    def listen(self):
        """A TCP port of 127.0.0.1 that this process listens on and never accepts from; returns its number."""
        server = socket.create_server(('127.0.0.1', 0))
        self.at_end(server.close)
        return str(server.getsockname()[1])

    def mount(self, *options):
        """A small file system of its own at a directory below; returns the directory."""
        point = self.folder / 'mount'
        point.mkdir()
        self.run('mount', '-t', 'tmpfs', '-o', ','.join(('size=64k', *options)), 'tmpfs', str(point))
        self.at_end(lambda: subprocess.run(['umount', '-l', str(point)], check=False))
        return point

    def explain(self, *command, options=(), before=(), **more):
        """The answer as JSON, and how the tracer ended."""
        more.setdefault('cwd', self.folder)
        more.setdefault('stdin', subprocess.DEVNULL)
        done = subprocess.run([*before, self.tracer, '--explain', '--format=json', *self.engine, *options,
                               *command],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIME_LIMIT, check=False, **more)
        return answer_in(done.stderr), done.returncode


def answer_in(standard_error):
    for line in reversed(standard_error.decode(errors='replace').splitlines()):
        at = line.find('{"v":1,"type":"explanation"')
        if at >= 0:
            return json.loads(line[at:])
    raise AssertionError('no explanation in:\n' + standard_error.decode(errors='replace'))


def all_words(answer):
    return ' '.join([answer['cause'], answer['remedy'], *answer['looked_at'],
                     *(step['call'] for step in answer['evidence'])])


class Tasks:
    """What run_number() can run: workers have it from the process that made them."""
    tasks = []


def run_number(number):
    return Tasks.tasks[number]()


def run_beside_each_other(tasks):
    """Yields what the tasks return. In processes: threads would hand the files that they write to each other's children,
    for as long as those have not run their programs, and nobody can run a file that is being written (ETXTBSY)."""
    Tasks.tasks = tasks
    with concurrent.futures.ProcessPoolExecutor(4, multiprocessing.get_context('fork')) as pool:
        yield from pool.map(run_number, range(len(tasks)))


def run_all(tests, tracer, fail, engine, only):
    """Runs each test in a directory of its own; returns how many failed."""
    chosen = [test for test in tests if only in test.__name__ and not ('--engine=bpf' in engine and hasattr(test, 'once'))]
    # Other users run them too, and may not be let into the build directory.
    shared = tempfile.TemporaryDirectory(prefix='explain.')
    os.chmod(shared.name, 0o755)
    tracer, fail = (shutil.copy(program, shared.name) for program in (tracer, fail))

    def one(test):
        with tempfile.TemporaryDirectory(prefix='explain.') as folder:
            os.chmod(folder, 0o755)
            place = Place(tracer, fail, pathlib.Path(folder), engine)
            try:
                test(place)
                return test.__name__, 'ok', ''
            except Skipped as why:
                return test.__name__, 'skipped', str(why)
            except Exception as error:  # a test that breaks is a test that fails
                return test.__name__, 'FAILED', f'{type(error).__name__}: {error}'
            finally:
                place.close()

    results = list(run_beside_each_other([lambda test=test: one(test) for test in chosen]))
    shared.cleanup()
    # Failures come last: where a log is cut, its end is kept.
    for kind in ('skipped', 'FAILED'):
        for name, result, why in results:
            if result == kind:
                print(f'{result}: {name}: {why}')
    failed = sum(result == 'FAILED' for _, result, _ in results)
    print(f'{len(chosen)} tests, {failed} failed')
    return failed


def main(tests):
    words = sys.argv[1:]
    engine = [word for word in words if word.startswith('--engine=')]
    words = [word for word in words if word not in engine]
    if len(words) < 2:
        sys.exit(f'usage: {sys.argv[0]} TRACER FAIL [--engine=ENGINE] [PART OF A NAME]')
    if reason := '--engine=bpf' in engine and kernel_engine.why_not(os.path.abspath(words[0])):
        print(f'skipped: {reason}')
        sys.exit(SKIPPED)
    sys.exit(1 if run_all(tests, words[0], words[1], engine, words[2] if len(words) > 2 else '') else 0)
