#!/usr/bin/python3
"""Checks the descriptions that tracer-sys(5) shows between .EX and .EE: together they are one file without errors.

    check_manual.py PAGE TRACER-SYSC…    the program, with an emulator before it if there has to be one
"""

import pathlib
import re
import subprocess
import sys
import tempfile

CHARACTERS = {r'\(aq': "'", r'\(ha': '^', r'\(ti': '~', r'\-': '-', r'\e': '\\'}


def examples(page):
    text = ''.join(re.findall(r'^\.EX\n(.*?)^\.EE$', page, re.DOTALL | re.MULTILINE))
    for roff, character in CHARACTERS.items():
        text = text.replace(roff, character)
    return text


def main():
    page, *sysc = sys.argv[1:]
    text = examples(pathlib.Path(page).read_text())
    if not text:
        sys.exit(f'{page}: there are no examples')
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory) / 'manual.sys'
        file.write_text(text)
        if subprocess.run([*sysc, 'check', file]).returncode:
            sys.exit('\n'.join(f'{number}: {line}' for number, line in enumerate(text.splitlines(), 1)))


main()
