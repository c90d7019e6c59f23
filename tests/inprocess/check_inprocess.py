#!/usr/bin/python3
"""Holds --engine=inprocess to what --engine=ptrace shows, and its tracees to what they do untraced.

    check_inprocess.py TRACER CALLS
"""

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
LIMIT = 120  # seconds, of each run


def run(command):
    return subprocess.run(command, capture_output=True, text=True, errors='replace', timeout=LIMIT, check=False)


class Runs:
    def __init__(self, tracer, directory):
        self.tracer = tracer
        self.directory = directory

    def traced(self, engine, options, command):
        """The lines of the trace, and the finished process."""
        out = self.directory / f'{engine}.out'
        done = run([self.tracer, f'--engine={engine}', '-o', str(out), *options, *command])
        return out.read_text(errors='replace').splitlines() if out.exists() else [], done

    def patched(self, command, options=('-f',)):
        """How many places were patched, as -d says."""
        _, done = self.traced('inprocess', ['-d', *options], command)
        return len(re.findall(r'inprocess: call site .*: patched', done.stderr))


def joined(lines):
    """Lines with the calls in one piece that another thread's line has cut, or a call from within."""
    begun = collections.defaultdict(list)
    for line in lines:
        thread, _, rest = line.partition(' ')
        rest = rest.lstrip()
        resumed = re.match(r'<\.\.\. [\w@.+-]+ resumed>(.*)', rest)
        if rest.endswith(' <unfinished ...>'):
            begun[thread].append(rest.removesuffix(' <unfinished ...>'))
        elif resumed and begun[thread]:
            yield f'{thread} {begun[thread].pop()}{resumed[1]}'
        else:
            yield line
    for thread, calls in begun.items():
        for rest in calls:
            yield f'{thread} {rest} <unfinished ...>'


def canonical(lines):
    """Lines without what differs between two runs of one program."""
    result = []
    for line in joined(lines):
        line = re.sub(r'\) +=', ') =', line)
        line = re.sub(r'^\d+ +', 'PID ', line)
        line = re.sub(r'0x[0-9a-f]{6,}', 'ADDRESS', line)
        line = re.sub(r'\b(getpid|getppid|gettid|set_tid_address|vfork|fork|clone|wait4)\((.*)\)(\s+)= \d+', r'\1(\2)\3= PID', line)
        line = re.sub(r'\b\d{3,7}\b', 'NUMBER', line)
        line = line.replace('parent_tid=[0]', 'parent_tid=[NUMBER]')  # the thread may have ended, which clears it
        line = re.sub(r'(tv_n?sec|tv_usec|st_[amc]time_nsec|ru_\w+|freeram|loads)=[^,}]*', r'\1=TIME', line)
        line = re.sub(r':\[\d+', ':[INODE', line)
        line = re.sub(r'eventfd-id=\d+', 'eventfd-id=ID', line)
        line = re.sub(r'(getrandom\()"[^"]*"', r'\1RANDOM', line)
        if 'fstatfs(' not in line and not re.search(r'read\(\d+, "[0-9a-f]{8,}-', line):  # free blocks; /proc/self/maps
            result.append(line)
    return result


def difference(one, other):
    """Lines of one that the other lacks, as a multiset."""
    return collections.Counter(one) - collections.Counter(other)


