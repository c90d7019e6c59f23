#!/usr/bin/python3
"""Static probes (USDT).

    check_probes.py TRACER SOURCES [CASE...]     runs all cases, or those whose names begin so
"""

import json
import os
import re
import select
import signal
import subprocess
import sys
import time

from bench import IS_X86, NARROW, TIMEOUT, run_in_folder
from cases import PATIENCE, expect

PROBES = [
    'demo:plain@probes()',
    'demo:text@probes(ADDRESS /* "a name" */, 2)',
    'demo:numbers@probes(-123456789012, 200, 65535, -7)',
    'demo:floats@probes(2.5, -1.5)',
    'demo:memory@probes(30)',
    'demo:loop@probes(0)',
    'demo:loop@probes(1)',
    'demo:loop@probes(2)',
    '+++ exited with 4 +++']


def static_probes(bench):
    include = '-I/usr/include/x86_64-linux-gnu'  # where sys/sdt.h is
    ways = [['-O0'], ['-O2'], ['-O2', '-no-pie'], ['-O2', '-fPIE', '-pie', '-static-pie']]
    for flags in ways + [[*flags, '-O1', include] for flags in NARROW]:
        done = bench.build('probes.c', ['gcc', *flags], 'probes')
        expect(done is not None, f'{flags}: not built; is systemtap-sdt-dev installed?')
        lines, status = bench.trace(['-q', '-e', 'trace=none', '-e', 'usdt=demo:*'], done)
        lines = [re.sub(r'0x[0-9a-f]+|[0-9]{7,}(?= /)', 'ADDRESS', line) for line in lines]
        expected = [line.replace('-123456789012', '1097262572') if '-m32' in flags else line for line in PROBES]
        expect([line for line in lines if 'runs in' not in line] == expected, f'{flags}: got: ' + '\n'.join(lines))
        expect(status == 4, f'status {status}')
    lines, _ = bench.trace(['-e', 'trace=none', '-e', 'usdt=loop'], bench.build('probes.c', ['gcc'], 'probes'))
    expect(len(lines) == 4, 'one name of any provider: ' + '\n'.join(lines))
    lines, _ = bench.trace(['--format=json', '-e', 'trace=none', '-e', 'usdt=text'], bench.build('probes.c', ['gcc'], 'probes'))
    hits = [record for record in map(json.loads, lines) if record['type'] == 'probe']
    expect(len(hits) == 1 and [hits[0][name] for name in ('provider', 'name', 'module')] == ['demo', 'text', 'probes'] and
           hits[0]['args'][1] == {'value': 2}, 'as JSON: ' + '\n'.join(lines))


ODD_PROBES = [
    'odd:thread@odd_probes(-9)',
    'odd:registers@odd_probes(0x1122334455667788, 1432778632, 30600, 136, 119, -2, -2, -2, -2)',
    'odd:numbers@odd_probes(-5, -5, 5, 255, -1, 16, 9223372036854775807)',
    'odd:memory@odd_probes(77, 77, 11, 22, -3, 22, 33, 44, 22, -3)',
    'odd:strange@odd_probes(2, 7, 77, ?, ?, ?, ?, ?)',
    '+++ exited with 3 +++']

ODD_PROBES_OF_32_BITS = [
    'odd:thread@odd_probes(-9)',
    'odd:registers@odd_probes(1432778632, 30600, 136, 119, -2, -2, -2)',
    'odd:numbers@odd_probes(4294967291, -5, 255, -1)',
    'odd:memory@odd_probes(77, -3, 4, 2)',
    '+++ exited with 3 +++']


def odd_probes(bench):
    """Operands in all forms, wherever the program lies."""
    if not IS_X86:
        return 'their operands are those of x86'
    for flags, expected in ((['-pie', '-fPIE'], ODD_PROBES), (['-no-pie'], ODD_PROBES), (['-static'], ODD_PROBES),
                            (['-static-pie'], ODD_PROBES), (['-m32', '-no-pie'], ODD_PROBES_OF_32_BITS)):
        program = bench.build('odd_probes.c', ['gcc', *flags], 'odd_probes')
        lines, _ = bench.trace(['-q', '-a1', '-e', 'trace=none', '-e', 'usdt=odd:*'], program)
        expect(lines == expected, f'{flags}: ' + '\n'.join(lines))
    return None


