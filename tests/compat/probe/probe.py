#!/usr/bin/python3
"""Compares how two tracers show the calls of a plan that make_plan derives from the descriptions.

execute.c makes the calls, nothing acts on them. Both tracers see the same calls, so their lines pair up one to one. What
differs on purpose is in ../differences.txt; besides, a constant that we name and the other tracer shows as an unknown
value is no difference (as long as the values are the same), nor is a call that the other does not know, nor what we
show at an address behind which the other never looks: not once in all calls of the plan that begin alike.
Fails when the share of equal lines is below THRESHOLDS. `--ours /usr/bin/strace` compares strace with itself.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import canonical  # noqa: E402
import compare  # noqa: E402

# Per cent of equal lines: what has been reached so far. Raise it, never lower.
THRESHOLDS = {'x86_64': 99.8, 'i386': 99.8}
FLAGS = {'x86_64': ['-m64'], 'i386': ['-m32']}
COMPILERS = {'x86_64': ['gcc'], 'i386': ['gcc-12', 'gcc']}
CHUNK = 10000  # scenes of one run of the tracers
TIMEOUT = 120  # seconds, of one such run
LARGEST_TRACE = 100 << 20  # bytes
ATTEMPTS = 3  # to see each call of a plan once


def compile_executor(abi, build):
    binary = build / f'execute-{abi}'
    source = HERE / 'execute.c'
    if binary.exists() and binary.stat().st_mtime > source.stat().st_mtime:
        return binary
    for compiler in COMPILERS[abi]:
        if shutil.which(compiler):
            done = subprocess.run([compiler, *FLAGS[abi], '-O1', '-D_GNU_SOURCE', '-w', '-o', binary, source, '-idirafter',
                                   '/usr/include/x86_64-linux-gnu'], capture_output=True, text=True)
            if done.returncode == 0:
                return binary
    return None


def read_excluded():
    """What no plan may contain, from the file that gives the reasons."""
    lines = (HERE / 'excluded.txt').read_text().splitlines()
    return re.compile('|'.join(line.split(' | ')[0] for line in lines if line and not line.startswith('#')))


def chunks(plan, index):
    """(scenes, their labels), CHUNK at a time."""
    excluded = read_excluded()
    start, scenes, labels = 0, [], []
    for label in index:
        size = struct.unpack_from('<I', plan, start)[0]
        if not excluded.fullmatch(label.replace('\t', ' ')):
            scenes.append(plan[start:start + size])
            labels.append(label)
        start += size
        if len(scenes) == CHUNK:
            yield b''.join(scenes), labels
            scenes, labels = [], []
    if scenes:
        yield b''.join(scenes), labels


def trace(tracer, options, executor, plan, count):
    """The lines that a tracer shows of the plan's calls, or None."""
    for _ in range(ATTEMPTS):
        lines = trace_once(tracer, options, executor, plan)
        if lines[-2:] == ['+++ exited with 0 +++', '']:
            return lines[-3 - count:-3]
        print(f'{tracer}: the trace ends early: {lines[-2:]}', file=sys.stderr)
    return None