def check_everyday(runs, failures):
    programs = [
        ['ls', '-l', '/usr'],
        ['cat', '/etc/passwd'],
        ['sh', '-c', 'for i in 1 2 3 4 5; do echo $i; done | sort -r | head -3'],
        ['find', '/usr/share/doc/bash', '-type', 'f'],
        ['grep', '-r', 'root', '/etc/passwd', '/etc/group'],
        ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'count=200', 'status=none'],
        ['python3', '-c', 'import os\nfor i in range(20): os.stat("/"); os.listdir("/etc")'],
        ['sort', '/etc/services'] if os.path.exists('/etc/services') else ['sort', '/etc/passwd'],
    ]
    total = same = 0
    for program in programs:
        bare = run(program)
        stopped, by_ptrace = runs.traced('ptrace', ['-f'], program)
        inside, by_itself = runs.traced('inprocess', ['-f'], program)
        what = ' '.join(program)[:50]
        if (by_itself.returncode, by_itself.stdout) != (bare.returncode, bare.stdout):
            failures.append(f'{what}: status {by_itself.returncode}, untraced {bare.returncode}: {by_itself.stderr}')
        missing = difference(canonical(stopped), canonical(inside))
        total += len(stopped)
        same += len(stopped) - missing.total()
        for line, count in list(missing.items())[:5]:
            print(f'{what}: only ptrace shows ({count}): {line}')
        for line, count in list(difference(canonical(inside), canonical(stopped)).items())[:5]:
            print(f'{what}: only inprocess shows ({count}): {line}')
    print(f'everyday programs: {same} of {total} lines are the same')
    if same < total * 99 // 100:
        failures.append('fewer than 99 of 100 lines are the same')


def check_counts(runs, calls, failures):
    for threads in (1, 8, 64):
        each = 4000 // threads + 100
        lines, done = runs.traced('inprocess', ['-f', '-e', 'trace=getppid'], [calls, 'threads', str(each), str(threads)])
        found = sum(1 for line in lines if 'getppid(' in line)
        returned = sum(1 for line in lines if re.search(r'= \d+$', line))
        wanted = each * (threads + 1)
        if (found, returned, done.returncode) != (wanted, wanted, 0):
            failures.append(f'{threads} threads: {found} calls and {returned} results instead of {wanted}: {done.stderr}')


def check_shared_memory(runs, calls, failures):
    each = 4000
    lines, done = runs.traced('inprocess', ['-f', '-e', 'trace=getppid'], [calls, 'shared', str(each)])
    found = sum(1 for line in lines if 'getppid(' in line)
    wanted = 10 * 3 * each
    if (found, done.returncode) != (wanted, 0):
        failures.append(f'shared memory: {found} calls instead of {wanted}, status {done.returncode}: {done.stderr}')


def check_same_output(runs, calls, failures):
    for mode, count in (('registers', 5000), ('pointers', 50), ('restart', 300), ('interrupt', 300), ('forks', 60), ('execs', 20),
                        ('mappings', 200), ('children', 50), ('truncation', 50), ('stops', 300), ('', 3000)):
        command = [calls, mode, str(count)]
        bare = run(command)
        for options in (['-f'], ['-f', '-e', 'trace=getppid'], ['-f', '-e', 'trace=open,openat,writev']):
            lines, done = runs.traced('inprocess', options, command)
            if (done.returncode, done.stdout) != (bare.returncode, bare.stdout):
                failures.append(f'{mode} {options}: {done.returncode} {done.stdout!r}, untraced {bare.returncode} '
                                f'{bare.stdout!r}: {done.stderr}')
            if any('SIGSEGV' in line and '---' in line for line in lines):
                failures.append(f'{mode}: a SIGSEGV of ours is shown')
    for mode, count in (('pointers', 30), ('devices', 30), ('forks', 12), ('execs', 4), ('mappings', 20), ('', 30)):
        stopped, _ = runs.traced('ptrace', ['-f'], [calls, mode, str(count)])
        inside, _ = runs.traced('inprocess', ['-f'], [calls, mode, str(count)])
        for line, number in difference(canonical(stopped), canonical(inside)).items():
            failures.append(f'{mode}: only ptrace shows ({number}): {line}')
        for line, number in difference(canonical(inside), canonical(stopped)).items():
            failures.append(f'{mode}: only inprocess shows ({number}): {line}')


def compare(runs, options, program, failures):
    stopped, _ = runs.traced('ptrace', options, program)
    inside, done = runs.traced('inprocess', options, program)
    what = ' '.join([*options, *program])
    if not inside:
        failures.append(f'{what}: nothing is shown: {done.stderr}')
    for line, number in difference(canonical(stopped), canonical(inside)).items():
        failures.append(f'{what}: only ptrace shows ({number}): {line}')
    for line, number in difference(canonical(inside), canonical(stopped)).items():
        failures.append(f'{what}: only inprocess shows ({number}): {line}')


