"""Where two tracers differ on purpose: reads differences.txt, which explains itself, and tells what is left."""

import re
import sys

import canonical

ANYTHING = '…'  # a replacement: what we show there, whatever it is
FIELDS = ('reason', 'options', 'theirs', 'ours')


def read(path):
    """Rules (options, theirs, ours): regular expressions and replacements, in the order of the file."""
    rules, block = [], {}
    for number, line in enumerate([*path.read_text().splitlines(), ''], 1):
        if line.startswith('#'):
            continue
        key, _, value = line.partition(':')
        if not line.strip() and 'theirs' not in block:
            block = {}
        elif key not in FIELDS or key == 'ours' and not {'reason', 'theirs'} <= block.keys():
            sys.exit(f'{path}:{number}: a difference is reason, options (if it needs any), and pairs of theirs and ours')
        else:
            block[key] = value.removeprefix(' ')
        if key == 'ours':
            ours = block.pop('ours')
            if ANYTHING in ours and ours != ANYTHING:
                sys.exit(f'{path}:{number}: {ANYTHING} is a replacement by itself or none')
            rules.append((re.compile(block.get('options', '')), re.compile(block.pop('theirs')), ours))
    return rules


class Differences:
    """The rules for one set of options. `names` (a names.Names, or None) tells of what has a name here alone."""

    def __init__(self, rules, options='', names=None):
        chosen = [(theirs, ours) for where, theirs, ours in rules if where.search(options)]
        self.replacements = [(theirs, ours) for theirs, ours in chosen if ours != ANYTHING]
        self.names = names
        places = [f'(?:{theirs.pattern})' for theirs, ours in chosen if ours == ANYTHING]
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
        around = [re.sub(r'\) +=', ') =', theirs[end:start]) for end, start in zip(ends, starts)]
        fits = re.fullmatch('(.*?)'.join(re.escape(text) for text in around), canonical.without_padding(ours), re.DOTALL)
        named = fits and all(match.lastgroup != 'unknown' or match[0] == our or self.names.names_more(match[0], our)
                             for match, our in zip(matches, fits.groups()))
        return ours if named else theirs
