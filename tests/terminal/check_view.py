#!/usr/bin/python3
"""--view as a person sees it, in a terminal of tmux: check_view.py TRACER"""

import contextlib
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time

LIMIT = 30  # seconds for anything that is waited for
SKIPPED = 77


class Terminal:
    """A shell in a terminal of a tmux server of its own."""

    def __init__(self, folder, columns=110, rows=24):
        self.server = str(folder / 'tmux')
        environment = {**os.environ, 'PS1': 'ready> ', 'LC_ALL': 'C.UTF-8'}
        self.tmux('-f', '/dev/null', 'new-session', '-d', '-x', str(columns), '-y', str(rows), '-c', str(folder),
                  'sh', '-i', env=environment)
        self.wait('ready>')

    def tmux(self, *words, **settings):
        return subprocess.run(['tmux', '-S', self.server, *words], check=True, timeout=LIMIT, capture_output=True, text=True,
                              **settings).stdout

    def screen(self, *options):
        return self.tmux('capture-pane', '-p', *options)

    def wait(self, *wanted, unwanted=()):
        """Returns the screen as soon as it has all patterns of `wanted` and none of `unwanted`."""
        deadline = time.monotonic() + LIMIT
        while True:
            text = self.screen()
            if all(re.search(one, text, re.MULTILINE) for one in wanted) and not any(
                    re.search(one, text, re.MULTILINE) for one in unwanted):
                return text
            if time.monotonic() > deadline:
                sys.exit(f'not within {LIMIT} s: {wanted}, without {unwanted}; on the screen:\n{text}')
            time.sleep(0.02)

    def keys(self, *keys):
        self.tmux('send-keys', *keys)

    def type(self, text):
        self.tmux('send-keys', '-l', '--', text)

    def settle(self):
        """Waits until the viewer has done all that was typed: its help comes after that, and goes again."""
        self.keys('?')
        self.wait(r'follow the process', r'q back')
        self.keys('q')
        self.wait(r'^q quit', unwanted=[r'follow the process'])

    def find(self, text):
        """Searches for a text in the viewer; the text typed for that is no longer on the screen when this returns."""
        self.type('/' + text)
        self.keys('Enter')
        self.settle()

    def run(self, command):
        self.tmux('send-keys', '-R')  # clears the screen
        self.type(command)
        self.keys('Enter')

    def value(self, command):
        """Runs a command of the shell, and returns what it writes."""
        self.run(f'echo "[`{command}`]"')
        return re.search(r'^\[(.*)\]', self.wait(r'^\[.*\]'), re.MULTILINE).group(1)

    def close(self):
        subprocess.run(['tmux', '-S', self.server, 'kill-server'], capture_output=True)


def expect(true, what, text):
    if not true:
        sys.exit(f'{what}:\n{text}')


def record(tracer, trace, *command, status=0):
    # In the shortest directory: its name stands in the lines, and how much of them fits must not depend on it.
    done = subprocess.run([tracer, '-f', f'--record={trace}', '-o', '/dev/null', *command], cwd='/', timeout=LIMIT * 4, capture_output=True)
    expect(done.returncode == status, f'{command} ended with {done.returncode}', done.stderr.decode())


def reversed_lines(screen):
    """The lines of a screen that begin in reverse; tmux writes what changes alone."""
    found, is_reverse = [], False
    for line in screen.splitlines():
        start = re.match(r'(\x1b\[[\d;]*m)*', line).group()
        for part in [start, line[len(start):]]:
            for codes in re.findall(r'\x1b\[([\d;]*)m', part):
                for code in codes.split(';'):
                    is_reverse = code == '7' or (is_reverse and code not in ('', '0', '27'))
            if part is start and is_reverse:
                found.append(re.sub(r'\x1b\[[\d;]*m', '', line))
    return found


def current(terminal, wanted, unlike=None):
    """Returns the line of the cursor, as soon as it has the pattern. It is in reverse, as is the title."""
    deadline = time.monotonic() + LIMIT
    while True:
        lines = reversed_lines(terminal.screen('-e'))[1:]
        if len(lines) == 1 and re.search(wanted, lines[0]) and lines[0] != unlike:
            return lines[0]
        if time.monotonic() > deadline:
            sys.exit(f'not within {LIMIT} s: a cursor at {wanted}, not {unlike!r}; on the screen:\n{terminal.screen()}')
        time.sleep(0.02)