def check_names(runs, calls, failures):
    """What descriptors and ids stand for, at the moment of the call, although they are closed and others soon after."""
    for mode, count in (('descriptors', 20), ('roots', 10), ('devices', 10)):
        for options in (['-f', '-y'], ['-f', '-yy'], ['-f', '-Y'], ['-f', '-yy', '-Y', '-e', 'trace=%desc']):
            compare(runs, options, [calls, mode, str(count)], failures)
    compare(runs, ['-f', '-y', '-e', 'trace=openat,pread64,linkat'], [calls, 'odd-names', '20'], failures)
    compare(runs, ['-f', '-P', '/etc/passwd'], [calls, 'descriptors', '20'], failures)
    compare(runs, ['-f', '-e', 'trace=openat,close', '-y'], [calls, 'roots', '10'], failures)
    if runs.patched([calls, 'descriptors', '20'], ['-f', '-yy', '-Y']) < 5:
        failures.append('-yy -Y: calls are not recorded inside')


def check_stacks(runs, calls, failures):
    for mode, count in (('', 20), ('descriptors', 20), ('deep', 20)):
        compare(runs, ['-f', '-k'], [calls, mode, str(count)], failures)
    # On a stack for signals of which the kernel says nothing while it is used.
    compare(runs, ['-f', '-k', '-e', 'trace=getppid'], [calls, 'deep', '20', 'disarm'], failures)
    compare(runs, ['-f', '-kk', '-yy', '-e', 'trace=openat,read'], [calls, 'descriptors', '20'], failures)
    compare(runs, ['-f', '-k'], ['ls', '-l', '/usr'], failures)
    trace = runs.directory / 'trace'
    live, _ = runs.traced('inprocess', ['-f', '-k', f'--record={trace}'], [calls, 'deep', '20'])
    run([runs.tracer, '-f', '-k', f'--replay={trace}', '-o', runs.directory / 'again'])
    if (runs.directory / 'again').read_text().splitlines() != live or not any('(deep' in line for line in live):
        failures.append('-k in a recording: the replay differs')
    # A signal that comes while a call is made finds the stack of the call, not ours.
    lines, _ = runs.traced('inprocess', ['-f', '-k', '-e', 'trace=read,getppid'], [calls, 'interrupt', '100'])
    unknown = [line for line in lines if line.startswith(' > ') and not re.match(r' > /', line)]
    failures.extend(f'interrupt: {line}' for line in unknown[:3])


def check_functions(runs, calls, failures):
    """Breakpoints report calls of functions between those that are recorded, also in functions that make the calls."""
    both = ['-f', '-e', 'library=@MAIN', '-e', 'symbol=getppid+read@libc.so*']
    for mode, count in (('', 30), ('pointers', 20), ('devices', 10), ('forks', 12), ('execs', 4), ('mappings', 20)):
        compare(runs, both, [calls, mode, str(count)], failures)
    compare(runs, ['-f', '-k', '-e', 'library=@MAIN'], [calls, 'deep', '20'], failures)
    compare(runs, ['-f', '-yy', '-e', 'library=@MAIN'], [calls, 'descriptors', '20'], failures)
    for mode, count in (('registers', 500), ('restart', 50), ('children', 10), ('stops', 50)):
        bare = run([calls, mode, str(count)])
        _, done = runs.traced('inprocess', both, [calls, mode, str(count)])
        if (done.returncode, done.stdout) != (bare.returncode, bare.stdout):
            failures.append(f'{mode} with functions: {done.returncode} {done.stdout!r}, untraced {bare.returncode} '
                            f'{bare.stdout!r}: {done.stderr}')
    for threads, each in ((1, 1000), (8, 200), (64, 20)):
        lines, done = runs.traced('inprocess', ['-f', '-e', 'trace=getppid', '-e', 'library=getppid@MAIN'],
                                  [calls, 'threads', str(each), str(threads)])
        ends = [line for line in joined(lines) if re.search(r'\) += \d+$', line)]
        found = tuple(sum(1 for line in ends if name in line) for name in (' getppid()', ' getppid@libc.so.6()'))
        wanted = each * (threads + 1)
        if (found, done.returncode) != ((wanted, wanted), 0):
            failures.append(f'{threads} threads with functions: {found} instead of {wanted} each: {done.stderr}')
    if runs.patched([calls, '', '200'], ['-f', '-e', 'library=@MAIN']) < 2:
        failures.append('with functions, getppid and read are not patched in a loop of both')
    trace = runs.directory / 'trace'
    live, _ = runs.traced('inprocess', ['-f', '-e', 'library=@MAIN', f'--record={trace}'], [calls, 'forks', '12'])
    run([runs.tracer, '-f', f'--replay={trace}', '-o', runs.directory / 'again'])
    if (runs.directory / 'again').read_text().splitlines() != live or not any('getppid@libc' in line for line in live):
        failures.append('functions in a recording: the replay differs')


