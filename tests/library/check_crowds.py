#!/usr/bin/python3
"""Every call shows and counts, however many threads make it at the same time, wherever the function is, and no other.

    check_crowds.py TRACER SOURCES [CASE...]     runs all cases, or those whose names begin so
"""

import os
import re
import subprocess
import sys

from bench import NARROW, PLAIN, TIMEOUT, run_in_folder
from cases import expect

CROWDS = ((1, 100), (2, 100), (8, 50), (64, 20))  # threads, and the calls of each
if os.environ.get('SANITIZED') == '1':
    CROWDS = ((2, 50), (64, 5))  # the counts are for the other build
# The kernel's headers for 32-bit programs are those of the machine, which lie in a directory of their own.
KERNEL = ['-idirafter', '/usr/include/x86_64-linux-gnu']


def in_the_program(bench, flags):
    return bench.build('crowd.c', ['gcc', *flags, *KERNEL], 'crowd')


def static(bench, flags):
    return bench.build('crowd.c', ['gcc', '-static', *flags, *KERNEL], 'crowd')


def in_a_library(bench, flags, callee=()):
    library = bench.build('crowd.c', ['gcc', '-shared', '-fPIC', '-DCALLEE', *flags, *callee, *KERNEL], 'libcrowd.so')
    program = bench.folder / 'crowd'
    done = subprocess.run(['gcc', *PLAIN, '-DCALLER', *flags, *KERNEL, str(bench.sources / 'crowd.c'), str(library),
                           '-pthread', '-o', str(program)], capture_output=True, text=True, timeout=TIMEOUT)
    expect(library is not None and done.returncode == 0, done.stderr)
    return program


# A resolver chooses the function's code; in 32-bit programs that are not position-independent, as gcc needs it there.
CHOSEN = ['-DCHOSEN']


def chosen_in_the_program(bench, flags):
    return in_the_program(bench, [*flags, *CHOSEN, *(['-no-pie', '-fno-pie'] if flags else [])])


def chosen_static(bench, flags):
    return static(bench, [*flags, *CHOSEN, '-no-pie', '-fno-pie'])


def chosen_in_a_library(bench, flags):
    return in_a_library(bench, flags, CHOSEN)


PLACES = {place.__name__: place for place in (in_the_program, static, in_a_library, chosen_in_the_program, chosen_static,
                                              chosen_in_a_library)}
# Where the program calls the function through its linkage table.
LINKED = ('in_a_library', 'chosen_in_the_program', 'chosen_static', 'chosen_in_a_library')
FLAGS = {'': [], **({'m32_': NARROW[0]} if NARROW else {})}


def expect_calls(bench, what, options, program, arguments, wanted):
    lines, status = bench.trace(['-f', '-e', 'trace=none', *options], program, arguments)
    text = '\n'.join(lines)
    expect(status == 7, f'{what}: status {status}')
    starts = len(re.findall(r'(?m)\bstep@\S+?\((?!\.)', text))
    ends = len(re.findall(r'(?m)(?:\bstep@\S+\(.*|step@\S+ resumed>.*)\) += \d+$', text))
    expect(starts == wanted and ends == wanted, f'{what}: {starts} calls and {ends} returns of {wanted}')
    expect('unwound' not in text, f'{what}: a call did not return')


def expect_count(bench, what, options, program, arguments, wanted):
    lines, status = bench.trace(['-f', '-c', '-U', 'calls,name', '-e', 'trace=none', *options], program, arguments)
    rows = [line.split() for line in lines if 'step@' in line]
    expect(status == 7 and len(rows) == 1 and rows[0][0] == str(wanted), f'{what}: status {status}, {rows}, not {wanted}')


def crowded(place, flags, confined=False):
    def case(bench):
        program = PLACES[place](bench, flags)
        expect(program is not None, 'not built')
        modes = ['symbol=step', 'symbol=step@*crowd*'] + (['library=step', 'library=step@MAIN'] if place in LINKED else [])
        for threads, calls in CROWDS:
            for mode in modes:
                arguments = [str(threads), str(calls), *(['confined'] if confined else [])]
                what = f'{mode}, {threads} threads'
                expect_calls(bench, what, ['-e', mode], program, arguments, threads * calls)
                for engine in ('ptrace',) if bench.why_no_uprobes() else ('ptrace', 'bpf'):
                    expect_count(bench, f'{what}, counted by {engine}', [f'--engine={engine}', '-e', mode], program,
                                 arguments, threads * calls)
    return case


def as_ltrace(bench, options, program, arguments):
    """Lines, and the exit status, of the tracer under the name ltrace."""
    link = bench.folder / 'ltrace'
    if not link.exists():
        link.symlink_to(bench.tracer)
    log = bench.folder / 'log'
    environment = dict(os.environ, HOME=str(bench.folder), COLUMNS='80')
    done = subprocess.run([link, '-o', log, '-f', *options, program, *arguments], capture_output=True, text=True, timeout=TIMEOUT,
                          env=environment)
    return log.read_text().splitlines(), done.returncode


def crowded_as_ltrace(place, flags):
    def case(bench):
        program = PLACES[place](bench, flags)
        expect(program is not None, 'not built')
        modes = [['-L', '-x', 'step'], ['-L', '-x', 'step@*crowd*']] + ([['-e', 'step'], ['-e', 'step@MAIN']] if place in LINKED else [])
        modes += [['-l', 'libcrowd.so'], ['-l', '/lib.*/']] if place == 'in_a_library' else []
        for threads, calls in CROWDS:
            for mode in modes:
                what = f'{" ".join(mode)}, {threads} threads'
                arguments = [str(threads), str(calls)]
                lines, status = as_ltrace(bench, mode, program, arguments)
                text = '\n'.join(lines)
                starts = len(re.findall(r'\bstep(?:@\S+?)?\(', text))
                ends = len(re.findall(r'(?m)(?:\bstep(?:@\S+?)?\(.*|step(?:@\S+?)? resumed> .*)\) += \d+$', text))
                expect((status, starts, ends) == (7, threads * calls, threads * calls), f'{what}: status {status}, {starts} calls, {ends} returns')
                lines, status = as_ltrace(bench, ['-c', *mode], program, arguments)
                rows = [line.split() for line in lines if re.search(r'\bstep(@\S+)?$', line)]
                expect(status == 7 and [row[3] for row in rows] == [str(threads * calls)], f'{what}, counted: status {status}, {rows}')
    return case


CASES = {f'{width}{place}': crowded(place, flags) for width, flags in FLAGS.items() for place in PLACES}
CASES.update({f'{width}confined': crowded('in_a_library', flags, confined=True) for width, flags in FLAGS.items()})
CASES.update({f'{width}ltrace_{place}': crowded_as_ltrace(place, flags) for width, flags in FLAGS.items() for place in PLACES})

if __name__ == '__main__':
    sys.exit(run_in_folder(CASES))