def check_keys(terminal, tracer):
    """Each key does what the help says."""
    terminal.run(f'{tracer} --replay=run.trace --view')
    text = terminal.wait(r'^run\.trace: sh -c', r'execve\("', r'⋯ \d+ calls: .*loader', r'^q quit')
    expect(text.count('execve("') == 1, 'the first call is not there once', text)
    terminal.keys('?')
    terminal.wait(r'follow the process', r'q back')
    terminal.keys('q')
    terminal.wait(r'execve\("', unwanted=[r'follow the process'])

    # The failure that matters: not the optional files of the loader.
    terminal.keys('e', 'Enter')
    text = terminal.wait(r'^\) += -1 \w+ \(', r'^took +\d', r'^process +\d+ \w+', r'^began ')
    expect('ld.so' not in text, 'it is one of the loader', text)
    terminal.keys('q')
    terminal.find('"/no/such/file", O_RD')
    terminal.wait(r'"/no/such/file".* = -1 ENOENT')

    # Where a call does not fit, its path stays rather than the words for the error and the current directory.
    terminal.tmux('resize-window', '-x', '86', '-y', '24')
    terminal.wait(r'openat\(AT_FDCWD, "/no/such/file", O_RDONLY\) = -1 ENOENT$')
    terminal.tmux('resize-window', '-x', '110', '-y', '24')
    terminal.wait(r'openat\(AT_FDCWD.*"/no/such/file", O_RDONLY')

    # A string is cut in the list, and whole in the details, as is each argument.
    terminal.find('"xxx')
    terminal.wait(r'write\(1<.*"x{32}"\.\.\.')
    terminal.keys('Enter')
    text = terminal.wait(r'^write\($', r'^    fd = 1<', r'^    count = 200$', r'^\) += 200$')
    expect(''.join(text.split()).count('x') >= 200, 'the string is not whole', text)
    terminal.keys('Escape')
    terminal.wait(r'"x{32}"\.\.\.', r'^q quit')

    # n and N go forth and back; what is not there is said.
    terminal.keys('g')
    terminal.find('exit_group')
    terminal.wait('exit_group')
    terminal.type('n')
    terminal.type('/never there')
    terminal.keys('Enter')
    terminal.wait("there is no more 'never there'")
    terminal.keys('g')
    terminal.type('n')
    terminal.wait("there is no more 'never there'")

    # The calls on one open file, from the one that opens it to the one that closes it last.
    terminal.keys('g')
    terminal.find('"/etc/hostname", O')
    opened = current(terminal, r'openat\(')
    fd = re.search(r'= (\d+)<', opened).group(1)
    terminal.keys(']')
    current(terminal, rf'\w+\({fd}<')
    for _ in range(20):
        terminal.keys(']')
    closed = current(terminal, r'close\(\d+<')
    terminal.keys('[')
    current(terminal, r'\w+\(\d+<', unlike=closed)
    terminal.type('gG]')
    terminal.wait('there is no descriptor in this line')
    terminal.keys('g')

    # A filter, a wrong one, and none.
    terminal.keys('f')
    terminal.type('openat -Z')
    terminal.keys('Enter')
    text = terminal.wait(r'filter: openat -Z', r'openat\(.*"/no/such/file".*ENOENT', unwanted=[r'execve\(', r'⋯'])
    expect(not re.search(r'openat.* = \d', text), 'calls that succeed pass -Z', text)
    terminal.keys('f')
    terminal.wait(r'^filter: openat -Z')
    terminal.keys('C-u')
    terminal.type('-e trace=nonsense')
    terminal.keys('Enter')
    terminal.wait(r"^invalid system call 'nonsense'", r'filter: openat -Z')
    terminal.keys('a', 'g')
    terminal.wait(r'execve\("', unwanted=[r'filter:'])

    # A run of noise: unfolded by Enter, folded by +; z concerns all.
    terminal.keys('Down', 'Enter')
    terminal.wait(r'ld\.so\.cache')
    terminal.keys('+')
    terminal.wait(r'⋯ \d+ calls: .*loader', unwanted=[r'ld\.so\.cache'])
    terminal.keys('z')
    terminal.wait(r'ld\.so\.cache', r'not folded', unwanted=[r'⋯'])
    terminal.keys('z')

    # Hidden calls, one process alone, the end, columns.
    terminal.keys('g', 'h')
    terminal.wait(r'hidden: execve', unwanted=[r'execve\("'])
    terminal.keys('H', 'g')
    terminal.wait(r'execve\("', unwanted=['hidden:'])
    terminal.find('"/no/such/file", O_RD')
    row = r'^ *\d+\.\d+ +(\d+) .*"/no/such/file", O_RD'
    child = re.search(row, terminal.wait(row), re.MULTILINE).group(1)
    terminal.keys('p')
    terminal.wait(rf'process {child} alone')
    terminal.keys('End')
    text = terminal.wait(r'\+\+\+ exited with [12] \+\+\+', r'^end')
    rows = [line for line in text.splitlines() if re.match(r' *\d+\.\d{6} ', line)]
    expect(rows and all(f' {child} ' in line for line in rows), f'there are others than {child}', text)
    terminal.keys('p', 'End')
    terminal.wait(r'\+\+\+ exited with 3 \+\+\+', unwanted=['alone'])
    terminal.keys('c')
    terminal.wait(r'^\d\d:\d\d:\d\d\.\d{6} ')
    terminal.keys('c', 'c', 'd')
    terminal.wait(r'^ *\d+ +\+\+\+ exited with 3', unwanted=[r'^ *\d+\.\d{6} '])
    terminal.keys('q')
    terminal.wait('ready>')