def watched_probes(bench):
    """The counter of those who watch is raised, and lowered when we go."""
    program = bench.build('probes.c', ['gcc'], 'probes')
    running = subprocess.Popen([bench.tracer, '-q', '-I2', '-o', str(bench.folder / 'log'), '-e', 'trace=none', '-e',
                                'usdt=demo:loop', str(program), 'wait'], stdout=subprocess.PIPE)

    def said():
        ready, _, _ = select.select([running.stdout], [], [], PATIENCE)
        return os.read(running.stdout.fileno(), 100) if ready else b'nothing'

    try:
        expect(said() == b'1 0\n', 'not raised')
        running.send_signal(signal.SIGTERM)
        expect(said() == b'nobody watches\n', 'not lowered')
        running.wait(TIMEOUT)
    finally:
        running.kill()
        running.wait()


def counted_probes(bench):
    """By breakpoints and in the kernel alike, also where functions are counted beside them."""
    program = bench.build('probes.c', ['gcc'], 'probes')
    why_not = bench.why_no_uprobes()
    for asked, functions in ((['-e', 'usdt=demo:*'], {}), (['-e', 'usdt=demo:*', '-e', 'symbol=main@probes'], {'main@probes': 1})):
        for engine in ('ptrace', *(() if why_not else ('bpf',))):
            columns = ['-U', 'calls,name', '-S', 'name'] if functions else []
            lines, _ = bench.trace([f'--engine={engine}', '-q', '-c', '-e', 'trace=none', *columns, *asked], program)
            rows = [line.split() for line in lines]
            found = {row[-1]: int(row[0] if columns else row[3]) for row in rows if row and row[-1].startswith(('usdt:', 'main@'))}
            wanted = {f'usdt:demo:{name}': 1 for name in ('plain', 'text', 'numbers', 'floats', 'memory')}
            expect(found == {**wanted, 'usdt:demo:loop': 3, **functions}, f'{engine} {asked}: ' + '\n'.join(lines))
    if why_not:
        return why_not
    done = subprocess.run([bench.tracer, '-d', '--engine=bpf', '-c', '-e', 'trace=none', '-e', 'usdt=demo:*', str(program)],
                          capture_output=True, text=True, timeout=TIMEOUT)
    expect('uprobes count' in done.stderr, done.stderr[:500])
    return None


def listed_probes(bench):
    program = bench.build('probes.c', ['gcc'], 'probes')
    done = subprocess.run([bench.tracer, '--list-probes', str(program)], capture_output=True, text=True, timeout=TIMEOUT)
    expect(done.returncode == 0, done.stderr)
    lines = done.stdout.splitlines()
    expect(sum(line.startswith('usdt=demo:') for line in lines) == 6, done.stdout)
    for wanted in ('library=atoi@probes', 'symbol=main@probes'):
        expect(wanted in lines, f'no {wanted} in:\n{done.stdout}')
    running = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE)
    try:
        time.sleep(0.05)
        done = subprocess.run([bench.tracer, '--list-probes', str(running.pid)], capture_output=True, text=True,
                              timeout=TIMEOUT)
        expect('symbol=puts@libc.so.6' in done.stdout.splitlines(), done.stderr or 'no puts in libc.so.6')
    finally:
        running.communicate(b'\n')
    done = subprocess.run([bench.tracer, '--list-probes', '/etc/passwd'], capture_output=True, text=True, timeout=TIMEOUT)
    expect(done.returncode == 1 and done.stderr, 'a list of what is no program')


CASES = {case.__name__: case
         for case in (static_probes, odd_probes, watched_probes, counted_probes, listed_probes)}


def main():
    return run_in_folder(CASES)


if __name__ == '__main__':
    sys.exit(main())
