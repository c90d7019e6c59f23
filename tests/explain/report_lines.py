#!/usr/bin/python3
"""Counts the lines of the reports on the corpus: a report has ten at most, so that it is read."""

import re
import subprocess
import sys

import corpus
import harness

MOST = 10


class Counted(harness.Skipped):
    """Carries the report: nothing else is asked of the case."""


class Place(harness.Place):
    def explain(self, *command, options=(), **more):
        more.setdefault('cwd', self.folder)
        done = subprocess.run([self.tracer, '--explain', *self.engine, *options, *command], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=harness.TIME_LIMIT, check=False, **more)
        raise Counted(done.stderr.decode(errors='replace'))


def report_in(text):
    """The lines from the last headline on: `NAME: failed: …`; a program may have printed half a line before."""
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines)
              if re.search(r': (failed|could not be started|nothing looks wrong|ended well, but)\b', line)]
    return lines[starts[-1]:] if starts else []


def test_of(case):
    def count(place):
        try:
            corpus.check_case(case, place)
        except Counted as report:
            lines = report_in(str(report))
            assert lines, f'no report in {report}'
            assert len(lines) <= MOST, f'{len(lines)} lines:\n' + '\n'.join(lines)
            longest = max(lines, key=len)
            assert len(longest) < 1000, f'a line of {len(longest)}: {longest}'
    count.__name__ = case[0]
    return count


if __name__ == '__main__':
    harness.Place = Place
    chosen = [word for word in sys.argv if word.startswith('--families=')]
    sys.argv = [word for word in sys.argv if word not in chosen]
    names = chosen[0].split('=', 1)[1].split(',') if chosen else corpus.FAMILIES
    harness.main([test_of(case) for name in names for case in corpus.FAMILIES[name]])