SHARED = """exec 5</etc/hostname; exec 6<&5
(read x <&6; cat <&5 >/dev/null)
exec 5<&-; cat <&6 >/dev/null
exec 5</etc/passwd; read y <&5; cat </etc/hostname >/dev/null"""


def check_open_file(terminal, tracer, folder):
    """] and [ follow an open file through dup and fork, and no other one of the same number or name."""
    text = subprocess.run([tracer, '--replay=shared.trace', '--no-fold', '-y', '-a0'], cwd=folder, capture_output=True, text=True,
                          timeout=LIMIT).stderr
    calls = [re.sub(r'^\[pid +\d+\] ', '', line) for line in text.splitlines() if '</etc/hostname>' in line]
    last = max(number for number, call in enumerate(calls) if call.startswith('openat'))  # opens it once more
    wanted = [call[:20] for call in calls[:last]]
    expect(len(wanted) > 12 and sum(call.startswith('dup2') for call in wanted) > 3, 'the shell shares it in another way', text)
    terminal.run(f'{tracer} --replay=shared.trace --view --no-fold')
    terminal.wait(r'^shared\.trace')
    terminal.keys('d', 'c', 'c', 'c')
    terminal.find('"/etc/hostname"')

    def call_at_cursor(unlike=None):
        return current(terminal, r'\w+\(', unlike)

    seen = [call_at_cursor()]
    for key, order in ((']', wanted), ('[', wanted[::-1])):
        seen = [call_at_cursor()]
        for _ in order[1:]:
            terminal.keys(key)
            seen.append(call_at_cursor(unlike=seen[-1]))
        found = [re.sub(r'^ *\d+ +', '', line)[:20] for line in seen]
        expect(found == order, f'{key} finds other calls than {order}', found)
        terminal.keys(key)
        terminal.wait(r'there is no more call on the file of descriptor \d+')
    terminal.keys('q')
    terminal.wait('ready>')

    # A pipe leads back to the call that made it, which has its descriptors in memory.
    record(tracer, folder / 'pipe.trace', 'sh', '-c', 'echo through-the-pipe | cat; exit 0')
    terminal.run(f'{tracer} --replay=pipe.trace --view --no-fold')
    terminal.wait(r'^pipe\.trace')
    terminal.find('write(1<pipe:')
    line = current(terminal, r'write\(1<pipe:')
    for _ in range(12):
        if re.search(r'pipe2?\(', line):
            break
        terminal.keys('[')
        line = current(terminal, r'(write|close|dup2|fcntl|pipe2?)\(', unlike=line)
    expect(re.search(r'pipe2?\(', line), 'the pipe is not found', line)
    terminal.keys('q')
    terminal.wait('ready>')


