"""Decides whether two tracers show the same of a call, one of them with more of it by name."""

import collections
import os
import re

import canonical
import compare
from names import IOCTL

EQUAL, MORE, DIFFERENT = range(3)  # MORE: ours has names, or shows what is behind an address, where theirs does not
# Calls whose structures have fields that the other tracer does not know.
GROWN = ('bpf', 'landlock_create_ruleset')
BEFORE_CALL = re.compile(r'(?:\[[^]]*\] |CLOCK\d+ )*')  # what options put there, canonical.without_times makes of it

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


OPERATION = re.compile(r'(?:\w+(?:\(\w+\))?(?: or )?)*')


def with_all_names(theirs, ours):
    """Their line with the names of an ioctl that only we know beside theirs."""
    operations = [re.match(rf'(ioctl\([^,]*, )({OPERATION.pattern})', line) for line in (theirs, ours)]
    if all(operations) and set(operations[0][2].split(' or ')) < set(operations[1][2].split(' or ')):
        return operations[0][1] + operations[1][2] + theirs[operations[0].end():]
    return theirs


class Likeness:
    """How alike are what two tracers show of the calls of a plan. `pairs`: all that both show, theirs and ours."""

    def __init__(self, kept, names, pairs):
        self.kept = kept
        self.names = names
        self.addresses = Addresses()
        for theirs, _ in pairs:
            self.addresses.note(BEFORE_CALL.sub('', theirs.split('\n', 1)[0], count=1))

    def of(self, call, theirs, ours):
        """EQUAL, MORE or DIFFERENT. Dumps of data may follow a line, on lines of their own."""
        if theirs == ours:
            return EQUAL
        (theirs, _, their_dump), (ours, _, our_dump) = theirs.partition('\n'), ours.partition('\n')
        before, ours_before = (BEFORE_CALL.match(line)[0] for line in (theirs, ours))
        if their_dump != our_dump or before != ours_before:
            return DIFFERENT
        theirs, ours = theirs[len(before):], ours[len(before):]
        return MORE if theirs == ours or self.ours_has_more(call, theirs, ours) else DIFFERENT

    @staticmethod
    def knows(theirs):
        """Whether the other knows the call at all."""
        return not theirs.startswith('syscall_0x', BEFORE_CALL.match(theirs).end())

    def ours_has_more(self, call, theirs, ours):
        if '_IOC(' in theirs and '_IOC(' not in ours:
            # A request that the other does not name: ours has that number, or the plan would not pair them.
            theirs = IOCTL.sub(lambda match: OPERATION.match(ours, match.start())[0], theirs, count=1)
        theirs = self.kept.with_ours_at(self.kept.rewritten(theirs), ours)
        theirs = with_all_names(theirs, ours)
        plain = [canonical.without_padding(line) for line in (theirs, ours)]
        return (plain[0] == plain[1] and len(theirs) == len(ours)) or (
            self.names.only_names_differ(*plain) or self.addresses.shown_deeper(theirs, ours) or
            self.addresses.is_number(theirs, ours) or is_newer_command(theirs, ours, self.names) or
            (call in GROWN and has_later_fields(theirs, ours, self.names)))
