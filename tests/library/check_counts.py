#!/usr/bin/python3
"""Calls of functions counted (-c) by breakpoints, by the program itself and, where the machine lets us, by uprobes: the same,
whatever the program is.

    check_counts.py TRACER SOURCES [CASE...]     runs all cases, or those whose names begin so
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from bench import Bench
from cases import expect, rounds, run_cases
from check_functions import VARIANTS, cut_off_sections

WIDELY = ('lazy', 'ibt_lazy', 'no_plt', 'm32_lazy', 'm32_no_plt')  # variants whose libraries are counted, too


class Counter:
    def __init__(self, bench):
        self.bench = bench
        self.why_no_uprobes = bench.why_no_uprobes()

    def count_all(self, engine, options, program, arguments=()):
        """Calls of functions and system calls by name, and the program's exit status."""
        lines, status = self.bench.trace([f'--engine={engine}', '-q', '-c', '-U', 'calls,name', '-S', 'name', *options], program,
                                         arguments)
        rows = [line.split(maxsplit=1) for line in lines if line.strip()[:1].isdigit() and not line.endswith(' total')]
        return {name: int(calls) for calls, name in rows}, status

    def count(self, engine, options, program, arguments=(), trace='none'):
        """Those of functions alone."""
        found, status = self.count_all(engine, ['-e', f'trace={trace}', *options], program, arguments)
        return {name: calls for name, calls in found.items() if '@' in name}, status

    def same(self, options, program, arguments=()):
        """What breakpoints count, which uprobes count, too, and the program itself with its children."""
        found = self.count('ptrace', options, program, arguments)
        of_all = found if '-f' in options else self.count('ptrace', ['-f', *options], program, arguments)
        inside = self.count('inprocess', ['-f', *(o for o in options if o != '-f')], program, arguments)
        expect(inside == of_all, f'{options}: breakpoints {of_all}, inside {inside}')
        if not self.why_no_uprobes:
            by_uprobes = self.count('bpf', options, program, arguments)
            expect(by_uprobes == found, f'{options}: breakpoints {found}, uprobes {by_uprobes}')
        return found


def check_variant(counter, name):
    program = counter.bench.build('calls.c', VARIANTS[name], name)
    if program is None:
        return f'this machine cannot compile it with {" ".join(VARIANTS[name])}'
    if name == 'no_sections':
        cut_off_sections(program)
    found, status = counter.same(['-e', 'library=@MAIN-__*@MAIN'], program)
    by_function = {name.split('@')[0]: calls for name, calls in found.items()}
    expected = {function: 1 for function in ('atoi', 'abs', 'toupper', 'tolower')}
    expect(by_function == expected and len(found) == 4 and status == 3, f'{found}, status {status}')
    for options in (['-e', 'library=*'], ['-e', 'library=*', '-e', 'symbol=*']) if name in WIDELY else ():
        found, status = counter.same(options, program)
        expect(len(found) > 4 and status == 3, f'{options}: {found}, status {status}')
    return counter.why_no_uprobes


def static(counter):
    program = counter.bench.build('calls.c', ['gcc', '-static'], 'static')
    found, status = counter.same(['-e', 'symbol=*@MAIN'], program)
    expect(found.get('abs@static') == 1 and status == 3, f'{found}, status {status}')
    return counter.why_no_uprobes


def threads(counter):
    """Every call counts, however many threads make it at the same time."""
    program = counter.bench.build('threads.c', ['gcc'])
    for round_ in range(rounds(1)):
        for option in ('library=abs@MAIN', 'symbol=abs@libc.so*'):
            for count, calls in ((8, 500), (64, 50)):
                found, status = counter.same(['-e', option], program, [str(count), str(calls)])
                expect(found == {'abs@libc.so.6': count * calls} and status == 7,
                       f'round {round_}, {option}: {found}, status {status}')
        for count, calls in ((1, 10000000), (8, 2000000), (64, 200000)):
            found, status = counter.count('inprocess', ['-f', '-e', 'library=abs@MAIN'], program, [str(count), str(calls)])
            expect(found == {'abs@libc.so.6': count * calls}, f'round {round_}, {count} threads inside: {found}')
    return counter.why_no_uprobes