def check_many_descriptors(terminal, tracer, folder):
    """What is kept of a file has a bound, however many descriptors its program gives to however many children."""
    program = ('use POSIX; open F, "/etc/hostname"; POSIX::dup(fileno F) for 1 .. 900; '
               'for (1 .. 800) { fork or POSIX::_exit(0); wait } sysread F, $_, 1')
    record(tracer, folder / 'many.trace', 'perl', '-e', program)
    terminal.run(f'{tracer} --replay=many.trace --view --no-fold')
    terminal.wait(r'^many\.trace')
    shell = terminal.tmux('display-message', '-p', '#{pane_pid}').strip()
    viewer = pathlib.Path(f'/proc/{shell}/task/{shell}/children').read_text().split()[0]

    def megabytes():
        return int(re.search(r'VmRSS:\s+(\d+)', pathlib.Path(f'/proc/{viewer}/status').read_text())[1]) / 1024

    terminal.keys('G')
    terminal.wait(r'^end ')
    terminal.keys('k', 'k')
    current(terminal, r'close\(3')
    before = megabytes()
    terminal.keys('[')
    current(terminal, r'read\(3')
    grown = megabytes() - before
    expect(grown < 45, 'the viewer keeps too much of an open file', f'{grown} MB')
    terminal.keys('q')
    terminal.wait('ready>')


def check_verdict(terminal, tracer):
    """x explains the process of the line, not the first one alone."""
    terminal.run(f'{tracer} --replay=run.trace --view')
    terminal.wait(r'^run\.trace')
    terminal.find('"/no/such/file", O_RD')
    current(terminal, '/no/such/file')
    terminal.keys('x')
    terminal.wait(r'^cat: failed: it exited with status 1', r'/no/such/file', r'q back')
    terminal.keys('q')
    terminal.type('gx')
    terminal.wait(r'^sh: failed: it exited with status 3', unwanted=[r'^cat: failed'])
    terminal.keys('q', 'q')
    terminal.wait('ready>')


def check_manual(terminal, tracer, folder):
    """m runs man 2 on the terminal, and says so if there is no page; the viewer goes on as it was."""
    pages = folder / 'bin'
    pages.mkdir()
    (pages / 'man').write_text("""#!/bin/sh
[ "$3" = openat ] || exit 16
[ "$1" = -w ] && exit 0
echo "the page $2 $3"
read answer
""")
    (pages / 'man').chmod(0o755)
    terminal.run(f'PATH={pages}:$PATH {tracer} --replay=run.trace --view')
    terminal.wait(r'^run\.trace', r'execve\("')
    terminal.type('m')
    terminal.wait(r'^there is no manual page execve\(2\)')
    terminal.find('"/no/such/file", O_RD')
    current(terminal, '/no/such/file')
    terminal.type('m')
    terminal.wait(r'^the page 2 openat$', unwanted=[r'^q quit'])
    terminal.keys('C-c')  # man's: the shell that stands for it ends
    terminal.wait(r'^q quit', r'/no/such/file', unwanted=[r'^the page 2'])
    terminal.keys('q')
    terminal.wait('ready>')


