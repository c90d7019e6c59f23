"""Decides whether two texts stand for the same values, one of them with more of them by name."""

import collections
import re
import subprocess

WORD = r'(?:0x[0-9a-f]+|\d+|[A-Z_][A-Za-z_0-9]*)(?:<<\w+)?(?:\+0x[0-9a-f]+)?'
VALUES = re.compile(rf'{WORD}(?:\|{WORD})*(?: /\* \w+_\?\?+ \*/)?')
IOCTL = re.compile(r'_IOC\((\w+(?:\|\w+)?), (\w+), (\w+), (\w+)\)')


def ioctl_number(match):
    direction = ('_IOC_WRITE' in match[1]) + 2 * ('_IOC_READ' in match[1])
    return f'{direction << 30 | int(match[4], 0) << 16 | int(match[2], 0) << 8 | int(match[3], 0):#x} /* _IOC_??? */'


class Names:
    """Recognises lines that differ only in what has a name."""

    # Values, or bits beside names, that have none.
    UNKNOWN = rf'{WORD}(?:\|{WORD})* /\* \w+_\?\?+ \*/|\b[A-Z_1]\w*(?:<<\w+)?(?:\|{WORD})*\|0x[0-9a-f]+\b'

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
        if not known < more or not re.search(r'(?<![\w<])\d', theirs.split(' /*')[0]):
            return False
        if '|' in ours and any(self.values.get(name) == {0} for name in more - known):
            return False  # O_RDONLY beside bits says nothing of what the other has no name for
        # What is shifted, such as 31<<MFD_HUGE_SHIFT, is a field of its own: the same in both.
        parts = [text.split(' /*')[0].split('|') for text in (theirs, ours)]
        shifted = [[part for part in side if self.is_field(part)] for side in parts]
        plain = ['|'.join(part for part in side if not self.is_field(part)) for side in parts]
        return shifted[0] == shifted[1] and all(plain) and bool(self.possible(plain[0]) & self.possible(plain[1]))
