#!/usr/bin/python3
"""Holds sources, manual and papers to the field's words (docs/glossary.md).

    check_words.py ROOT          prints every line with a word that readers of the field stumble over
    check_words.py --self-test   expects a complaint about each
"""

import pathlib
import re
import sys

# What must not stand there, what does instead, and a line to try it with.
WORDS = [
    (r'births?\b', 'fork', 'the birth of a thread'),
    (r'befell|befalls?', 'event, happened to', 'what befell it'),
    (r'\bbearers?\b', 'owner', 'the bearer of the id'),
    (r'\bwhom\b', 'which process', 'whom they watch'),
    (r'\bunheard\b|(?<!")\bsilent\b(?! silence)', 'suppressed', 'an unheard thread'),
    (r'\btells?\b(?! me)|\btold\b', 'report', 'the kernel tells the tracer'),
    (r'\bsettle[sd]?\b|\bsettling\b', 'resolve', 'names.settle(call)'),
    (r'\bquarrels?\b', 'races', 'storms and quarrels'),
    (r'\bstorms?\b', 'stress tests', 'a storm of signals'),
    (r'(?<![-\w])[Ff]olders?\b(?!-)|_folders?\b|\bfolders?_|Folder\b', 'directory', 'a folder of /proc'),
    (r'\blets? go of\b|\bletting go of\b', 'detaches from', 'it lets go of the process'),
    (r'\binside out\b', 'negates', 'turns the set inside out'),
    (r'\blook_back\b', 'pass the snapshot with the event', 'names.look_back(capture)'),
    (r'\b(?:keep|give)_cpu(?:_back)?\b', 'preempt_disable, preempt_enable', 'keep_cpu();'),
    (r'\bBackstage\b', 'tracer process, foreground proxy', 'class Backstage;'),
    (r'\b(?:Past)?[Ss]urroundings\b', 'TaskSnapshot, system view', 'struct Surroundings {'),
    (r'\b[Cc]ircumstances\b', 'TaskSnapshot, credentials', 'const Circumstances* then'),
    (r'\bspell(?:s|ing)?\b|\bSpell\w*|\bspell_', 'format', 'spell(text, bits);'),
]
PLACES = ['src', 'man', 'docs', 'README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md']
# A page that lists the words themselves.
LEFT_OUT = set()


def errors_of(root):
    root = pathlib.Path(root)
    for place in PLACES:
        start = root / place
        for path in sorted(start.rglob('*')) if start.is_dir() else [start]:
            if not path.is_file() or path.name in LEFT_OUT:
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                for pattern, instead, _ in WORDS:
                    if match := re.search(pattern, line):
                        yield f'{path.relative_to(root)}:{number}: "{match[0]}": the word is {instead}'


def self_test():
    missed = [example for pattern, _, example in WORDS if not re.search(pattern, example)]
    print('\n'.join(f'no complaint about: {example}' for example in missed) or f'{len(WORDS)} passed, 0 failed')
    return len(missed)


def main():
    if sys.argv[1] == '--self-test':
        sys.exit(1 if self_test() else 0)
    found = list(errors_of(sys.argv[1]))
    print('\n'.join(found) or 'All words are the field\'s.')
    sys.exit(1 if found else 0)


main()
