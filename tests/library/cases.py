"""Cases by name: what a case expects, and how all of them are run."""

import os
import subprocess


class Failure(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Failure(what)


PATIENCE = float(os.environ.get('TRACER_LIVE_PATIENCE', 20))  # seconds: how long what has to come may take


def rounds(by_default):
    """How often a case repeats itself that looks for what happens seldom; TRACER_LIVE_ROUNDS for more."""
    return int(os.environ.get('TRACER_LIVE_ROUNDS', by_default))


def run_cases(cases, wanted):
    """Runs those whose names begin as one of `wanted` (all if that is empty); a case returns why it was skipped, or nothing.
    The exit status: 1 if any failed."""
    failed = 0
    for name, case in cases.items():
        if not name.startswith(tuple(wanted) or ('',)):
            continue
        try:
            skipped = case()
            print(f'{name}: ' + (f'skipped: {skipped}' if skipped else 'ok'))
        except (Failure, subprocess.TimeoutExpired) as failure:
            failed += 1
            print(f'{name}: FAILED: {failure}')
    return 1 if failed else 0