def check_forged_records(runs, calls, failures):
    """Whatever a program writes into the shared memory, the tracer goes on to its end."""
    for options in (['-f'], ['-f', '-yy', '-Y', '-v'], ['-f', '-k'], ['-f', '--format=json'], ['-f', f'--record={runs.directory / "trace"}']):
        _, done = runs.traced('inprocess', options, [calls, 'forged', '3000'])
        if done.returncode != 0:
            failures.append(f'forged records {options}: status {done.returncode}: {done.stderr}')
        elif 'was overwritten and is lost in part' not in done.stderr:
            failures.append(f'forged records {options}: nothing says so: {done.stderr}')
        elif done.stderr.count('was overwritten') > 2:
            failures.append(f'forged records {options}: said again for the same thread: {done.stderr}')


def check_recorded_names(runs, calls, failures):
    trace = runs.directory / 'trace'
    live, done = runs.traced('inprocess', ['-f', '-y', f'--record={trace}'], [calls, 'descriptors', '20'])
    again = run([runs.tracer, '-f', '-y', f'--replay={trace}', '-o', runs.directory / 'again'])
    shown = (runs.directory / 'again').read_text().splitlines()
    if not live or shown != live or again.stderr:
        failures.append(f'-y in a recording: {len(live)} lines live, {len(shown)} at replay: {done.stderr}{again.stderr}')
        failures.extend(f'-y in a recording: {line}' for line in difference(live, shown))


def check_recording(runs, calls, failures):
    """A replay shows what the live run did, and says what the recording lacks."""
    for program in ([calls, 'pointers', '50'], [calls, 'forks', '12'], ['ls', '-l', '/usr']):
        trace = runs.directory / 'trace'
        live, done = runs.traced('inprocess', ['-f', f'--record={trace}'], program)
        for options in (['-f'], ['-f', '-v']):
            again = run([runs.tracer, *options, f'--replay={trace}', '-o', runs.directory / 'again'])
            shown = (runs.directory / 'again').read_text().splitlines()
            if options == ['-f'] and shown != live or len(shown) != len(live):
                failures.append(f'{program}: {len(live)} lines live, {len(shown)} at replay: {done.stderr}{again.stderr}')
        known = run([runs.tracer, '-c', '-y', f'--replay={trace}', '-o', runs.directory / 'counts'])
        if 'what descriptors and ids stand for' not in known.stderr or '-c counts elapsed time' not in known.stderr:
            failures.append(f'{program}: what the recording lacks is not said: {known.stderr}')