def check_growing(terminal, tracer, folder):
    """A recording that is still written is followed, and a process that runs already is looked at while it runs."""
    os.mkfifo(folder / 'gate')
    program = ['sh', '-c', 'cat /first-one; while read x; do cat "/$x"; done <gate']
    with subprocess.Popen([tracer, '-f', '--record=growing.trace', '-o', '/dev/null', *program], cwd=folder, stderr=subprocess.DEVNULL) as recorder:
        with open(folder / 'gate', 'w') as gate:
            print('second-one', file=gate, flush=True)
            deadline = time.monotonic() + LIMIT
            while b'/second-one' not in subprocess.run([tracer, '--replay=growing.trace', '-e', 'trace=openat'], cwd=folder, capture_output=True,
                                                       timeout=LIMIT).stderr:
                expect(time.monotonic() < deadline and recorder.poll() is None, 'the recording does not grow', '')
                time.sleep(0.05)
            terminal.run(f'{tracer} --replay=growing.trace --view')
            terminal.wait(r'^growing\.trace', r'execve\("')
            terminal.keys('G')
            terminal.wait('^end so far')
            print('third-one', file=gate, flush=True)
            terminal.wait(r'"/third-one", O_.* = -1 ENOENT', r'^end so far')
            terminal.type('g')
            terminal.wait(r'execve\("')
    terminal.wait(r'^the recording has ended', r'execve\("')
    terminal.keys('G')
    terminal.wait(r'\+\+\+ exited with 1 \+\+\+', r'^end$|^end ')
    terminal.keys('q')
    terminal.wait('ready>')

    with subprocess.Popen(['sh', '-c', 'while read x; do cat "/$x"; done <gate'], cwd=folder, stderr=subprocess.DEVNULL) as program:
        with open(folder / 'gate', 'w') as gate:
            terminal.run(f'{tracer} -f --view -p {program.pid}; echo ended $?')
            terminal.wait(r'read\(0')
            terminal.keys('G')
            print('while-it-runs', file=gate, flush=True)
            terminal.wait(r'"/while-it-runs", O_.* = -1 ENOENT', r'^end so far')
            terminal.keys('q')
            terminal.wait(r'ended 0$')
            expect(program.poll() is None, 'the process has not gone on', '')


def check_other_terminal(tracer, folder):
    """The same by another terminal's word (pyte): the screen, the cursor's line in reverse, failures in red."""
    try:
        import pyte
    except ImportError:
        print('skipped: there is no pyte (Debian: python3-pyte)')
        return
    screen = pyte.Screen(100, 20)
    stream = pyte.ByteStream(screen)
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ.update(TERM='linux', LC_ALL='C.UTF-8')
        os.environ.pop('NO_COLOR', None)
        termios.tcsetwinsize(0, (20, 100))
        os.execv(tracer, [tracer, '--replay=run.trace', '--view'])

    def wait(what):
        deadline = time.monotonic() + LIMIT
        while not what():
            expect(time.monotonic() < deadline, 'not in time', '\n'.join(screen.display))
            if select.select([terminal], [], [], 0.1)[0]:
                stream.feed(os.read(terminal, 65536))

    def cells(row):
        return [screen.buffer[row][column] for column in range(screen.columns - 1)]  # the last one stays free

    wait(lambda: screen.display[0].startswith('run.trace: sh -c') and 'execve(' in screen.display[1] and all(cell.reverse for cell in cells(1)))
    marked = [number for number in range(20) if all(cell.reverse for cell in cells(number))]
    expect(marked == [0, 1], 'title and cursor, and no others, are not in reverse', marked)
    os.write(terminal, b'/"/no/such/file", O_RD\r')
    wait(lambda: any('"/no/such/file", O_RD' in line for line in screen.display[1:-2]))
    os.write(terminal, b'j')  # the line loses its cursor, and may move up

    def found():
        return next(number for number, line in enumerate(screen.display[:-2]) if '"/no/such/file", O_RD' in line)

    wait(lambda: not screen.buffer[found()][32].reverse)
    expect(any(cell.fg == 'red' for cell in cells(found())), 'the failure is not red', screen.display[found()])
    os.write(terminal, b'q')
    with contextlib.suppress(OSError):  # the terminal's other end is closed
        while os.read(terminal, 65536):
            pass
    expect(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, 'it ends otherwise', '')
    os.close(terminal)


def check_hostile(terminal, tracer):
    """What a program names does nothing to the terminal."""
    terminal.run(f'{tracer} --replay=hostile.trace --view')
    terminal.wait(r'^hostile\.trace')
    terminal.find('evil')
    text = terminal.wait(r'\\33\]0;evil\\7\\n')
    terminal.keys('Enter')
    terminal.wait(r'pathname = ".*\\33\]0;evil\\7\\n')
    title = terminal.tmux('display-message', '-p', '#{pane_title}')
    expect('evil' not in title, 'the title is the hostile one', title)
    terminal.keys('q', 'q')
    terminal.wait('ready>')


