#!/usr/bin/python3
"""Calls of functions in programs that were compiled and linked in many ways.

    check_functions.py TRACER SOURCES [CASE...]     runs all cases, or those whose names begin so
"""

import functools
import http.server
import os
import pathlib
import platform
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

from cases import PATIENCE, expect, rounds, run_cases

TIMEOUT = 3 * PATIENCE
CALL = re.compile(r"^(?:\[pid +\d+\] )?(?:<\.\.\. )?(\w+)(?:@([^( ]+))?(?:\(.*| resumed>\)) += (-?\w+|'.'|<\w+>)")

IS_X86 = platform.machine() == 'x86_64'
NARROW = [['-m32']] if IS_X86 else []
# Calls and returns that the processor checks. What a program begins with has none of aarch64's marks, hence only libraries
# are held to them there.
GUARDED = ['-fcf-protection=full', '-Wl,-z,ibtplt'] if IS_X86 else ['-mbranch-protection=standard']
GUARDED_LIBRARY = GUARDED if IS_X86 else [*GUARDED, '-nostartfiles', '-Wl,-z,force-bti']
# No builtins: the compiler shall not know what abs() is.
PLAIN = ['-O0', '-fno-builtin', '-w']
EXPECTED = [('atoi', '5'), ('abs', '7'), ('toupper', "'A'"), ('tolower', "'b'")]

# What each case adds to the compiler's command line.
VARIANTS = {
    'lazy': ['gcc', '-Wl,-z,lazy'],
    'now': ['gcc', '-Wl,-z,now'],
    'no_pie': ['gcc', '-no-pie', '-Wl,-z,lazy'],
    'no_pie_now': ['gcc', '-no-pie', '-Wl,-z,now'],
    'ibt_lazy': ['gcc', '-fcf-protection=full', '-Wl,-z,ibtplt,-z,lazy'],
    'ibt_now': ['gcc', '-fcf-protection=full', '-Wl,-z,ibtplt,-z,now'],
    'guarded_lazy': ['gcc', '-mbranch-protection=standard', '-Wl,-z,lazy'],
    'guarded_now': ['gcc', '-mbranch-protection=standard', '-Wl,-z,now'],
    'no_plt': ['gcc', '-fno-plt'],
    'no_plt_no_pie': ['gcc', '-fno-plt', '-no-pie'],
    'relr': ['gcc', '-Wl,-z,pack-relative-relocs'],
    'stripped': ['gcc', '-s'],
    'no_sections': ['gcc', '-s'],
    'gdb': ['gcc', '-g'],
    'm32_lazy': ['gcc', '-m32', '-Wl,-z,lazy'],
    'm32_now': ['gcc', '-m32', '-Wl,-z,now'],
    'm32_no_pie': ['gcc', '-m32', '-no-pie'],
    'm32_no_plt': ['gcc', '-m32', '-fno-plt'],
    'clang': ['clang-14'],
    'clang_no_plt': ['clang-14', '-fno-plt'],
    'clang_lld': ['clang-14', '-fuse-ld=lld'],
    'clang_m32': ['clang-14', '-m32'],
    'musl': ['musl-gcc'],
    'musl_now': ['musl-gcc', '-Wl,-z,now'],
    'lld': ['gcc', '-fuse-ld=lld'],
    'lld_retpoline': ['gcc', '-fuse-ld=lld', '-Wl,-z,retpolineplt,-z,lazy'],
    'lld_retpoline_now': ['gcc', '-fuse-ld=lld', '-Wl,-z,retpolineplt,-z,now'],
}


class Bench:
    def __init__(self, tracer, sources, folder):
        self.tracer = tracer
        self.sources = pathlib.Path(sources)
        self.folder = pathlib.Path(folder)

    def build(self, source, command, name=None):
        target = self.folder / (name or pathlib.Path(source).stem)
        # gcc wants to find ld.lld by the name ld.lld; Debian's lld has it.
        done = subprocess.run([*command, *PLAIN, str(self.sources / source), '-o', str(target), '-pthread', '-ldl',
                               '-lm'],
                              capture_output=True, text=True, timeout=TIMEOUT)
        if done.returncode != 0:
            return None
        return target

    def trace(self, options, program, arguments=(), debuginfod=''):
        """Lines, and the exit status. No server is asked for debugging information but `debuginfod`."""
        log = self.folder / 'log'
        environment = dict(os.environ, DEBUGINFOD_URLS=debuginfod, DEBUGINFOD_CACHE_PATH=str(self.folder / 'cache'),
                           DEBUGINFOD_TIMEOUT='20')
        done = subprocess.run([self.tracer, '-o', str(log), *options, str(program), *arguments], capture_output=True,
                              text=True, timeout=TIMEOUT, env=environment)
        expect(done.stderr == '' or 'Killed' not in done.stderr, 'unexpected errors: ' + done.stderr)
        return log.read_text().splitlines(), done.returncode