def children(counter):
    program = counter.bench.build('children.c', ['gcc'])
    for options in ([], ['-f']):
        found, status = counter.same([*options, '-e', 'library=abs+fork+vfork@MAIN'], program)
        expect(found['abs@libc.so.6'] == (3 if options else 1) and status == 7, f'{options}: {found}, status {status}')
    return counter.why_no_uprobes


def plugin(counter):
    """A library that is loaded, unloaded and loaded again counts each time."""
    library = counter.bench.build('plugin.c', ['gcc', '-shared', '-fPIC'], 'plugin.so')
    program = counter.bench.build('loader.c', ['gcc'])
    found, status = counter.same(['-e', 'library=abs+atoi@plugin.so'], program, [str(library)])
    expect(found == {'abs@libc.so.6': 3, 'atoi@libc.so.6': 3} and status == 6, f'{found}, status {status}')
    return counter.why_no_uprobes


def unfinished(counter):
    """A call counts that is left by a jump, and so does one that ends the program."""
    program = counter.bench.build('jumps.c', ['gcc', '-O0'])
    found, status = counter.same(['-e', 'library=_setjmp+longjmp@MAIN'], program)
    expect(found == {'_setjmp@libc.so.6': 1, 'longjmp@libc.so.6': 1} and status == 5, f'{found}, status {status}')
    lines, _ = counter.bench.trace(['--engine=ptrace', '-q', '-c', '-U', 'calls,errors,name', '-S', 'name', '-e',
                                    'trace=none', '-e', 'library=_setjmp+longjmp@MAIN'], program)
    expect(['1', 'longjmp@libc.so.6'] in [line.split() for line in lines], '\n'.join(lines))
    return counter.why_no_uprobes


def counting(counter):
    """A program, and a library that calls the same function by a pointer."""
    return (counter.bench.build('counting.c', ['gcc', '-rdynamic']),
            counter.bench.build('counting.c', ['gcc', '-shared', '-fPIC', '-fno-plt', '-DLIBRARY'], 'by_pointer.so'))


def inside(counter):
    """What a program counts itself is exact, whatever interrupts it, ends it or takes memory away."""
    program, plugin = counting(counter)
    many = 3000000
    for way, arguments, expected, wanted_status in (
            ('once', [many], 2 * many, 7), ('interrupted', [10 * many], 10 * many, 7), ('children', [many], 20 * many, 7),
            ('exec', [many], 3 * many, 7), ('deep', [5], None, 7), ('jumps', [5], 11, 7), ('killed', [many], many, -9),
            ('counters', [1000], 2000, 7), ('code', [1000], 2000, 7), ('trap', [1000], 2000, 7),
            ('library', [1000, plugin], 2002, 7)):
        for trace in ('none', 'all') * rounds(1):
            found, status = counter.count('inprocess', ['-f', '-e', 'library=abs'], program,
                                          [way, *(str(argument) for argument in arguments)], trace)
            wanted = {'abs@libc.so.6': expected}
            if expected is None:
                wanted, _ = counter.count('ptrace', ['-f', '-e', 'library=abs'], program, [way, str(arguments[0])])
                expect(wanted['abs@libc.so.6'] > 2 * arguments[0], f'{way}: {wanted}')
            expect((found, status) == (wanted, wanted_status),
                   f'{way}, trace={trace}: {found}, status {status}; expected {wanted}')