def check_blocks(terminal, tracer):
    """A recording of many blocks: calls that end in another one, the end, a search through all, resizing."""
    terminal.run(f'{tracer} --replay=long.trace --view')
    terminal.wait(r'^long\.trace')
    terminal.keys('f')
    terminal.type('wait4')
    terminal.keys('Enter')
    terminal.wait(r'wait4\(.*WEXITSTATUS.* = \d+$', r'^end')
    terminal.keys('a', 'g')
    terminal.wait(r'execve\("', r'^\d+ %')
    terminal.keys('End')
    terminal.wait(r'\+\+\+ exited with 0', r'^end')
    terminal.keys('Home')
    terminal.wait(r'execve\("')
    terminal.find('"/the-last-one", O_RD')
    terminal.wait(r'^ .*"/the-last-one".* = -1 ENOENT')
    for columns, rows in ((60, 12), (40, 5), (150, 40)):
        terminal.tmux('resize-window', '-x', str(columns), '-y', str(rows))
        text = terminal.wait(r'^long\.trace', *([r'the-last-one'] if columns > 60 else []), r'^q quit')
        lines = text.rstrip('\n').split('\n')
        expect(len(lines) == rows and lines[-1].startswith('q quit'), f'it does not fill {columns} x {rows}', text)
    terminal.tmux('resize-window', '-x', '110', '-y', '24')
    terminal.wait(r'^q quit')
    terminal.keys('q')
    terminal.wait('ready>')


def check_ends(terminal, tracer, folder):
    """The terminal is as it was, however the viewer ends."""
    before = terminal.value('stty -g')
    view = f'{tracer} --replay=run.trace --view'

    def check_shell(status):
        text = terminal.wait(rf'ended {status}$')
        expect('execve' not in text.replace(view, ''), 'the screen is not that of the shell', text)
        expect(terminal.value('stty -g') == before, 'the settings of the terminal are others', text)

    for term in ('xterm', 'screen', 'linux', 'vt100'):
        terminal.run(f'TERM={term} {view}; echo ended $?')
        terminal.wait(r'execve\("', r'^q quit')
        terminal.keys('q')
        terminal.wait(r'ended 0$')
        expect(terminal.value('stty -g') == before, f'the settings of the terminal are others ({term})', '')
    terminal.run(f'{view}; echo ended $?')
    terminal.wait(r'^q quit')
    terminal.keys('C-c')
    check_shell(0)
    for name, status in (('TERM', 143), ('HUP', 129), ('QUIT', 131)):  # the shell itself breaks off after SIGINT
        terminal.run(f'sh -c \'echo $$ > viewer.pid; exec {view}\'; echo ended $?')
        terminal.wait(r'execve\("', r'^q quit')
        os.kill(int((folder / 'viewer.pid').read_text()), getattr(signal, 'SIG' + name))
        check_shell(status)
    terminal.run(f'{view}; echo ended $?')
    terminal.wait(r'^q quit')
    terminal.keys('C-z')
    terminal.wait(r'Stopped|suspended')
    expect(terminal.value('stty -g') == before, 'a stopped viewer leaves its settings', '')
    terminal.run('fg')
    terminal.wait(r'execve\("', r'^q quit')
    terminal.keys('q')
    terminal.wait('ready>')
    for term, why in (('dumb', 'cannot move its cursor'), ('no-such-one', 'is unknown')):
        terminal.run(f'TERM={term} {view}; echo ended $?')
        terminal.wait(rf'--view: the terminal TERM={term}\s+{why}', r'ended 1$')
    done = subprocess.run(['setsid', '-w', tracer, '--replay=run.trace', '--view'], cwd=folder, capture_output=True, text=True,
                          timeout=LIMIT)
    expect(done.returncode == 1 and 'there is no terminal' in done.stderr, 'it does not say that there is no terminal', done.stderr)