# Half of the signals come while the recorder runs. Each has to leave both counts as they would be without it.
STORM = """
import os, signal
handled = 0
def on_alarm(*_):
    global handled
    handled += 1
    os.getuid()
signal.signal(signal.SIGALRM, on_alarm)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0002)
for _ in range(60000): os.getppid()
signal.setitimer(signal.ITIMER_REAL, 0)
print(handled)
"""
KILLED = """
import os, signal
end, start = os.pipe()
child = os.fork()
if child == 0:
    for _ in range(5000): os.getppid()
    os.write(start, b'x')
    signal.pause()
os.read(end, 1)
os.kill(child, signal.SIGKILL)
print(os.WTERMSIG(os.waitpid(child, 0)[1]))
"""


def check_summary(runs, calls, failures):
    """Calls that nobody looks at one by one are counted by the program. No count is missing, and none is too many."""

    def counted(engine, command, options=()):
        lines, done = runs.traced(engine, ['-f', '-c', '-S', 'calls', '-U', 'calls,errors,name', *options], command)
        table = {}
        for line in lines[2:-2]:
            fields = line.split()
            table[fields[-1]] = (int(fields[0]), int(fields[1]) if len(fields) == 3 else 0)
        return table, done

    def expect(what, found, wanted):
        if found != wanted:
            failures.append(f'-c, {what}: {found} instead of {wanted}')

    for mode, count in (('', 3000), ('pointers', 50), ('forks', 60), ('execs', 20), ('mappings', 200)):
        command = [calls, mode, str(count)]
        by_ptrace, inside = (set(counted(engine, command)[0].items()) for engine in ('ptrace', 'inprocess'))
        expect(mode, inside - by_ptrace, by_ptrace - inside)
    expect('-e', counted('inprocess', [calls, '', '3000'], ['-e', 'trace=getppid'])[0].keys(), {'getppid'})
    for threads in (1, 8, 64):
        each = 4000 // threads + 100
        table, _ = counted('inprocess', [calls, 'threads', str(each), str(threads)])
        expect(f'{threads} threads', table.get('getppid'), (each * (threads + 1), 0))
    table, done = counted('inprocess', [sys.executable, '-c', KILLED])
    expect('killed', (table.get('getppid'), done.stdout), ((5000, 0), '9\n'))
    table, done = counted('inprocess', [sys.executable, '-c', STORM])
    handled = int(done.stdout.strip() or 0)
    expect('signals', (table.get('getppid'), table.get('getuid', (0, 0))[0] - handled in range(4), handled > 0), ((60000, 0), True, True))
    _, done = counted('inprocess', [calls, 'forged', '3000'])
    expect('forged counts', done.returncode, 0)
    # A call that waits so long takes no less.
    lines, _ = runs.traced('inprocess', ['-f', '-c', '-w', '-U', 'max-time,min-time,calls,name', '-e', 'trace=select,pselect6'],
                           [sys.executable, '-c', 'import select\nfor i in range(12): select.select([], [], [], 0.01)'])
    longest, shortest, number = lines[2].split()[:3]
    expect('elapsed time', (int(number), float(longest) >= float(shortest) >= 0.0099), (12, True))


def check_is_inside(runs, calls, failures):
    if runs.patched([calls, '', '200']) < 2:
        failures.append('getppid and read are not patched in a loop of both')


def main():
    tracer, calls = sys.argv[1:3]
    failures = []
    with tempfile.TemporaryDirectory() as directory:
        runs = Runs(tracer, pathlib.Path(directory))
        _, done = runs.traced('inprocess', ['-f'], ['true'])
        if done.returncode != 0:
            print('skipped:', done.stderr.strip())
            return SKIPPED
        check_is_inside(runs, calls, failures)
        check_counts(runs, calls, failures)
        check_summary(runs, calls, failures)
        check_shared_memory(runs, calls, failures)
        check_same_output(runs, calls, failures)
        check_names(runs, calls, failures)
        check_stacks(runs, calls, failures)
        check_functions(runs, calls, failures)
        check_forged_records(runs, calls, failures)
        check_recording(runs, calls, failures)
        check_recorded_names(runs, calls, failures)
        check_everyday(runs, failures)
    for failure in failures:
        print('FAILED', failure)
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