def calls_in(lines):
    found = []
    for line in lines:
        match = CALL.match(re.sub(r'^\d+ +', '', line))
        if match:
            found.append((match.group(1), match.group(3)))
    return found


def cut_off_sections(path):
    """No section headers, as some packers leave a program."""
    data = bytearray(path.read_bytes())
    struct.pack_into('<Q', data, 0x28, 0)
    struct.pack_into('<HHH', data, 0x3a, 0, 0, 0)
    path.write_bytes(data)


def check_variant(bench, name):
    command = VARIANTS[name]
    if shutil.which(command[0]) is None:
        return f'{command[0]} is not installed'
    program = bench.build('calls.c', command, name)
    if program is None:
        return 'this compiler does not build it'
    if name == 'no_sections':
        cut_off_sections(program)
    lines, status = bench.trace(['-e', 'trace=none', '-e', 'library=@MAIN'], program)
    expect(calls_in(lines) == EXPECTED, f'expected {EXPECTED}, got: ' + '\n'.join(lines))
    expect(all('@libc.so.6(' in line or (name.startswith('musl') and '@libc.so(' in line) for line in lines if '(' in line), 'a library is missing: ' + '\n'.join(lines))
    expect(status == 3 and lines[-1] == '+++ exited with 3 +++', f'status {status}: {lines[-1]}')
    return None


def check_static(bench, flags):
    program = bench.build('calls.c', ['gcc', *flags], 'static')
    lines, status = bench.trace(['-e', 'trace=none', '-e', 'symbol=atoi+abs+toupper+tolower'], program)
    expect(calls_in(lines) == EXPECTED, 'got: ' + '\n'.join(lines))
    expect(status == 3, f'status {status}')


def static(bench):
    check_static(bench, ['-static'])


def static_pie(bench):
    check_static(bench, ['-static-pie'])


POINTERS = [
    'atoi@libc.so.6("3") = 3',
    'atoi@libc.so.6("4") = 4',
    'abs@libc.so.6(-5) = 5',
    'fopen@libc.so.6(0x1234, "r") = NULL EFAULT (Bad address)',
    '+++ exited with 12 +++']


def function_pointers(bench):
    """Where there is no stub, and where there is one that not all calls go through."""
    lld = [['-fuse-ld=lld']] if shutil.which('ld.lld') else []
    for flags in (['-Wl,-z,lazy'], ['-Wl,-z,now'], ['-no-pie'], ['-fno-plt'], GUARDED, *lld, *NARROW):
        program = bench.build('pointers.c', ['gcc', *flags], 'pointers')
        expect(program is not None, f'{flags}: not built')
        lines, _ = bench.trace(['-q', '-a1', '-e', 'trace=none', '-e', 'library=@MAIN'], program)
        expect([line for line in lines if 'runs in' not in line] == POINTERS, f'{flags}: got: ' + '\n'.join(lines))


def symbols_of_the_program(bench):
    program = bench.build('jumps.c', ['gcc', '-O0'])
    lines, _ = bench.trace(['-e', 'trace=none', '-e', 'symbol=main+in_order@MAIN'], program)
    expect([name for name, _ in calls_in(lines)] == ['in_order', 'main'], 'got: ' + '\n'.join(lines))
    expect(lines[0].startswith('main@jumps('), lines[0])


def longjmp(bench):
    program = bench.build('jumps.c', ['gcc', '-O0'])
    lines, status = bench.trace(['-e', 'trace=none', '-e', 'library=@MAIN'], program)
    expect(status == 5, f'status {status}')
    found = [call for call in calls_in(lines) if call[0] != 'qsort' or call[1] == '<unwound>']
    expect(found == [('_setjmp', '0'), ('longjmp', '<unwound>'), ('qsort', '<unwound>'), ('_setjmp', '5'),
                     ('abs', '5')], 'got: ' + '\n'.join(lines))


