#!/usr/bin/python3
"""Reports the descriptions of calls that no test reaches; fails if there are any but those of excluded.txt.

    reached.py MAKE_PLAN

A description is reached by a scene of the prober (x86_64 and i386) or by a `.case` of an ABI for which it holds. What
holds for some ABIs only, `semctl@aarch64(…)`, is a description of its own.
"""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

import probe

ROOT = probe.HERE.parent.parent.parent
ABIS = ('x86_64', 'i386', 'x32', 'aarch64', 'arm')
GROUPS = {'x86': ABIS[:3], 'arm': ABIS[3:], '64': ('x86_64', 'aarch64'), '32': ('i386', 'arm'), 'arm32': ('arm',)}


def calls_of(abi):
    """{name as printed: its description}, from the file of the ABI's numbers."""
    found = {}
    for line in (ROOT / 'syscalls/abi' / f'{abi}.nr').read_text().splitlines():
        words = line.split('#')[0].split()
        if words:
            found[words[1]] = words[2] if len(words) > 2 else words[1]
    return found


def variants():
    """{description: [the ABIs of each of its forms that are for some ABIs only]}."""
    found = collections.defaultdict(list)
    for path in (ROOT / 'syscalls').rglob('*.sys'):
        for name, abis in re.findall(r'^(\w+)@([\w, ]+)\(', path.read_text(), re.MULTILINE):
            names = [abi.strip() for abi in abis.split(',')]
            found[name].append({one for abi in names for one in GROUPS.get(abi, (abi,))})
    return found


def probed(make_plan, abi):
    """Names of the calls of the prober's plan, without what it leaves out."""
    excluded = probe.read_excluded()
    with tempfile.TemporaryDirectory(prefix='reached.') as folder:
        subprocess.run([make_plan, abi, folder + '/plan', folder + '/index'], check=True, timeout=probe.TIMEOUT)
        labels = pathlib.Path(folder + '/index').read_text().splitlines()
    return {label.split('\t')[0] for label in labels if not excluded.fullmatch(label.replace('\t', ' '))}


def in_cases():
    """{(abi, name)} of the calls of all cases."""
    found = set()
    for path in (ROOT / 'tests/decode').glob('*.case'):
        for text in re.split(r'^case ', path.read_text(), flags=re.MULTILINE)[1:]:
            abis = re.search(r'^abi (.*)$', text, re.MULTILINE)
            for call in re.findall(r'^(?:call|before) (\w+)', text, re.MULTILINE):
                found |= {(abi, call) for abi in (abis[1].split() if abis else ['x86_64'])}
    return found


def main():
    calls = {abi: calls_of(abi) for abi in ABIS}
    reached = in_cases() | {(abi, name) for abi in ('x86_64', 'i386') for name in probed(sys.argv[1], abi)}
    forms = variants()
    unreached, total = [], 0
    for name in sorted({description for abi in ABIS for description in calls[abi].values()}):
        users = {abi: {call for call, description in calls[abi].items() if description == name} for abi in ABIS}
        own = [abis for abis in forms.get(name, ())]
        rest = set(ABIS) - set().union(*own) if own else set(ABIS)
        for abis in own + [rest]:
            if not any(users[abi] for abi in abis):
                continue
            total += 1
            if not any((abi, call) in reached for abi in abis for call in users[abi] | {name}):
                unreached.append(f'{name}@{",".join(sorted(abis))}' if own else name)
    excluded = probe.read_excluded()
    listed = [name for name in unreached if excluded.fullmatch(name.split('@')[0] + ' ')]
    missed = [name for name in unreached if name not in listed]
    print(f'{total - len(unreached)} of {total} descriptions of calls are reached by a test; listed as left out: '
          f'{" ".join(listed) or "none"}')
    for name in missed:
        print(f'not reached: {name}')
    sys.exit(1 if missed else 0)


if __name__ == '__main__':
    main()
