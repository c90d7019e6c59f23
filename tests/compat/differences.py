#!/usr/bin/python3
"""Where two tracers differ on purpose: reads differences.txt, which explains itself, and decides what other difference is left.

Run as a program, it checks the file: each case that is named is there and shows what its pattern says.
"""

import collections
import functools
import pathlib
import re
import sys

import canonical

HERE = pathlib.Path(__file__).resolve().parent
FIELDS = ('reason', 'options', 'theirs', 'ours', 'like', 'case')

NUMBER = r'-?(?:0x[0-9a-f]+|\d+)'
NAME = r'[A-Z_][A-Za-z_0-9]*'
WORD = rf'(?:{NUMBER}|{NAME})(?:<<\w+)?(?:\+0x[0-9a-f]+)?'
COMMENT = r'(?: /\* [^*]* \*/)?'
# A structure or an array, and what is in it, to a depth that nothing exceeds.
NESTED = r'(?:[^][{}"]|' + canonical.STRING + ')*+'
for _ in range(12):
    NESTED = r'(?:[^][{}"]|' + canonical.STRING + rf'|[\[{{]{NESTED}[\]}}])*+'
MACROS = {
    'number': NUMBER,
    'value': rf'(?:(?:inet_addr|inet_pton|htons|htonl|makedev|if_nametoindex)\([^()]*\)|{WORD}(?:\|{WORD})*){COMMENT}',
    'text': canonical.STRING,
    'mac': r'(?:[0-9a-f]{2}:){5}[0-9a-f]{2}',
    'list': rf'\[{NESTED}\]',
    'sockaddr': rf'\{{sa_family={NESTED}\}}',
    'in6': r'inet_pton\(AF_INET6, "[0-9a-f:.]*", &\w+\)',
    'struct': rf'\{{\w+=(?=[^,}}]){NESTED}\}}',
}
MACROS['data'] = '(?:' + MACROS['value'] + '|' + MACROS['text'] + ')'
MACROS['values'] = r'\[(?:{0}(?:, {0})*(?:, \.\.\.{1})?)?\]'.format(MACROS['value'], COMMENT)
MACROS['any'] = '(?:' + '|'.join(MACROS[name] for name in ('mac', 'value', 'text', 'list', 'struct')) + ')'
OPEN = ('<any>', '<struct>')  # they leave open which fields there are


def fields(names):
    """`name=<value>, name=<value>` in this order, as many of them as the line has; name:macro for another than value."""
    expanded = ''
    for name in reversed(names.split()):
        name, _, macro = name.partition(':')
        expanded = rf'{name}=(?:{MACROS[macro or "value"]})' + (f'(?:, {expanded})?' if expanded else '')
    return expanded


def expanded(pattern):
    """The pattern with its macros, <name> and <fields …>, replaced."""
    pattern = re.sub(r'<fields ([^>]*)>', lambda match: fields(match[1]), pattern)
    return re.sub(r'<(\w+)>', lambda match: f'(?:{MACROS[match[1]]})' if match[1] in MACROS else match[0], pattern)


class Pattern:
    """What we show in the place of what they do: a regular expression in which \\1 is the first group of theirs."""

    def __init__(self, text):
        self.text = text
        self.cases = []  # (name of a file in tests/decode, text in one of its lines)
        self.expression = expanded(text)

    def fits(self, match, ours):
        groups = [re.escape(canonical.without_padding(group or '')) for group in match.groups()]
        return compiled(re.sub(r'\\([1-9])', lambda number: groups[int(number[1]) - 1], self.expression)).fullmatch(ours)


@functools.lru_cache(maxsize=1000)
def compiled(expression):
    return re.compile(expression, re.DOTALL)


Rule = collections.namedtuple('Rule', 'options theirs ours number')  # ours: a replacement or a Pattern


def read(path):
    """The rules, in the order of the file."""
    rules, block = [], {}
    for number, line in enumerate([*path.read_text().splitlines(), ''], 1):
        if line.startswith('#'):
            continue
        key, _, value = line.partition(':')
        value = value.removeprefix(' ')
        if not line.strip() and 'theirs' not in block:
            block = {}
        elif key == 'case' and rules and isinstance(rules[-1].ours, Pattern) and 'theirs' not in block:
            rules[-1].ours.cases.append(value.split(': ', 1))
        elif key not in FIELDS or key in ('ours', 'like', 'case') and not {'reason', 'theirs'} <= block.keys():
            sys.exit(f'{path}:{number}: a difference is reason, options (if it needs any), and pairs of theirs and ours or like')
        else:
            block[key] = value
        if key in ('ours', 'like'):
            ours = block.pop(key)
            rules.append(Rule(re.compile(block.get('options', '')), re.compile(expanded(block.pop('theirs'))),
                              Pattern(ours) if key == 'like' else ours, number))
    return rules


