#!/usr/bin/python3
"""Ordinary programs that fail in ordinary ways. Each case is a line of a table: what is prepared, what is explained, a
regular expression that the first answer has to match, and one that no answer may match.

The figures that it prints say how often the first answer is right, and how often something innocent is blamed."""

import os
import re
import shutil
import subprocess
import sys

import corpus_files
import corpus_programs
from cause import NOBODY
from corpus_data import OWN, Answered
from harness import TIME_LIMIT, Skipped, main


# Of the system's programs: what a user has put before them may itself stand where another user may not go.
PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'


def outcome(answer):
    """What the first answer says, without the program's own words."""
    if not answer['answers']:
        return ''
    first = answer['answers'][0]
    return '\n'.join([first['cause'], *first['looked_at'], first['remedy']])


def check_case(case, place):
    name, prepare, command, expected, forbidden = (*case, '')[:5]
    if place.in_kernel and 'tolerated' in name:
        raise Skipped('without stopping a child, where its last words went is not known')
    program = command.split()[0]
    as_nobody = program == 'NOBODY'
    if as_nobody:
        if os.geteuid() != 0:
            raise Skipped('needs root to become another user')
        command = command.split(None, 1)[1]
        os.chmod(place.folder, 0o777)
        program = command.split()[0]
    if shutil.which(program, path=PATH) is None:
        raise Skipped(f'no {program}')
    if prepare:
        done = subprocess.run(['sh', '-ec', prepare], cwd=place.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=TIME_LIMIT, check=False)
        if done.returncode != 0:
            raise Skipped(f'{name} cannot be prepared: {done.stderr.decode(errors="replace").strip()}')
    environment = {**os.environ, 'PATH': PATH, 'HOME': str(place.folder), 'LC_ALL': 'C.UTF-8'}
    words = subprocess.run(['bash', '-c', f'printf "%s\\0" {command}'], cwd=place.folder, capture_output=True,
                           env=environment, timeout=TIME_LIMIT, check=True).stdout.decode().split('\0')[:-1]
    answer, _ = place.explain(*(NOBODY + ['--inh-caps=-all'] if as_nobody else []), *words, env=environment)
    if isinstance(expected, Answered):
        assert answer['outcome'] == 'good' and expected.words in answer['headline'], answer['headline']
        return
    assert answer['outcome'] == 'failed', f'{answer["outcome"]}: {answer["headline"]}'
    said = outcome(answer)
    if expected is OWN:
        assert not said, f'blamed for what it decided itself: {said}'
    else:
        assert re.search(expected, said), f'no {expected!r} in {said!r}'
    if forbidden:
        everything = '\n'.join(one['cause'] for one in answer['answers'])
        assert not re.search(forbidden, everything), f'{forbidden!r} in {everything!r}'


def test_of(case):
    def check(place):
        check_case(case, place)
    check.__name__ = case[0]
    return check


CASES = corpus_files.CASES + corpus_programs.CASES

if __name__ == '__main__':
    twice = {case[0] for case in CASES if sum(other[0] == case[0] for other in CASES) > 1}
    if twice:
        sys.exit(f'names that stand twice: {twice}')
    main([test_of(case) for case in CASES])