def threads(bench):
    """Every call shows, at a stub and at a function's entry, however many threads make it at the same time."""
    program = bench.build('threads.c', ['gcc'])
    for round_ in range(rounds(1)):
        for option in ('library=abs@MAIN', 'symbol=abs@libc.so*'):
            for count, calls in ((8, 500), (64, 50)):
                what = f'round {round_}, {option}, {count} threads'
                lines, status = bench.trace(['-e', 'trace=none', '-e', option], program, [str(count), str(calls)])
                expect(status == 7, f'{what}: status {status}')
                found = [value for name, value in calls_in(lines) if name == 'abs']
                expect(len(found) == count * calls, f'{what}: {len(found)} calls of {count * calls}')
                expect(sum(int(value) for value in found if value.isdigit()) == count * calls * (calls - 1) // 2, f'{what}: a wrong result')


def children_unfollowed(bench):
    program = bench.build('children.c', ['gcc'])
    lines, status = bench.trace(['-e', 'trace=none', '-e', 'signal=none', '-e', 'library=abs+fork+vfork@MAIN'], program)
    expect(status == 7, f'status {status}')
    expect([name for name, _ in calls_in(lines)] == ['fork', 'vfork', 'abs'], 'got: ' + '\n'.join(lines))


def children_followed(bench):
    program = bench.build('children.c', ['gcc'])
    lines, status = bench.trace(['-f', '-e', 'trace=none', '-e', 'signal=none', '-e', 'library=abs+fork+vfork@MAIN'],
                                program)
    expect(status == 7, f'status {status}')
    found = calls_in(lines)
    expect(('abs', '3') in found and ('abs', '9') in found and ('abs', '7') in found, 'got: ' + '\n'.join(lines))
    expect(('fork', '0') in found and ('vfork', '0') in found, 'no second return: ' + '\n'.join(lines))


def plugin(bench):
    program = bench.build('loader.c', ['gcc'])
    for flags in ([], GUARDED_LIBRARY):
        library = bench.build('plugin.c', ['gcc', '-shared', '-fPIC', *flags], 'plugin.so')
        expect(library is not None, f'{flags}: not built')
        lines, status = bench.trace(['-e', 'trace=none', '-e', 'library=abs+atoi@plugin.so'], program, [str(library)])
        expect(status == 6, f'{flags}: status {status}')
        expect(calls_in(lines) == [('abs', '0'), ('atoi', '1'), ('abs', '1'), ('atoi', '1'), ('abs', '2'), ('atoi', '1')],
               f'{flags}: got: ' + '\n'.join(lines))


PROTOTYPES = [
    'fopen@libc.so.6("/nonexistent", "r") = NULL ENOENT (No such file or directory)',
    'close@libc.so.6(77) = -1 EBADF (Bad file descriptor)',
    'snprintf@libc.so.6("42 hello  3.25 z 1.5 10995116277"..., 40, "%d %s %5.2f %c %Lg %lld", 42, "hello", 3.25, '
    '\'z\', 1.5, 1099511627776) = 34',
    'pow@libm.so.6(2.0, 1.5) = 2.8284271247461903',
    'sqrtf@libm.so.6(2.0) = 1.4142135',
    'strtod@libc.so.6("2.5", NULL) = 2.5',
    'free@libc.so.6(NULL) = <void>',
    'swprintf@libc.so.6(ADDRESS, 40, "%d %s %.1f", 7, "narrow", 2.5) = 12',
    '__strdup@libc.so.6("reserved") = ADDRESS',
    'atoi@libc.so.6("12") = 12',
    '+++ exited with 12 +++']


def without_addresses(lines):
    return [re.sub(r'0x[0-9a-f]+', 'ADDRESS', line) for line in lines if 'runs in' not in line]


def prototypes(bench):
    lines, _ = bench.trace(['-a1', '-e', 'trace=none', '-e', 'library=@MAIN'], bench.build('prototypes.c', ['gcc']))
    expect(without_addresses(lines) == PROTOTYPES, 'got: ' + '\n'.join(lines))


def prototypes_of_32_bits(bench):
    if not NARROW:
        return 'there are none on this machine'
    for flags in ([], ['-no-pie'], ['-fcf-protection=full']):
        program = bench.build('prototypes.c', ['gcc', '-m32', *flags])
        lines, _ = bench.trace(['-q', '-a1', '-e', 'trace=none', '-e', 'library=@MAIN'], program)
        expect(without_addresses(lines) == PROTOTYPES, f'{flags}: got: ' + '\n'.join(lines))
    return None


def prototypes_of_musl(bench):
    """One file has all of the C library, under another name."""
    if shutil.which('musl-gcc') is None:
        return 'musl-gcc is not installed'
    lines, _ = bench.trace(['-a1', '-e', 'trace=none', '-e', 'library=@MAIN'], bench.build('prototypes.c', ['musl-gcc']))
    expected = [re.sub(r'@lib[cm]\.so\.6', '@libc.so', line) for line in PROTOTYPES if '__' not in line]
    expect(without_addresses(lines) == expected, 'got: ' + '\n'.join(lines))
    return None


BY_VALUE = [
    'div@libc.so.6(17, 5) = {quot=3, rem=2}',
    'ldiv@libc.so.6(-17, 5) = {quot=-3, rem=-2}',
    'lldiv@libc.so.6(17000000000, 7) = {quot=2428571428, rem=4}',
    'cabs@libm.so.6({re=3.0, im=4.0}) = 5.0',
    'conj@libm.so.6({re=1.0, im=2.0}) = {re=1.0, im=-2.0}',
    'cabsf@libm.so.6({re=3.0, im=4.0}) = 5.0',
    'conjf@libm.so.6({re=1.0, im=2.0}) = {re=1.0, im=-2.0}',
    'cabsl@libm.so.6({re=3.0, im=4.0}) = 5.0',
    'conjl@libm.so.6({re=1.0, im=2.0}) = {re=1.0, im=-2.0}',
    'hcreate@libc.so.6(10) = 1',
    'hsearch@libc.so.6({key="key", data=NULL}, ENTER) = ADDRESS',
    'inet_makeaddr@libc.so.6(ADDRESS, ADDRESS) = {s_addr=inet_addr("127.0.0.5")}',
    'inet_ntoa@libc.so.6({s_addr=inet_addr("127.0.0.5")}) = "127.0.0.5"',
    'cimag@libm.so.6({re=1.0, im=-2.0}) = -2.0',
    '+++ exited with 3 +++']


def structures_by_value(bench):
    for command in (['gcc'], *(['gcc', *flags] for flags in NARROW), ['clang-14']):
        program = bench.build('by_value.c', command) if shutil.which(command[0]) is not None else None
        expect(program is not None or command[0] != 'gcc', f'{command}: not built')
        if program is not None:
            lines, _ = bench.trace(['-q', '-a1', '-e', 'trace=none', '-e', 'library=@MAIN'], program)
            lines = without_addresses(lines)
            expect(lines == BY_VALUE, f'{command}: got: ' + '\n'.join(lines))


STANDARD = [
    r'string<.*>::(_M_)?append@libstdc\+\+\.so\.6\(\["one"\], " and two"(, 8)?\) = ',
    r'^operator new@libstdc\+\+\.so\.6\(72\) = 0x',
    r'_Rb_tree_insert_and_rebalance@libstdc\+\+\.so\.6\(true, 0x',
    r'operator<<.*\(0x\w+, "value "(, 6)?\) = 0x',
    r'operator<<@libstdc\+\+\.so\.6\(0x\w+, 42\) = 0x',
    r'(_M_insert<double>|operator<<)@libstdc\+\+\.so\.6\(0x\w+, 2\.5\) = 0x',
    r"operator<<.*\(0x\w+, ' '\) = 0x",
    r'runtime_error@libstdc\+\+\.so\.6\(0x\w+, "thrown"\) = <void>',
    r'^__cxa_throw@libstdc\+\+\.so\.6\(0x\w+, 0x\w+, 0x\w+<std::runtime_error::~runtime_error\(\)>\) = <',
    r'find@libstdc\+\+\.so\.6\(\["one and two"\], "two", 1(, 3)?\) = 8']


def standard_library_of_cxx(bench):
    lines, status = bench.trace(['-q', '-a1', '-e', 'trace=none', '-e', 'library=@MAIN'],
                                bench.build('standard.cpp', ['g++'], 'standard'))
    expect(status == 8, f'status {status}')
    for wanted in STANDARD:
        expect(any(re.search(wanted, line) for line in lines), f'no {wanted} in:\n' + '\n'.join(lines))


DESCRIBED = [
    "scalars@libdescribed.so('c', true, -2, 200, 1.5, 2.25, 3.5, 4000000000) = -294966991",
    'colors@libdescribed.so(BLUE, CAN_READ|CAN_RUN) = BLUE',
    'texts@libdescribed.so("hello", "h", "wide", ADDRESS, NULL) = "hello"',
    'pointers@libdescribed.so({x=1, y=2}, {x=2, y=1}, [30 => 42], [12], ["the end"], {value=7, next=ADDRESS}) = <void>',
    'by_value@libdescribed.so({x=1, y=2}, 3) = {x=2, y=4}',
    'vectors@libdescribed.so({x=1.5, y=2.5}, {x=10.0, y=20.0}) = {x=11.5, y=22.5}',
    'in_three@libdescribed.so({a=1.0, b=2.0, c=3.0}, 0.5) = {a=3.0, b=2.0, c=1.5}',
    "mixed@libdescribed.so({number=0.25, letter='a'}, {number=0.25, letter='a'}, {number=0.25, letter='a'}, "
    "{number=0.25, letter='a'}, {number=9.0, letter='z'}) = {number=1.0, letter='z'}",
    'big@libdescribed.so({values=[11, 12, 13], name="bytes"}, {x=1, y=2}) = {values=[11, 1, 13], name="bytes"}',
    'either@libdescribed.so({whole=41, part=5.7e-44}) = {whole=42, part=5.9e-44}',
    'whole@libdescribed.so({from={x=21, y=22}, a=5, b=5, text="inside", callback=ADDRESS<twice>, color=BLUE}, '
    '{low=5, negative=-3, high=1000}, ADDRESS<twice>) = 39',
    'turned@libdescribed.so({re=1.0, im=2.0}, 3, {re=4.0, im=5.0}, {re=6.0, im=7.0}, 8.0) = {re=-2.0, im=1.0}',
    'turned_twice@libdescribed.so({re=1.0, im=2.0}, {re=3.0, im=4.0}) = {re=-1.0, im=-2.0}',
    'turned_more@libdescribed.so({re=1.0, im=2.0}, 3.0) = {re=2.0, im=-1.0}',
    'say@libdescribed.so("%s has %d", "it", 3) = 37',
    '+++ exited with 2 +++']


def build_described(bench, command, library_flags, program_flags):
    """Whether the compiler can build such programs."""
    library = bench.build('described.c', [*command, '-shared', '-fPIC', *library_flags], 'libdescribed.so')
    if library is None:
        return None
    return bench.build('describing.c', [*command, *program_flags, '-L' + str(bench.folder),
                                        '-Wl,-rpath,' + str(bench.folder), '-Wl,--no-as-needed', '-ldescribed'],
                       'describing')


def expect_described(bench, program, what):
    lines, _ = bench.trace(['-q', '-a1', '-e', 'trace=none', '-e', 'library=@MAIN'], program)
    lines = without_addresses(lines)
    expect(lines == DESCRIBED, f'{what}: got: ' + '\n'.join(lines))


def debugging_information(bench):
    for command in (['gcc', '-O0'], ['gcc', '-m32'], ['gcc', '-gdwarf-4'], ['gcc', '-gdwarf-2', '-gstrict-dwarf', '-m32'],
                    ['clang-14'], ['gcc', '-gz']):
        if shutil.which(command[0]) is None or ('-m32' in command and not NARROW):
            continue
        program = build_described(bench, command, ['-g'], [])
        expect(program is not None, f'{command}: not built')
        expect_described(bench, program, f'of the library, {command}')
    # A program that knows the library's functions, and a library that says nothing.
    program = build_described(bench, ['gcc'], ['-s'], ['-g'])
    expect_described(bench, program, 'of the program')
    lines, _ = bench.trace(['-q', '-a1', '-e', 'trace=none', '-e', 'library=scalars@MAIN'],
                           build_described(bench, ['gcc'], ['-s'], []))
    expect(lines[0].startswith('scalars@libdescribed.so(99, ') and '/* guess */' in lines[0], 'no guess: ' + lines[0])


def separate_debugging_information(bench):
    program = build_described(bench, ['gcc'], ['-g'], [])
    library = bench.folder / 'libdescribed.so'
    kept = bench.folder / 'libdescribed.debug'
    for words in (['--only-keep-debug', str(library), str(kept)], ['--strip-all', str(library)],
                  ['--add-gnu-debuglink=' + str(kept), str(library)]):
        subprocess.run(['objcopy', *words], check=True, timeout=TIMEOUT, cwd=bench.folder)
    expect_described(bench, program, 'in a file of its own')
    kept.unlink()
    lines, _ = bench.trace(['-q', '-a1', '-e', 'trace=none', '-e', 'library=scalars@MAIN'], program)
    expect('/* guess */' in lines[0], 'no guess: ' + lines[0])


class Served(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        self.server.asked.append(self.path)


def served_debugging_information(bench):
    """By a server, as its build id says (debuginfod(8))."""
    listed = subprocess.run(['/sbin/ldconfig', '-p'], capture_output=True, text=True, timeout=TIMEOUT)
    if 'libdebuginfod.so.1' not in listed.stdout:
        return 'there is no libdebuginfod'
    program = build_described(bench, ['gcc', '-Wl,--build-id'], ['-g'], [])
    library = bench.folder / 'libdescribed.so'
    notes = subprocess.run(['readelf', '-n', str(library)], capture_output=True, text=True, timeout=TIMEOUT)
    kept = bench.folder / 'www' / 'buildid' / re.search(r'Build ID: (\w+)', notes.stdout).group(1)
    kept.mkdir(parents=True)
    for words in (['--only-keep-debug', str(library), str(kept / 'debuginfo')], ['--strip-all', str(library)]):
        subprocess.run(['objcopy', *words], check=True, timeout=TIMEOUT)
    lines, _ = bench.trace(['-a1', '-e', 'trace=none', '-e', 'library=colors@MAIN'], program)
    expect('/* guess */' in lines[0], 'no guess: ' + lines[0])
    handler = functools.partial(Served, directory=str(bench.folder / 'www'))
    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler) as server:
        server.asked = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        lines, _ = bench.trace(['-a1', '-e', 'trace=none', '-e', 'library=colors@MAIN'], program,
                               debuginfod=f'http://127.0.0.1:{server.server_port}/')
        server.shutdown()
    expect(lines[0] == next(line for line in DESCRIBED if line.startswith('colors')), f'got: {lines[0]}, asked for: {server.asked}')
    return None


def symbols_of_debugging_information(bench):
    """A stripped program whose functions are named elsewhere."""
    program = bench.build('jumps.c', ['gcc', '-g'])
    kept = bench.folder / 'names'

    def run(*words):
        subprocess.run([str(word) for word in words], check=True, timeout=TIMEOUT, cwd=bench.folder)

    def expect_found(what, wanted):
        lines, _ = bench.trace(['-e', 'trace=none', '-e', 'symbol=in_order@MAIN'], program)
        expect((len(lines) > 1 and lines[0].startswith('in_order@jumps(')) == wanted, f'{what}: got: ' + '\n'.join(lines))
        done = subprocess.run([bench.tracer, '--list-probes', str(program)], capture_output=True, text=True,
                              timeout=TIMEOUT)
        expect(('symbol=in_order@jumps\n' in done.stdout) == wanted, f'{what}, listed: {done.stdout}')

    run('objcopy', '--only-keep-debug', program, kept)
    run('strip', '--strip-all', program)
    expect_found('nowhere', False)
    run('objcopy', '--add-gnu-debuglink=' + str(kept), program)
    expect_found('in a file of its own', True)
    run('objcopy', '--strip-debug', kept)
    run('xz', '--keep', '--force', kept)
    kept.unlink()
    expect_found('in a file that is gone', False)
    run('objcopy', '--add-section=.gnu_debugdata=' + str(kept) + '.xz', program)
    expect_found('in .gnu_debugdata', True)


def one_timeline(bench):
    program = bench.build('children.c', ['gcc'])
    lines, _ = bench.trace(['-a1', '--indent=2', '-e', 'trace=wait4', '-e', 'signal=none', '-e',
                            'library=waitpid@MAIN'], program)
    text = re.sub(r'\d\d+', 'N', '\n'.join(lines[:3]))
    expect(re.match(r'waitpid@libc\.so\.6\(N,  <unfinished \.\.\.>\n  wait4\(N, .*\) = N\n'
                    r'<\.\.\. waitpid@libc\.so\.6 resumed>\[.*, 0\) = N', text), 'got: ' + '\n'.join(lines))


def counts(bench):
    program = bench.build('threads.c', ['gcc'])
    for names in (['-c'], ['-c', '-w']):
        lines, _ = bench.trace([*names, '-S', 'name', '-U', 'calls,name', '-e', 'trace=exit_group,getpid', '-e',
                                'library=abs+pthread_join@MAIN'], program, ['4', '250'])
        rows = [line.split() for line in lines if '@' in line]
        expect(rows == [['1000', 'abs@libc.so.6'], ['4', 'pthread_join@libc.so.6']], 'got: ' + '\n'.join(lines))


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


def chosen_by_resolvers(bench):
    """strlen and others are whatever code suits the processor."""
    for flags in (['-Wl,-z,lazy'], ['-Wl,-z,now'], ['-fno-plt'], ['-static']):
        program = bench.build('resolved.c', ['gcc', *flags], 'resolved')
        lines, status = bench.trace(['-a1', '-e', 'trace=none', '-e', 'symbol=strlen+strchr'], program)
        own = [line for line in lines if re.match(r'(strlen|strchr)@\S+\("five[5!]"', line)]
        expect(len(own) == 3, f'{flags}: got: ' + '\n'.join(lines))
        expect(own[0].endswith('= 5') and status == 10, f'{flags}: {own[0]}, status {status}')


def demangled_names(bench):
    program = bench.build('classes.cpp', ['g++', '-no-pie'], 'classes')
    for pattern in ('app::Counter::add', 'app::*::add', 'app::Counter::add(int, char const*)', '_ZN3app7Counter3addEiPKc'):
        lines, status = bench.trace(['-e', 'trace=none', '-e', f'symbol={pattern}@MAIN'], program)
        expect(lines[0].startswith('app::Counter::add@classes(') and len(lines) == 3, f'{pattern}: ' + '\n'.join(lines))
        expect(status == 5, f'status {status}')
    lines, _ = bench.trace(['-e', 'trace=none', '-e', 'symbol=*::add-app::Counter::*'], program)
    expect(not any('Counter' in line for line in lines), 'not taken away: ' + '\n'.join(lines))


RUST_NAMES = {
    'shop::Basket::add': 'shop::Basket::add',
    'shop::*::add': 'shop::Basket::add',
    '_ZN4shop6Basket3add17h4c952050b55ff183E': 'shop::Basket::add',
    'shop::largest::<i32>': 'shop::largest::<i32>',
    '_RINv*largest*': 'shop::largest::<i32>',
    '*Basket>::take': '<shop::store::Basket>::take',
    '_RNvM*take': '<shop::store::Basket>::take',
}


def names_of_rust(bench):
    """As rustc gives them, and as people write them."""
    for flags in ([], ['-no-pie']):
        program = bench.build('rust_names.c', ['gcc', *flags], 'rust_names')
        for pattern, shown in RUST_NAMES.items():
            lines, status = bench.trace(['-e', 'trace=none', '-e', f'symbol={pattern}@MAIN'], program)
            expect(len(lines) == 2 and lines[0].startswith(shown + '@rust_names('), f'{pattern}: ' + '\n'.join(lines))
            expect(status == 7, f'status {status}')


def rust(bench):
    """A program that rustc has compiled, and the same one stripped."""
    if shutil.which('rustc') is None:
        return 'rustc is not installed'
    program = bench.folder / 'rust'
    done = subprocess.run(['rustc', '--edition', '2018', '-O', '-o', str(program), str(bench.sources / 'calls.rs')],
                          capture_output=True, text=True, timeout=TIMEOUT)
    if done.returncode != 0:
        return 'rustc does not work: ' + done.stderr[:200]
    lines, _ = bench.trace(['-e', 'trace=none', '-e', 'symbol=*shop*::add+*::largest*@MAIN'], program)
    names = [line.split('@')[0] for line in lines[:-1]]
    expect(len(names) == 2 and 'add' in names[0] and 'largest' in names[1], 'got: ' + '\n'.join(lines))
    for command in (['true'], ['strip', str(program)]):
        subprocess.run(command, check=True, timeout=TIMEOUT)
        lines, status = bench.trace(['-a1', '-e', 'trace=none', '-e', 'library=atoi+toupper@MAIN'], program)
        expect(lines == ['atoi@libc.so.6("5") = 5', "toupper@libc.so.6('a') = 'A'", '+++ exited with 5 +++'],
               f'{command}: got: ' + '\n'.join(lines))
        expect(status == 5, f'{command}: status {status}')
    return None


def exceptions(bench):
    program = bench.build('classes.cpp', ['g++', '-no-pie'], 'classes')
    lines, status = bench.trace(['-a1', '-e', 'trace=none', '-e', 'symbol=app::fail+app::try_it@MAIN'], program, ['throw'])
    expect(status == 6, f'status {status}')
    text = '\n'.join(lines)
    expect(re.search(r'<\.\.\. app::fail@classes resumed>\) = <unwound>|app::fail@classes\(.*\) = <unwound>', text), text)
    expect(re.search(r'<\.\.\. app::try_it@classes resumed>\) = 6', text), text)


def deep_calls(bench):
    program = bench.build('classes.cpp', ['g++', '-no-pie'], 'classes')
    lines, status = bench.trace(['-e', 'trace=none', '-e', 'symbol=app::deep@MAIN'], program, ['deep', 'deep'])
    expect(status == 44, f'status {status}')
    expect(len([line for line in lines if re.match(r'<\.\.\. app::deep@classes resumed>|app::deep@classes\(.* = ', line)]) == 301,
           'got: ' + '\n'.join(lines[:5]))


def killed_tracer(bench):
    program = bench.build('endless.c', ['gcc'])
    running = subprocess.Popen([str(program)])
    log = bench.folder / 'log'
    try:
        for round_ in range(3):
            tracer = subprocess.Popen([bench.tracer, '-q', '-o', str(log), '-e', 'trace=none', '-e',
                                       'library=abs@MAIN', '-p', str(running.pid)])
            end = time.monotonic() + PATIENCE
            while (not log.exists() or log.stat().st_size < 2000) and time.monotonic() < end:
                time.sleep(0.005)
            tracer.kill()
            tracer.wait()
            status = pathlib.Path(f'/proc/{running.pid}/status')
            while 'TracerPid:\t0' not in status.read_text() and time.monotonic() < end:
                time.sleep(0.005)
            expect(running.poll() is None, f'round {round_}: the process died: {running.returncode}')
            log.unlink()
        running.terminate()
        expect(running.wait(PATIENCE) == 9, f'it ended with {running.returncode}')
    finally:
        running.kill()
        running.wait()


def attach_and_detach(bench):
    program = bench.build('endless.c', ['gcc'])
    running = subprocess.Popen([str(program)])
    try:
        time.sleep(0.05)
        for round_ in range(rounds(20)):
            log = bench.folder / 'log'
            tracer = subprocess.Popen([bench.tracer, '-q', '-o', str(log), '-e', 'trace=none', '-e',
                                       'library=abs@MAIN', '-p', str(running.pid)], stderr=subprocess.PIPE)
            end = time.monotonic() + PATIENCE
            while (not log.exists() or log.stat().st_size < 2000) and time.monotonic() < end:
                time.sleep(0.005)
            tracer.send_signal((signal.SIGTERM, signal.SIGINT)[round_ % 2])
            tracer.wait(PATIENCE)
            expect(log.stat().st_size >= 2000, f'round {round_}: no calls seen: {tracer.stderr.read()}')
            expect(running.poll() is None, f'round {round_}: the process died: {running.returncode}')
            log.unlink()
        for round_ in range(rounds(20)):
            subprocess.run(f'{bench.tracer} -q -e trace=none -e library=abs@MAIN -p {running.pid} 2>&1 | head -n 20',
                           shell=True, stdout=subprocess.DEVNULL, timeout=TIMEOUT)
            expect(running.poll() is None, f'pipe {round_}: the process died: {running.returncode}')
        running.terminate()
        expect(running.wait(PATIENCE) == 9, f'it ended with {running.returncode}')
    finally:
        running.kill()
        running.wait()


CASES = {function.__name__: function
         for function in (static, static_pie, function_pointers, symbols_of_the_program, longjmp, threads, children_unfollowed,
                          children_followed, plugin, prototypes, prototypes_of_32_bits, prototypes_of_musl, structures_by_value, standard_library_of_cxx, debugging_information,
                          separate_debugging_information, served_debugging_information, symbols_of_debugging_information, one_timeline, counts, static_probes,
                          chosen_by_resolvers, demangled_names, names_of_rust, rust, exceptions, deep_calls, odd_probes, watched_probes, listed_probes, killed_tracer,
                          attach_and_detach)}


def main():
    tracer, sources = sys.argv[1:3]
    with tempfile.TemporaryDirectory(prefix='functions.') as folder:
        bench = Bench(os.path.abspath(tracer), sources, folder)
        cases = {name: (lambda n=name: check_variant(bench, n)) for name in VARIANTS}
        cases.update({name: (lambda f=function: f(bench)) for name, function in CASES.items()})
        return run_cases(cases, sys.argv[3:])


if __name__ == '__main__':
    sys.exit(main())