def with_calls(counter):
    """Functions and system calls are counted in the same program, and each system call is one of a function here."""
    program = counter.bench.build('together.c', ['gcc'])
    plugin = counter.bench.build('together.c', ['gcc', '-shared', '-fPIC', '-fno-plt', '-DLIBRARY'], 'together.so')
    many = 20000
    for way, arguments, expected in (('threads', [1], many), ('threads', [2], 2 * many), ('threads', [8], 8 * many),
                                     ('threads', [64], 64 * many), ('children', [6], 18 * many), ('exec', [], 3 * many),
                                     ('interrupted', [], 2 * many), ('library', [plugin], 3 * many)):
        for engine, option, share in (('inprocess', 'library=getppid', 1), ('inprocess', 'symbol=getppid@libc.so*', 100),
                                      ('ptrace', 'symbol=getppid@libc.so*', 100)):
            found, status = counter.count_all(engine, ['-f', '-e', option], program,
                                              [way, str(many // share), *(str(argument) for argument in arguments)])
            wanted = expected // share
            expect((found.get('getppid@libc.so.6'), found.get('getppid'), status) == (wanted, wanted, 7),
                   f'{way} {arguments}, {engine}, {option}: {found}, status {status}; expected {wanted}')


def ended(counter):
    """What was counted is shown though the tracer ends before the program, which has a seccomp filter of the tracer's."""
    program = counter.bench.build('together.c', ['gcc'])
    for kill in ([], ['--kill-on-exit']):
        tracer = subprocess.Popen([counter.bench.tracer, '--engine=inprocess', '-f', '-c', '-I2', *kill, '-e', 'library=getppid',
                                   str(program), 'endless', '1000'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        tracer.stdout.read()  # until the program closes it
        tracer.terminate()
        found = {row.split()[1]: int(row.split()[0]) for row in tracer.stderr.read().splitlines() if row.strip()[:1].isdigit()}
        tracer.wait(60)
        expect(found.get('getppid@libc.so.6', 0) >= 1000 and found.get('getppid', 0) >= 1000, f'{kill}: {found}')


def rewrite_entries(program, target, rewrite):
    """Writes a program with other entries in the same linkage table. `rewrite`: makes one of the distance to the slot."""
    plain = rb'\xf3\x0f\x1e\xfa\xff\x25(....)\x66\x0f\x1f\x44\x00\x00'  # endbr64, jmp *distance(%rip), nop
    code, count = re.subn(plain, lambda found: rewrite(int.from_bytes(found[1], 'little', signed=True)), program.read_bytes(),
                          flags=re.DOTALL)
    expect(count > 3, f'{count} entries in {program}')
    target.write_bytes(code)
    target.chmod(0o755)
    return target


def entries(counter):
    """Entries as other linkers write them: mold's leave a number in r11 for the resolver, which counting must leave alone,
    and those of old linkers have the prefix bnd."""
    folder = counter.bench.folder
    library = counter.bench.build('entries.c', ['gcc', '-shared', '-fPIC', '-DLIBRARY'], 'entries.so')
    program = counter.bench.build('entries.c', ['gcc', '-Wl,-z,ibtplt,-z,now', '-Wl,--no-as-needed', str(library)])
    mold = rewrite_entries(program, folder / 'mold', lambda distance: b'\x41\xbb\7\0\0\0\xff\x25' +
                           (distance - 2).to_bytes(4, 'little', signed=True) + b'\xcc' * 4)
    bnd = rewrite_entries(program, folder / 'bnd', lambda distance: b'\xf3\x0f\x1e\xfa\xf2\xff\x25' +
                          (distance - 1).to_bytes(4, 'little', signed=True) + b'\x0f\x1f\x44\0\0')
    many = 100000000
    for path in (program, mold, bnd):
        found, status = counter.same(['-e', 'library=number'], path, ['100'])
        expect((found, status) == ({'number@entries.so': 100}, 7), f'{path}: {found}, status {status}')
        for trace in ('none', 'all'):
            found, status = counter.count('inprocess', ['-f', '-e', 'library=number'], path, [str(many)], trace)
            expect((found, status) == ({'number@entries.so': many}, 7), f'{path}, {trace}: {found}, status {status}')
    return counter.why_no_uprobes


def early(counter):
    """Functions that jump or call before anything else are counted where they do; a loop must not lead there again."""
    everywhere = ('checked', 'looped', 'chosen', 'handed_on')
    for level in ('-O0', '-O1', '-O2', '-Os'):
        for width in ([], ['-m32']) if os.uname().machine == 'x86_64' else ([],):
            for marks in ([], ['-fcf-protection=full']) if os.uname().machine == 'x86_64' else ([],):
                command = ['gcc', level, *width, *marks]
                library = counter.bench.build('early.c', [*command, '-shared', '-fPIC', '-DLIBRARY'], 'early.so', [])
                program = library and counter.bench.build('early.c', [*command, '-Wl,--no-as-needed', str(library)], 'early', [])
                if program is None:
                    continue
                names = (*everywhere, 'jumps_on', 'twice') if os.uname().machine == 'x86_64' and not width else everywhere
                for option in ('symbol=' + '+'.join(f'{name}@early.so' for name in names), 'library=' + '+'.join(names)):
                    found, status = counter.same(['-e', option], program, ['100'])
                    expect((found, status) == ({f'{name}@early.so': 100 for name in names}, 7), f'{command} {option}: {found}, {status}')
    return counter.why_no_uprobes


def limited(counter):
    """A program whose address space is limited lacks none of it."""
    program, _ = counting(counter)
    for kilobytes in range(4000, 20000, 1000):
        command = ['-c', f'ulimit -v {kilobytes}; exec {program} once 100']
        untraced = subprocess.run(['/bin/sh', *command], stderr=subprocess.DEVNULL, timeout=60)
        found, status = counter.count('inprocess', ['-f', '-e', 'library=abs'], '/bin/sh', command)
        expect(status == untraced.returncode and (status != 7 or found == {'abs@libc.so.6': 200}),
               f'{kilobytes} kB: {found}, status {status}')


def crowd(counter):
    """Places change while threads run there: a library that is loaded calls the function by a pointer, so that all who come
    there have to stop from then on."""
    program, plugin = counting(counter)
    written = counter.bench.folder / 'calls'
    for round_ in range(rounds(3)):
        found, status = counter.count('inprocess', ['-f', '-e', 'library=abs'], program,
                                      ['crowd', '100', str(plugin), str(written)])
        expect((found, status) == ({'abs@libc.so.6': int(written.read_text())}, 7),
               f'round {round_}: {found}, status {status}; expected {written.read_text()}')


def unwound(counter):
    """Exceptions pass through calls that are counted."""
    program = counter.bench.build('exceptions.cpp', ['g++'])
    found, status = counter.same(['-e', 'library=@MAIN'], program)
    expect(found['__cxa_throw@libstdc++.so.6'] == 6 and status == 43, f'{found}, status {status}')
    return counter.why_no_uprobes


def attached(counter):
    """Five threads that are counted go on unharmed, whenever and however the tracer ends."""
    program = counter.bench.build('endless.c', ['gcc'])
    running = subprocess.Popen([str(program)])
    try:
        end = time.monotonic() + 60
        while len(os.listdir(f'/proc/{running.pid}/task')) < 5 and time.monotonic() < end:
            time.sleep(0.005)
        for round_ in range(rounds(6)):
            engine = ('inprocess', 'ptrace' if counter.why_no_uprobes else 'bpf')[round_ // 3 % 2]
            trace = 'all' if engine == 'inprocess' and round_ % 3 != 1 else 'none'  # a helper has no recorder to take away
            tracer = subprocess.Popen([counter.bench.tracer, f'--engine={engine}', '-f', '-c', '-U', 'calls,name', '-S', 'calls',
                                       '-e', f'trace={trace}', '-e', 'library=abs@MAIN', '-p', str(running.pid)],
                                      stderr=subprocess.PIPE, text=True)
            line = tracer.stderr.readline()
            expect('attached with 5 threads' in line, f'round {round_}: {line}')
            tracer.send_signal((signal.SIGTERM, signal.SIGKILL, signal.SIGINT)[round_ % 3])
            tracer.wait(60)
            # Behind one that was killed, a helper of its takes away what is left.
            tracer.stderr.read()
            expect(running.poll() is None, f'round {round_}: the process died: {running.returncode}')
        running.terminate()
        expect(running.wait(60) == 9, f'it ended with {running.returncode}')
    finally:
        running.kill()
        running.wait()
    return counter.why_no_uprobes


def main():
    tracer, sources = sys.argv[1:3]
    with tempfile.TemporaryDirectory(prefix='counts.') as folder:
        counter = Counter(Bench(os.path.abspath(tracer), sources, folder))
        cases = {name: (lambda n=name: check_variant(counter, n)) for name in VARIANTS}
        cases.update({function.__name__: (lambda f=function: f(counter))
                      for function in (static, threads, children, plugin, unfinished, inside, with_calls, ended, entries, early, limited, crowd, unwound,
                                        attached)})
        return run_cases(cases, sys.argv[3:])


if __name__ == '__main__':
    sys.exit(main())
