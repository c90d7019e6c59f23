#!/usr/bin/python3
"""The text beside that of the newest ltrace (tests/peers), line by line, on everyday programs.

    check_everyday.py TRACER SOURCES [CASE...]     runs all cases, or those whose names begin so; says what share is equal

Every line of ltrace's must be one of ours, in the same order. We may have more: calls through pointers (R_*_GLOB_DAT,
R_*_64: functions that are called and passed on, as free in Debian's ls, or stand in a table), which ltrace does not see, and then what is inside
of them. Of functions that its files do not know, ltrace shows four numbers, and we what our descriptions say: there the
name counts. Other differences that are kept: ltrace_differences.txt.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from cases import expect, run_cases
from check_ltrace import Bench, differences, peers

# Both read it. The files that come with ltrace 0.7.91 define some of its types again, which is an error for ltrace.
CONFIGURATION = pathlib.Path('/etc/ltrace.conf')

# Programs, on files that are there; nothing that prints process ids, times or what else is running.
PROGRAMS = '''
cat text
grep -n a text
sed s/a/b/ text
sort -r text
mawk {print$1} text
gzip -kf text
xz -kf text
dash -c :
sqlite3 :memory: select+1
date -u -d @0
head -1 text
tail -1 text
wc text
cut -c1 text
tr a b
uniq text
expr 1 + 2
seq 3
basename a/b
md5sum text
od -c text
cmp text text
ls -a folder
make --version
file text
'''.strip().splitlines()

# By name of a case: options, and programs of the list.
FORMS = {
    'indented': (['-n', '2'], ['sort', 'seq', 'ls']),
    'system_calls': (['-S'], ['cat', 'seq']),
    'system_calls_alone': (['-S', '-L'], ['cat', 'sed']),
    'return_addresses': (['-i'], ['seq', 'head']),
    'callers': (['-e', '@MAIN-str*-_*'], ['wc', 'sed']),
    'one_function': (['-e', 'setlocale+bindtextdomain@MAIN'], ['ls', 'cat']),
    'of_a_library': (['-l', 'libc.so*'], ['sed', 'cut', 'od']),
    'entries': (['-L', '-x', 'setlocale+textdomain'], ['cut', 'tr']),
    'entries_too': (['-x', 'textdomain'], ['head']),
    'followed': (['-f'], ['dash', 'cat']),
    'relative_times': (['-r'], ['cat', 'seq']),
    'times': (['-t'], ['cat']),
    'exact_times': (['-tt'], ['cat']),
    'times_since_the_epoch': (['-ttt'], ['cat']),
    'durations': (['-T'], ['cat', 'head']),
    'array_elements': (['-A', '2'], ['expr']),
    'short_texts': (['-s', '8'], ['grep', 'ls']),
    'no_texts': (['-s', '0'], ['wc']),
    'aligned': (['-a', '20'], ['wc']),
    'demangled': (['-C'], ['seq']),
    'without_signals': (['-b'], ['seq']),
    'as_a_user': (['-u', 'root'], ['seq']),
}

# What no two runs have in common.
CHANGING = [
    (r' += ', ' = '),
    (r'(?<=[{\[]) +| +(?=[}\]])', ''),  # ltrace_differences.txt says why
    (r'0x[0-9a-f]{5,}', 'ADDRESS'),
    (r'\bnil\b', '0'),  # in place of a number where no prototype is known
    (r'^(\d+ )?( *\d+\.\d{6} |\d\d:\d\d:\d\d(?:\.\d{6})? )', r'\1TIME '),
    (r'<\d+\.\d{6}>$', 'DURATION'),
    (r'(open\(.*), 0[0-7]{5,}\)', r'\1, NONE)'),  # the mode, which open() is not given
    (r'(sigaction\(\w+), {[^}]*}', r'\1, ACTION'),  # parts of it were never set
    (r'".*\\[0-7]{1,3}.*"(?:\.\.\.)?', 'BYTES'),  # pointers among them, and what looks like quotation marks
    (r'(getp?pid\(\)|time\(\w+\)) = \d+', r'\1 = NUMBER'),
    (r'(snprintf(?:_chk)?\()"\d+"', r'\1"NUMBER"'),  # a process id, in dash
    (r'srandom\(\d+\)', 'srandom(TIME)'),
    (r'read\(\d+, "([0-9a-f]{8,}[^"]*|)"(\.\.\.)?, \d+\) = \d+', 'read(MAPPINGS)'),  # of /proc/self/maps
]


def masked(line):
    for pattern, replacement in CHANGING:
        line = re.sub(pattern, replacement, line)
    return line


def known_functions():
    text = re.sub(r'(?m)^\s*[;#].*', '', CONFIGURATION.read_text())
    return set(re.findall(r'(\w+) ?\(', text))


class Text:
    """Calls as lines, each one whole where it ends, without what no two runs have in common."""

    def __init__(self, lines, known):
        self.known = known
        self.open = {}
        self.lines = []
        for line in lines:
            process, prefix, rest = re.match(r'(\d+ )?((?:TIME )?(?:\[ADDRESS\] )? *)(.*)', masked(line)).groups()
            self.add(process, 'PROCESS ' * bool(process) + prefix, rest)

    def add(self, process, prefix, rest):
        begun = self.open.setdefault(process, [])
        resumed = re.match(r'<\.\.\. (\S+) resumed> ?(.*)', rest)
        unfinished = re.fullmatch(r'(.*?) <(?:unfinished|no return) \.\.\.>', rest)
        if resumed:
            while begun and self.name(begun[-1]).removesuffix('@SYS') != resumed.group(1):
                begun.pop()
            rest = (begun.pop() if begun else '') + resumed.group(2)
        elif unfinished:
            begun.append(unfinished.group(1))
            # What follows the parenthesis may come in a line of its own.
            if 'unfinished' in rest or rest.endswith('( <no return ...>'):
                return
        elif rest.startswith('"'):
            begun_before = next(calls for calls in self.open.values() if calls and calls[-1].endswith('('))
            rest = masked(begun_before.pop() + rest)
            prefix = 'PROCESS ' * any(self.open) + prefix
        name = self.name(rest)
        if name.startswith('SYS_') or name.endswith('@SYS'):
            rest = re.sub(r'^SYS_(\w+)|^(\w+)@SYS', r'\1\2@SYS', rest)
            rest = re.sub(r'\(.*', '(?)', rest)  # flags by their names
            rest = re.sub(r'^\d+@SYS', '?@SYS', rest)  # ltrace has no name for it
            rest = rest.replace('pread@', 'pread64@')
        elif name and name not in self.known:
            rest = re.sub(r'\(.*', '(?)', rest)
        self.lines.append(prefix + rest)

    @staticmethod
    def name(rest):
        """Of a call, without the modules; empty for other lines."""
        match = re.match(r'(?:[\w.+-]+->)?(SYS_\w+|[\w.]+(?:@SYS)?)(?:@[\w.+-]+)?\(', rest)
        return match.group(1) if match else ''


def by_pointer(program):
    """The functions that a program has the addresses of."""
    done = subprocess.run(['readelf', '-rW', shutil.which(program)], capture_output=True, text=True, timeout=60)
    return set(re.findall(r'_(?:GLOB_DAT|64) +\w+ (\w+)', done.stdout))


def is_same(theirs, ours):
    # A text of just as many characters as -s says is whole for us, but not for ltrace. System calls without a name are
    # newer than it.
    return (theirs == ours or ('?@SYS' in theirs and '@SYS' in ours) or
            re.fullmatch(re.escape(theirs).replace(r'"\.\.\.', r'"(\.\.\.)?'), ours) is not None)


class Comparison:
    def __init__(self, tracer, sources, folder, peer):
        self.bench = Bench(tracer, sources, folder)
        self.peer = peer
        self.known = known_functions()
        self.rules = differences()
        self.equal = self.all = 0
        (self.bench.folder / 'text').write_text('b\na\nc 1 2\n')
        for name in ('x', 'y'):
            (self.bench.folder / 'folder' / name / 'deep').mkdir(parents=True)

    def lines(self, options, command, tracer):
        for name in ('text.gz', 'text.xz'):
            (self.bench.folder / name).unlink(missing_ok=True)
        found, _ = self.bench.log(options, command, tracer)
        return Text(found, self.known).lines

    def compare(self, options, command):
        theirs, ours = (self.lines(options, command, tracer) for tracer in (self.peer, 'ours'))
        # What the C library calls of itself has other functions' names in ltrace's text, and what it says of a length
        # that it cannot show is no call.
        theirs = [line for line in theirs if not re.match(r'libc\.so\.6->|(PROCESS )?error: ', line)]
        expect(len(theirs) > 1, f'ltrace shows nothing of {command}')
        by_address = by_pointer(command[0])
        at = 0
        more = []
        for i, line in enumerate(theirs):
            skipped = at
            while at < len(ours) and not is_same(line, ours[at]):
                at += 1
            what = f'ltrace {" ".join([*options, *command])}, line {i + 1}'
            expect(at < len(ours), f'{what}: {line}\nours there:\n' + '\n'.join(ours[skipped:skipped + 5]))
            more += ours[skipped:at]
            at += 1
        more += ours[at:]
        strange = [line for line in more if Text.name(line.lstrip()) not in by_address]
        if not {'-e', '-l', '-x', '-S'} & set(options):
            expect(not strange, f'{options} {command}: only ours:\n' + '\n'.join(strange))
        self.equal += len(theirs)
        self.all += len(ours)


def main():
    tracer, sources = sys.argv[1:3]
    peer = peers.find('ltrace')
    if peer is None or '0.7.91' not in peers.version(peer) or not CONFIGURATION.exists():
        print('skipped: ltrace 0.7.91 is not to be had, or there is no /etc/ltrace.conf')
        return 0
    with tempfile.TemporaryDirectory(prefix='everyday.') as folder:
        comparison = Comparison(os.path.abspath(tracer), sources, folder, peer)
        commands = {line.split()[0]: line.split() for line in PROGRAMS}

        def case(options, names):
            def run():
                if '-u' in options and os.geteuid() != 0:
                    return 'only root can run a command as another user'
                there = [name for name in names if shutil.which(name) is not None]
                for name in there:
                    comparison.compare(options, commands[name])
                return None if there else 'not installed'
            return run

        cases = {f'plain_{name}': case([], [name]) for name in commands}
        cases.update({name: case(*row) for name, row in FORMS.items()})
        status = run_cases(cases, sys.argv[3:])
        print(f'{comparison.equal} lines of ltrace, all of them among our {comparison.all}' if status == 0 else 'not equal')
        return status


if __name__ == '__main__':
    sys.exit(main())