def trace_once(tracer, options, executor, plan):
    """All lines of a tracer. It is called strace, since the program behaves by its name."""
    with tempfile.TemporaryDirectory(prefix='probe.') as folder:
        os.symlink(tracer, folder + '/strace')
        try:
            subprocess.run(['prlimit', f'--fsize={LARGEST_TRACE}', 'setarch', 'x86_64', '-R', folder + '/strace', '-o', folder + '/trace', *options, executor,
                            plan], timeout=TIMEOUT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            print(f'{tracer}: took too long', file=sys.stderr)
        return pathlib.Path(folder + '/trace').read_bytes().decode('latin-1').split('\n')


WORD = r'(?:0x[0-9a-f]+|\d+|[A-Z_][A-Za-z_0-9]*)(?:<<\w+)?(?:\+0x[0-9a-f]+)?'
VALUES = re.compile(rf'{WORD}(?:\|{WORD})*(?: /\* \w+_\?\?+ \*/)?')
IOCTL = re.compile(r'_IOC\((\w+(?:\|\w+)?), (\w+), (\w+), (\w+)\)')


def ioctl_number(match):
    direction = ('_IOC_WRITE' in match[1]) + 2 * ('_IOC_READ' in match[1])
    return f'{direction << 30 | int(match[4], 0) << 16 | int(match[2], 0) << 8 | int(match[3], 0):#x} /* _IOC_??? */'


class Names:
    """Tells lines that differ only in what has a name."""

    def __init__(self, make_plan, abi):
        self.values = collections.defaultdict(set)
        listed = subprocess.run([make_plan, '--constants', abi], capture_output=True, text=True, check=True)
        for line in listed.stdout.splitlines():
            name, value = line.split()
            self.values[name].add(int(value))

    def possible(self, text):
        """The values that a text such as O_RDWR|0x8 may stand for."""
        sums = {0}
        for part in text.split(' /*')[0].split('|'):
            if self.is_field(part):
                return set()
            part, _, more = part.partition('+')
            found = self.values[part] if part in self.values else {int(part, 0)} if part[0].isdigit() and (
                part[:2] == '0x' or part == '0' or part[0] != '0') else set()
            sums = {known | value + int(more or '0', 0) for known in sums for value in found}
        return {value & mask for value in sums for mask in (0xffffffffffffffff, 0xffffffff)}

    def is_field(self, part):
        """Whether it is a number in a field of bits, not a bit with a name."""
        return '<<' in part and part not in self.values

    def only_names_differ(self, theirs, ours):
        if '_IOC(' in theirs and '_IOC(' not in ours:
            theirs = IOCTL.sub(ioctl_number, theirs)
        if VALUES.sub('', theirs) != VALUES.sub('', ours):
            return False
        return all(their == our or self.names_more(their, our)
                   for their, our in zip(VALUES.findall(theirs), VALUES.findall(ours)))

    def names_more(self, theirs, ours):
        """Whether both stand for one value and our text has names for more of it."""
        # BASE+0x1 names only where a range begins.
        known, more = (set(re.findall(r'[A-Z_]\w+\b(?!\+)', text.split(' /*')[0])) for text in (theirs, ours))
        if not known < more:
            return False
        # What is shifted, such as 31<<MFD_HUGE_SHIFT, is a field of its own: the same in both.
        parts = [text.split(' /*')[0].split('|') for text in (theirs, ours)]
        shifted = [[part for part in side if self.is_field(part)] for side in parts]
        plain = ['|'.join(part for part in side if not self.is_field(part)) for side in parts]
        return shifted[0] == shifted[1] and all(plain) and bool(self.possible(plain[0]) & self.possible(plain[1]))


ADDRESS = re.compile(r'NULL|0x[0-9a-f]{3,}')


def beginning(text):
    """What comes before an argument, such that calls for the same purpose have the same."""
    return re.sub(r'-?\b(?:0x[0-9a-f]+|\d+)\b', '#', text)


UNKNOWN_COMMAND = re.compile(r'(0x[0-9a-f]+) /\* \w+_\?\?\?+ \*/')


def is_newer_command(theirs, ours, names):
    """Whether the lines differ first in a command, an argument of its own, that only we name: what follows is its own."""
    at = len(os.path.commonprefix([theirs, ours]))
    start = max(theirs.rfind(', ', 0, at + 1) + 2, theirs.rfind('(', 0, at + 1) + 1)
    match = UNKNOWN_COMMAND.match(theirs, start)
    name = re.compile(r'[A-Z_][A-Za-z_0-9]*').match(ours, start)
    opened = sum(theirs[:start].count(sign) for sign in '{[') - sum(theirs[:start].count(sign) for sign in '}]')
    return bool(match and name and opened == 0 and names.possible(match[1]) & names.possible(name[0]))


def fields_of(text):
    """What stands before the first structure, its fields, and what follows; None without one."""
    start = text.find('{')
    end = end_of_value(text, start) if start >= 0 else 0
    if end <= start + 1 or text[end - 1] != '}':
        return None
    fields, at = [], start + 1
    while at < end - 1:
        stop = end_of_value(text, at)
        # A comment belongs to the field before it.
        comment = re.compile(r' /\*.*?\*/').match(text, stop)
        stop = comment.end() if comment else stop
        fields.append(text[at:stop])
        at = stop + 2
    return text[:start], fields, text[end:]


def has_later_fields(theirs, ours, names):
    """Whether ours shows fields where theirs has `...` or bytes for which it has no name: the structure has grown."""
    split = [fields_of(canonical.without_padding(text)) for text in (theirs, ours)]
    if not all(split) or not re.match(r'\.\.\.$|extra_data=', split[0][1][-1] if split[0][1] else ''):
        return False
    known = [field.split('=')[0] for field in split[0][1][:-1]]
    common = [field for field in split[1][1] if field.split('=')[0] in known]
    for i, (their, our) in enumerate(zip(split[0][1], common)):
        inner = [fields_of(field) for field in (their, our)]
        if all(inner) and len(inner[0][1]) < len(inner[1][1]):
            common[i] = inner[1][0] + '{' + ', '.join(inner[1][1][:len(inner[0][1])]) + '}'
    shown = [before + ', '.join(fields) + after for (before, _, after), fields in
             zip(split, (split[0][1][:-1], common))]
    return shown[0] == shown[1] or names.only_names_differ(*shown)


class Addresses:
    """Where the other tracer shows addresses, and whether it ever shows what is there."""

    def __init__(self):
        self.decoded = set()
        self.pointers = set()

    def note(self, theirs):
        """Takes up all places at which an argument that is a structure, an array, a string or NULL begins."""
        for match in re.finditer(r'[{["]|NULL', theirs):
            if theirs[:match.start()].endswith((', ', '(', '=')):
                (self.pointers if match[0] == 'NULL' else self.decoded).add(beginning(theirs[:match.start()]))

    def is_number(self, theirs, ours):
        """Whether the other has a number, 0, where we know a pointer."""
        at = len(os.path.commonprefix([theirs, ours]))
        place = beginning(theirs[:at])
        return (ours[at:].startswith('NULL') and theirs[at:at + 1] == '0' and place not in self.pointers and place not in self.decoded and
                canonical.without_padding(ours[at + 4:]) == canonical.without_padding(theirs[at + 1:]))

    def shown_deeper(self, theirs, ours):
        """Whether ours is theirs with something in the place of addresses that are never more than that."""
        at = len(os.path.commonprefix([theirs, ours]))
        # A difference inside of an address begins at the address.
        start = max((match.start() for match in ADDRESS.finditer(theirs) if match.start() <= at), default=-1)
        match = ADDRESS.match(theirs, start) if start >= 0 else None
        if not match or at > match.end() or beginning(theirs[:start]) in self.decoded:
            return False
        end = end_of_value(ours, start)
        rest = ours[end:]
        if rest.startswith(' => '):
            rest = ours[end_of_value(ours, end + 4):]
        return end > start and canonical.without_padding(rest) == canonical.without_padding(theirs[match.end():])


def end_of_value(text, start):
    """Behind the structure, array, string or word that begins there."""
    depth, at = 0, start
    while at < len(text):
        if text[at] == '"':
            string = re.compile(canonical.STRING).match(text, at)
            at = string.end() if string else len(text)
            continue
        if depth == 0 and text[at] in ',)}] ':
            break
        depth += (text[at] in '{[(') - (text[at] in '}])')
        at += 1
    return at


class Tally:
    """Equal and different lines, by call."""

    def __init__(self):
        self.equal = collections.Counter()
        self.total = collections.Counter()
        self.differences = collections.defaultdict(list)

    def add(self, call, equal, difference):
        self.total[call] += 1
        if equal:
            self.equal[call] += 1
        else:
            self.differences[call].append(difference)

    def share(self):
        return 100 * sum(self.equal.values()) / max(1, sum(self.total.values()))


def with_all_names(theirs, ours):
    """Their line with the names of an ioctl that only we know beside theirs."""
    operations = [re.match(r'(ioctl\([^,]*, )(\w+(?:\(\d+\))?(?: or \w+(?:\(\d+\))?)*)', line) for line in (theirs, ours)]
    if all(operations) and set(operations[0][2].split(' or ')) < set(operations[1][2].split(' or ')):
        return operations[0][1] + operations[1][2] + theirs[operations[0].end():]
    return theirs


def compare_lines(tally, lines, rules, names):
    addresses = Addresses()
    for _, their, _ in lines:
        addresses.note(their)
    for label, their, our in lines:
        call, what = label.split('\t', 1)
        if their.startswith('syscall_0x'):
            continue
        equal = their == our
        if not equal:
            if '_IOC(' in their and '_IOC(' not in our:
                # A request that the other does not name: ours has that number, or the plan would not pair them.
                their = IOCTL.sub(lambda match: our[match.start():].split(', ', 1)[0].rstrip(')'), their, count=1)
            for pattern, replacement in rules:
                if replacement != compare.ANYTHING:
                    their = pattern.sub(replacement, their)
                elif match := pattern.search(their):
                    their = compare.with_ours_between(their, our, match)
            their = with_all_names(their, our)
            equal = canonical.without_padding(their) == canonical.without_padding(our) if their != our else True
            equal = (equal and len(their) == len(our)) or names.only_names_differ(
                canonical.without_padding(their), canonical.without_padding(our)) or (
                    addresses.shown_deeper(their, our) or addresses.is_number(their, our) or is_newer_command(their, our, names) or (
                        call in ('bpf', 'landlock_create_ruleset') and has_later_fields(their, our, names)))
        tally.add(call, equal, (what, their, our))


def kind_of(theirs, ours):
    """What differences have in common that a reader would take for one: the text around, without numbers."""
    at = len(os.path.commonprefix([theirs, ours]))
    return tuple(re.sub(r'0x[0-9a-f]+|\d+', '0', text) for text in (theirs[max(0, at - 16):at + 10], ours[at:at + 10]))


def report(tally, abi, shown, only_calls, full_lines):
    worst = sorted(tally.differences, key=lambda call: -len(tally.differences[call]))
    for call in worst[:only_calls]:
        found = tally.differences[call]
        print(f'{abi} {call}: {len(found)} of {tally.total[call]} differ')
        kinds = collections.defaultdict(list)
        for difference in found:
            kinds[kind_of(*difference[1:])].append(difference)
        for alike in sorted(kinds.values(), key=len, reverse=True)[:shown]:
            what, theirs, ours = alike[0]
            print(f'    {len(alike)} as for {what}')
            for sign, line, other in (('-', theirs, ours), ('+', ours, theirs)):
                print(f'  {sign} ' + (line if full_lines else compare.around_first_difference(line, other)))
    total, equal = sum(tally.total.values()), sum(tally.equal.values())
    perfect = sum(1 for call in tally.total if call not in tally.differences)
    print(f'{abi}: {tally.share():.3f} % of {total} lines are equal ({total - equal} differ); '
          f'{perfect} of {len(tally.total)} calls show no difference')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--ours', required=True)
    parser.add_argument('--theirs', default='/usr/bin/strace')
    parser.add_argument('--make-plan', required=True, help='the program that writes plans')
    parser.add_argument('--build', type=lambda name: pathlib.Path(name).resolve(), help='directory for the executors')
    parser.add_argument('--abi', choices=list(THRESHOLDS), action='append')
    parser.add_argument('--every', type=int, default=1, help='only one scene of so many')
    parser.add_argument('--calls', default='', help='only these calls, separated by commas')
    parser.add_argument('--options', default='', help='options for the tracers, separated by blanks')
    parser.add_argument('--show', type=int, default=2, help='differences of each call to show')
    parser.add_argument('--worst', type=int, default=20, help='calls to show')
    parser.add_argument('--full-lines', action='store_true')
    parser.add_argument('--threshold', type=float)
    arguments = parser.parse_args()
    if not shutil.which(arguments.theirs):
        print(f'skipped: no {arguments.theirs} here')
        sys.exit(compare.SKIPPED)
    arguments.ours, arguments.theirs = (str(pathlib.Path(shutil.which(name)).resolve()) for name in
                                        (arguments.ours, arguments.theirs))
    rules = [(theirs, ours) for options, theirs, ours in compare.read_differences(HERE.parent / 'differences.txt')
             if options.search(arguments.options)]
    failed = False
    with tempfile.TemporaryDirectory(prefix='probe.') as scratch, concurrent.futures.ThreadPoolExecutor(2) as pool:
        scratch = pathlib.Path(scratch)
        build = arguments.build or scratch
        build.mkdir(parents=True, exist_ok=True)
        for abi in arguments.abi or list(THRESHOLDS):
            executor = compile_executor(abi, build)
            if executor is None:
                print(f'{abi}: skipped: no compiler for it')
                continue
            calls = [name for name in arguments.calls.split(',') if name]
            subprocess.run([arguments.make_plan, abi, scratch / 'all', scratch / 'index', str(arguments.every), *calls],
                           check=True, timeout=TIMEOUT)
            tally = Tally()
            names = Names(arguments.make_plan, abi)
            lines = []
            for scenes, labels in chunks((scratch / 'all').read_bytes(), (scratch / 'index').read_text().splitlines()):
                (scratch / 'plan').write_bytes(scenes)
                runs = [pool.submit(trace, tracer, arguments.options.split(), executor, scratch / 'plan', len(labels))
                        for tracer in (arguments.theirs, arguments.ours)]
                theirs, ours = (run.result() for run in runs)
                if theirs is None or ours is None:
                    failed = True
                    continue
                lines += zip(labels, theirs, ours)
            compare_lines(tally, lines, rules, names)
            report(tally, abi, arguments.show, arguments.worst, arguments.full_lines)
            threshold = arguments.threshold if arguments.threshold is not None else THRESHOLDS[abi]
            if not calls and tally.share() < threshold:
                print(f'FAILED: {abi} below {threshold} %')
                failed = True
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