def check_colors(terminal, tracer):
    """Failures are red unless NO_COLOR is set to something; an option has the last word."""
    for environment, option, is_colored in [('NO_COLOR=', 'auto', True), ('NO_COLOR=1', 'auto', False), ('NO_COLOR=1', 'always', True),
                                            ('NO_COLOR=', 'never', False)]:
        terminal.run(f'{environment} {tracer} --replay=run.trace --view --color={option}')
        terminal.wait(r'execve\("', r'^q quit')
        terminal.find('"/no/such/file", O_RD')
        failure = current(terminal, r'"/no/such/file".* = -1 ENOENT')
        terminal.keys('Up')
        current(terminal, '.', unlike=failure)
        shown = terminal.screen('-e')
        expect(('\033[31m' in shown) == is_colored, f'colours with {environment} and --color={option}', repr(shown))
        terminal.keys('q')
        terminal.wait('ready>')


def check_live(terminal, tracer):
    """A live run: the terminal is the program's until it ends, and its status that of the tracer."""
    terminal.run(f'{tracer} --view sh -c \'test -t 0 && echo asks; read line; echo "got $line"; exit 5\'; echo ended $?')
    terminal.wait('^asks')
    terminal.type('an answer')
    terminal.keys('Enter')
    terminal.wait(r'^sh -c', r'execve\("', r'^q quit')
    terminal.keys('G')
    terminal.wait(r'\+\+\+ exited with 5 \+\+\+')
    terminal.keys('q')
    terminal.wait(r'^got an answer$', r'ended 5$')
    terminal.run(f"{tracer} --view sh -c 'echo waits; exec sleep 1000'; (exit $?)")
    terminal.wait('^waits$')
    terminal.keys('C-c')
    terminal.wait(r'^sh -c', r'execve\("', r'^q quit')
    terminal.keys('G')
    terminal.wait(r'\+\+\+ killed by SIGINT \+\+\+')
    terminal.keys('q')
    terminal.wait('ready>')
    status = terminal.value('echo $?')
    expect(status == '130', f'it ends with {status}, not as the program did', '')
    terminal.run(f'{tracer} --view /no/such/program; echo ended $?')
    terminal.wait(r'/no/such/program', r'ended 127$')


def check_cut(terminal, tracer, folder):
    """A recording without its end can be looked at, and says so."""
    whole = (folder / 'long.trace').read_bytes()
    (folder / 'cut.trace').write_bytes(whole[:len(whole) // 2])
    terminal.run(f'{tracer} --replay=cut.trace --view')
    terminal.wait(r'execve\("', r'^the recording has no end')
    terminal.keys('End')
    terminal.wait(r'(read|write)\(', r'^end')
    terminal.keys('q')
    terminal.wait('ready>')
    (folder / 'odd.trace').write_bytes(whole[:200])
    terminal.run(f'{tracer} --replay=odd.trace --view; echo ended $?')
    terminal.wait(r'damaged|it is no trace', r'ended 1$')


def main():
    if not shutil.which('tmux'):
        print('skipped: tmux is not installed')
        return SKIPPED
    tracer = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix='tracer-view-', ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        line = 'x' * 200
        record(tracer, folder / 'run.trace', 'sh', '-c', f'cd /; cat /no/such/file; cat /etc/hostname; printf %s {line}; exit 3', status=3)
        record(tracer, folder / 'shared.trace', 'sh', '-c', SHARED)
        record(tracer, folder / 'hostile.trace', 'cat', '/dev/null', '/tmp/\033]0;evil\a\n', status=1)
        record(tracer, folder / 'long.trace', 'sh', '-c',
               'cd /; dd if=/dev/zero of=/dev/null bs=1 count=30000 status=none; cat /the-last-one; exit 0')
        terminal = Terminal(folder)
        try:
            check_keys(terminal, tracer)
            check_open_file(terminal, tracer, folder)
            check_many_descriptors(terminal, tracer, folder)
            check_verdict(terminal, tracer)
            check_manual(terminal, tracer, folder)
            check_growing(terminal, tracer, folder)
            check_other_terminal(tracer, folder)
            check_hostile(terminal, tracer)
            check_blocks(terminal, tracer)
            check_ends(terminal, tracer, folder)
            check_colors(terminal, tracer)
            check_live(terminal, tracer)
            check_cut(terminal, tracer, folder)
        finally:
            terminal.close()
    print('the viewer shows and does what it has to')
    return 0


if __name__ == '__main__':
    sys.exit(main())