class Differences:
    """The rules for one set of options. `names` (a names.Names, or None) knows what has a name here alone."""

    def __init__(self, rules, options='', names=None):
        chosen = [rule for rule in rules if rule.options.search(options)]
        self.replacements = [(rule.theirs, rule.ours) for rule in chosen if not isinstance(rule.ours, Pattern)]
        self.patterns = [rule for rule in chosen if isinstance(rule.ours, Pattern)]
        self.names = names
        places = [f'(?:{rule.theirs.pattern})' for rule in self.patterns]
        if names:
            places.append(f'(?P<unknown>{names.UNKNOWN})')
        self.places = re.compile('|'.join(places)) if places else None

    def rewritten(self, theirs):
        """Their line as it would be with what we print instead."""
        for pattern, replacement in self.replacements:
            theirs = pattern.sub(replacement, theirs)
        return theirs

    def with_ours_at(self, theirs, ours):
        """Their line with what we show at all places where that may differ; as it is if ours differs elsewhere, too."""
        matches = list(self.places.finditer(theirs)) if self.places else []
        if not matches:
            return theirs
        ends = [0, *(match.end() for match in matches)]
        starts = [*(match.start() for match in matches), len(theirs)]
        around = [canonical.without_padding(theirs[end:start]) for end, start in zip(ends, starts)]
        checks = [functools.partial(self._may_stand_for, theirs, match) for match in matches]
        plain = canonical.without_padding(ours)
        return ours if plain.startswith(around[0]) and fill(plain, len(around[0]), around[1:], checks) else theirs

    def _may_stand_for(self, theirs, place, ours):
        """Whether we may show this where they show what is at `place`."""
        if place[0] == ours:
            return True
        if place.lastgroup == 'unknown':
            return self.names.names_more(place[0], ours)
        for rule in self.patterns:
            match = rule.theirs.match(theirs, place.start())
            if match and match.end() == place.end():
                return bool(rule.ours.fits(match, ours))
        return False


def fill(line, at, around, checks):
    """Whether the line goes on with what passes each check in turn, each followed by the text beside it in `around`."""
    if not checks:
        return at == len(line)
    following = around[0]
    end = line.find(following, at)
    if len(checks) == 1:  # the rest is given
        end = len(line) - len(following)
        return end >= at and line.endswith(following) and checks[0](line[at:end])
    while end >= 0:
        if checks[0](line[at:end]) and fill(line, end + len(following), around[1:], checks[1:]):
            return True
        end = line.find(following, end + 1)
    return False


def faults(rules, cases):
    """What is wrong with the patterns and the cases that they name; `cases` has tests/decode/*.case."""
    for rule in rules:
        if not isinstance(rule.ours, Pattern):
            continue
        if not rule.ours.cases and any(macro in rule.ours.text for macro in OPEN):
            yield f'{rule.number}: leaves open which fields there are, and names no case'
        anywhere = compiled(re.sub(r'\\[1-9]', '.*?', rule.ours.expression))
        for file, text in rule.ours.cases:
            path = cases / file
            lines = path.read_text().splitlines() if path.exists() else []
            if not any(line.startswith('text ') and text in line for line in lines):
                yield f'{rule.number}: no text in {file} has {text}'
            elif not anywhere.search(text):
                yield f'{rule.number}: the pattern does not fit its case {text}'


def main():
    rules = read(HERE / 'differences.txt')
    found = list(faults(rules, HERE.parent / 'decode'))
    for fault in found:
        print(f'differences.txt:{fault}')
    patterns = [rule.ours for rule in rules if isinstance(rule.ours, Pattern)]
    print(f'{len(rules)} differences, {len(patterns)} of them patterns, {sum(len(each.cases) for each in patterns)} cases, '
          f'{len(found)} faults')
    sys.exit(1 if found else 0)


if __name__ == '__main__':
    main()
