#!/usr/bin/python3
"""Calls of functions in programs that were compiled and linked in many ways.

    check_functions.py TRACER SOURCES [CASE...]     runs all cases, or those whose names begin so
"""

import json
import os
import re
import shutil
import struct
import subprocess
import sys

from bench import IS_X86, NARROW, TIMEOUT, calls_in, run_in_folder
from cases import expect, rounds

# Calls and returns that the processor checks. What a program begins with has none of aarch64's marks, hence only libraries
# are held to them there.
GUARDED = ['-fcf-protection=full', '-Wl,-z,ibtplt'] if IS_X86 else ['-mbranch-protection=standard']
GUARDED_LIBRARY = GUARDED if IS_X86 else [*GUARDED, '-nostartfiles', '-Wl,-z,force-bti']
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
    'damaged_sections': ['gcc'],
    'm32_damaged_sections': ['gcc', '-m32'],
    'gdb': ['gcc', '-g'],
    'patched': ['gcc'],
    'patched_no_pie': ['gcc', '-no-pie', '-Wl,-z,lazy'],
    'm32_lazy': ['gcc', '-m32', '-Wl,-z,lazy'],
    'm32_now': ['gcc', '-m32', '-Wl,-z,now'],
    'm32_no_pie': ['gcc', '-m32', '-no-pie'],
    'm32_no_plt': ['gcc', '-m32', '-fno-plt'],
    'clang': ['clang'],
    'clang_no_plt': ['clang', '-fno-plt'],
    'clang_lld': ['clang', '-fuse-ld=lld'],
    'clang_m32': ['clang', '-m32'],
    'musl': ['musl-gcc'],
    'musl_now': ['musl-gcc', '-Wl,-z,now'],
    'lld': ['gcc', '-fuse-ld=lld'],
    'lld_retpoline': ['gcc', '-fuse-ld=lld', '-Wl,-z,retpolineplt,-z,lazy'],
    'lld_retpoline_now': ['gcc', '-fuse-ld=lld', '-Wl,-z,retpolineplt,-z,now'],
    'm32_lld_retpoline': ['gcc', '-m32', '-fuse-ld=lld', '-Wl,-z,retpolineplt,-z,lazy'],
    'm32_lld_retpoline_no_pie': ['gcc', '-m32', '-no-pie', '-fuse-ld=lld', '-Wl,-z,retpolineplt,-z,now'],
}


def cut_off_sections(path):
    """No section headers, as some packers leave a program."""
    data = bytearray(path.read_bytes())
    struct.pack_into('<Q', data, 0x28, 0)
    struct.pack_into('<HHH', data, 0x3a, 0, 0, 0)
    path.write_bytes(data)


def damage_sections(path):
    """A section that is larger than the file."""
    data = bytearray(path.read_bytes())
    is_wide = data[4] == 2
    table, = struct.unpack_from('<Q' if is_wide else '<I', data, 0x28 if is_wide else 0x20)
    if is_wide:
        struct.pack_into('<Q', data, table + 64 + 0x20, 1 << 40)
    else:
        struct.pack_into('<I', data, table + 40 + 0x14, 1 << 31)
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
    if name.endswith('damaged_sections'):
        damage_sections(program)
    if name.startswith('patched'):  # which moves the names of symbols before the symbols, in a program at a fixed address
        if shutil.which('patchelf') is None:
            return 'patchelf is not installed'
        subprocess.run(['patchelf', '--set-rpath', '/' + 'long/' * 100, str(program)], check=True)
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


def deleted(bench):
    """A program whose file nobody can open by a name any more."""
    for flags in ([], ['-no-pie'], *NARROW):
        program = bench.build('calls.c', ['gcc', *flags], 'deleted')
        lines, status = bench.trace(['-e', 'trace=none', '-e', 'library=@MAIN'], '/bin/sh',
                                    ['-c', 'exec 3< "$0"; rm "$0"; exec /proc/self/fd/3', str(program)])
        expect(calls_in(lines)[-len(EXPECTED):] == EXPECTED, f'{flags}: got: ' + '\n'.join(lines))
        expect(status == 3, f'{flags}: status {status}')


def described_though_deleted(bench):
    """What its debugging information says of its functions is found where the file is."""
    program = bench.build('jumps.c', ['gcc', '-O0', '-g'], 'deleted')
    lines, _ = bench.trace(['-e', 'trace=none', '-e', 'symbol=in_order'], '/bin/sh',
                           ['-c', 'exec 3< "$0"; rm "$0"; exec /proc/self/fd/3', str(program)])
    calls = [line for line in lines if line.startswith('in_order@')]
    expect(calls and 'guess' not in calls[0], 'got: ' + '\n'.join(lines))


HIDDEN = r': the functions of process \d+ are not traced: the kernel hides its memory from this user \(see PR_SET_DUMPABLE in prctl\(2\)\)\n'


def trace_as_nobody(bench, options, program, arguments=()):
    bench.folder.chmod(0o755)
    tracer = bench.folder / 'tracer'
    if not tracer.exists():
        shutil.copy(os.path.realpath(bench.tracer), tracer)
    return subprocess.run([tracer, '-a1', '-e', 'trace=none', *options, str(program), *arguments], capture_output=True, text=True,
                          timeout=TIMEOUT, user=65534, group=65534, extra_groups=[])


def unreadable(bench):
    """A program that its user may run and not read shows nothing of itself, which is said."""
    if os.geteuid() != 0:
        return 'needs root to become another user'
    program = bench.build('calls.c', ['gcc'], 'unreadable')
    program.chmod(0o711)
    for options in (['-e', 'library=@MAIN'], ['-c', '-e', 'symbol=main']):
        done = trace_as_nobody(bench, options, program)
        expect(done.returncode == 3 and re.search(HIDDEN, done.stderr), f'{options}: {done.returncode}: {done.stderr}')
    return None


HIDES = """
#include <dlfcn.h>
#include <stdlib.h>
int prctl(int, ...);
enum { PR_GET_DUMPABLE = 3, PR_SET_DUMPABLE = 4 };  // programs of 32 bits may lack the headers
int main(int argc, char** argv) {
  int sum = abs(-1);
  prctl(PR_SET_DUMPABLE, 0);
  sum += abs(-2);
  if (argc > 1) dlopen(argv[1], RTLD_NOW);
  return prctl(PR_GET_DUMPABLE) == 0 ? sum + abs(-3) : 1;
}
"""


def hides_itself(bench):
    """A program whose memory the tracer may not read any more goes on without breakpoints, and stays hidden."""
    if os.geteuid() != 0:
        return 'needs root to become another user'
    source = bench.folder / 'hides.c'
    source.write_text(HIDES)
    for flags in (['-Wl,-z,lazy'], ['-Wl,-z,now'], *NARROW):
        program = bench.build(source, ['gcc', *flags], 'hides')
        for option in ('library=abs+dlopen@MAIN', 'symbol=abs'):
            for arguments in ([], ['libm.so.6']):
                done = trace_as_nobody(bench, ['-e', option], program, arguments)
                expect(done.returncode == 6 and re.match(r'(\[ Process .*\n)?abs@libc\.so\.6\(-1\) = 1\n.*' + HIDDEN, done.stderr),
                       f'{flags}, {option}, {arguments}: {done.returncode}: {done.stderr}')
    return None


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


def records(bench):
    """As JSON: who calls what, how deep, and how that ends."""
    program = bench.build('jumps.c', ['gcc', '-O0'])
    lines, _ = bench.trace(['--format=json', '-e', 'trace=none', '-e', 'library=_setjmp+longjmp+qsort@MAIN'], program)
    records = [json.loads(line) for line in lines]
    calls = [record for record in records if record['type'] in ('library', 'return')]
    expect([(call['type'], call['name'], call['depth'], call['ret'], call.get('unfinished')) for call in calls] ==
           [('library', '_setjmp', 0, 0, None), ('library', 'longjmp', 1, None, 'unwound'), ('library', 'qsort', 0, None, 'unwound'),
            ('return', '_setjmp', 0, 5, None), ('library', 'qsort', 0, None, None)], 'got: ' + '\n'.join(lines))
    expect(all(call['caller'] == 'jumps' and call['library'].startswith('libc.so') for call in calls), 'got: ' + '\n'.join(lines))


def longjmp_unseen(bench):
    """What a jump ends does not return, though neither setjmp() nor longjmp() is traced."""
    # On aarch64, glibc keeps secret where it jumps to.
    for flags in ([], ['-static'], *NARROW) if IS_X86 else ():
        program = bench.build('leaps.c', ['gcc', *flags], 'leaps')
        lines, status = bench.trace(['-a1', '-e', 'trace=none', '-e', 'symbol=leap+go_on@MAIN'], program)
        expect(status == 2, f'{flags}: status {status}')
        ends = re.findall(r'(?:<\.\.\. )?(\w+)@leaps(?: resumed>\)|\(.*\)) = (<unwound>|\d+)', '\n'.join(lines))
        expect(ends[1:] == [('go_on', '0'), ('leap', '<unwound>'), ('go_on', '2')] and ends[0][1] != '<unwound>',
               f'{flags}: got: ' + '\n'.join(lines))


def jumps_to_itself(bench):
    """A call that ended in a jump returns with the one that it led to, though that is one of the same function."""
    for flags in ([], *NARROW):
        program = bench.build('tails.c', ['gcc', '-O2', *flags], 'tails')
        lines, status = bench.trace(['-a1', '-e', 'trace=none', '-e', 'symbol=add@MAIN'], program)
        expect(status == 6, f'{flags}: status {status}')
        line = r'^(<\.\.\. )?add@tails(?:\((\d+),?.*?(\)| <unfinished)| resumed>\))(?: = (.*))?'
        shown = re.findall(line, '\n'.join(lines), re.M)
        expect(shown == [('', '1', ' <unfinished', ''), ('', '2', ' <unfinished', ''), ('', '3', ')', '3'),
                         ('<... ', '', '', '3'), ('<... ', '', '', '3'), ('', '3', ')', '3')], f'{flags}: ' + '\n'.join(lines))


def goroutines(bench):
    """A call belongs to a stack, wherever in memory that is and whichever thread is on it; beginning twice is one call."""
    program = bench.build('goroutines.c', ['gcc']) if IS_X86 else None
    if program is None:
        return
    for options in ([], ['-e', 'trace=all']):
        lines, status = bench.trace(['-f', '-a1', '-e', 'trace=none', '-e', 'symbol=deep+early+yielding@MAIN', *options],
                                    program)
        expect(status == 20, f'status {status}')
        depths = re.findall(r'deep@goroutines\((\d+),', '\n'.join(lines))
        expect(depths == ['5', '4', '3', '2', '1', '0'], 'got: ' + '\n'.join(lines))
        ends = [call for call in calls_in(lines) if call[0] in ('deep', 'early', 'yielding')]
        expect(ends == [('yielding', '5')] + [('deep', str(end)) for end in (0, 1, 3, 6, 10, 15)] + [('early', '15')],
               'got: ' + '\n'.join(lines))
    lines, _ = bench.trace(['-f', '-c', '--engine=ptrace', '-U', 'calls,name', '-e', 'trace=none', '-e',
                            'symbol=deep+early+yielding@MAIN'], program)
    counts = [line.split() for line in lines]
    expect(['6', 'deep@goroutines'] in counts and ['1', 'early@goroutines'] in counts, 'got: ' + '\n'.join(lines))


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


def one_timeline(bench):
    program = bench.build('children.c', ['gcc'])
    lines, _ = bench.trace(['-a1', '--indent=2', '-e', 'trace=wait4', '-e', 'signal=none', '-e',
                            'library=waitpid@MAIN'], program)
    text = re.sub(r'\d\d+', 'N', '\n'.join(lines[:3]))
    expect(re.match(r'waitpid@libc\.so\.6\(N <unfinished \.\.\.>\n  wait4\(N, .*\) = N\n'
                    r'<\.\.\. waitpid@libc\.so\.6 resumed>, \[.*, 0\) = N', text), 'got: ' + '\n'.join(lines))


def stacks(bench):
    """Of a call's stack the callers show, at stubs as at functions, and though a breakpoint covers the first instruction."""
    program = bench.build('jumps.c', ['gcc', '-O0'])
    # The C library may have no names for its static functions.
    frame = re.compile(r'^ > \S+/(\S+?)\(([\w.]*)\+0x')
    for option, wanted in (('symbol=in_order@MAIN', [('libc.so.6', None), ('jumps', 'main')]),
                           ('library=abs@MAIN', [('jumps', 'main')])):
        lines, _ = bench.trace(['-q', '-k', '-e', 'trace=none', '-e', option], program)
        frames = [match.groups() for match in map(frame.match, lines) if match]
        shown = [(file, function if file == 'jumps' else None) for file, function in frames]
        # How many functions of libc sort is its own affair.
        short = [part for part, before in zip(shown, [None, *shown]) if part != before]
        expect(short[:len(wanted)] == wanted, f'{option}: got: ' + '\n'.join(lines))
        lines, _ = bench.trace(['-q', '-k', '--stack-trace-frame-limit=1', '-e', 'trace=none', '-e', option], program)
        expect(len([line for line in lines if frame.match(line)]) == 1, f'{option}: got: ' + '\n'.join(lines))


def counts(bench):
    program = bench.build('threads.c', ['gcc'])
    for names in (['-c'], ['-c', '-w']):
        lines, _ = bench.trace([*names, '-S', 'name', '-U', 'calls,name', '-e', 'trace=exit_group,getpid', '-e',
                                'library=abs+pthread_join@MAIN'], program, ['4', '250'])
        rows = [line.split() for line in lines if '@' in line]
        expect(rows == [['1000', 'abs@libc.so.6'], ['4', 'pthread_join@libc.so.6']], 'got: ' + '\n'.join(lines))


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


def names_of_templates(bench):
    """A template is found by its name, whatever its arguments and its result."""
    program = bench.build('templates.cpp', ['g++', '-no-pie'], 'templates')
    for pattern, calls in (('shop::tw', 2), ('shop::tw<int>', 1), ('int shop::tw<int>', 1), ('shop::Box::get', 1),
                           ('shop::Box::operator<<', 1), ('shop::Box*', 2), ('*tw*', 2)):
        lines, status = bench.trace(['-e', 'trace=none', '-e', f'symbol={pattern}@MAIN'], program)
        expect(sum('@templates(' in line for line in lines) == calls, f'{pattern}: ' + '\n'.join(lines))
        expect(status == 9, f'status {status}')


def coroutines(bench):
    """A function that is left for another stack returns when that is left."""
    for flags in ([], ['-static'], *NARROW):
        program = bench.build('coroutines.c', ['gcc', *flags], 'coroutines')
        for option, others in (('symbol=yielding', 0), ('symbol=yielding+swapcontext', 101)):
            lines, status = bench.trace(['-a1', '-e', 'trace=none', '-e', option], program)
            text = '\n'.join(lines)
            expect(status == 6 and 'unwound' not in text, f'{flags}: status {status}: ' + text)
            calls = len(re.findall(r'(?m)^\w+@', text))
            returns = [call for call in calls_in(lines) if call[0] == 'yielding']
            expect(calls == 100 + others and len(returns) == 99, f'{flags} {option}: {calls} calls, {len(returns)} returns')


RUST_NAMES = {
    'shop::Basket::add': 'shop::Basket::add',
    'shop::*::add': 'shop::Basket::add',
    '_ZN4shop6Basket3add17h4c952050b55ff183E': 'shop::Basket::add',
    'shop::largest::<i32>': 'shop::largest::<i32>',
    'shop::largest': 'shop::largest::<i32>',
    '_RINv*largest*': 'shop::largest::<i32>',
    'shop::store::Basket::take': '<shop::store::Basket>::take',
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
    """What an exception ends does not return, also where the thread goes on at the very place."""
    for flags in (['-no-pie'], ['-static-libgcc'], ['-static'], *NARROW):
        program = bench.build('classes.cpp', ['g++', *flags], 'classes')
        lines, status = bench.trace(['-a1', '-e', 'trace=none', '-e', 'symbol=app::fail+app::try_it+app::go_on@MAIN'],
                                    program, ['throw'])
        expect(status == 8, f'{flags}: status {status}')
        ends = re.findall(r'(?:<\.\.\. )?app::(\w+)@classes(?: resumed>\)|\(.*\)) = (\S+)', '\n'.join(lines))
        expect(ends == [('fail', '<unwound>'), ('try_it', '6'), ('fail', '<unwound>'), ('go_on', '2')],
               f'{flags}: got: ' + '\n'.join(lines))


def pieces(bench):
    """What is no call is not taken for one, and no breakpoint goes where no code is."""
    if not IS_X86:
        return 'the program is for other processors'
    program = bench.build('pieces.c', ['gcc'])
    lines, status = bench.trace(['-e', 'trace=none', '-e', 'symbol=whole*+jump*@MAIN'], program)
    expect(status == 21, f'status {status}')
    shown = [line.split('@')[0].split()[-1] for line in lines if '@pieces' in line and 'resumed' not in line]
    expect(shown == ['whole', 'jumps', 'jumped_to'], 'got: ' + '\n'.join(lines))
    listed = subprocess.run([bench.tracer, '--list-probes', str(program)], capture_output=True, text=True, timeout=TIMEOUT)
    expect('symbol=whole@pieces' in listed.stdout and '.cold' not in listed.stdout, 'listed: ' + listed.stdout)
    return None


def deep_calls(bench):
    program = bench.build('classes.cpp', ['g++', '-no-pie'], 'classes')
    lines, status = bench.trace(['-e', 'trace=none', '-e', 'symbol=app::deep@MAIN'], program, ['deep', 'deep'])
    expect(status == 44, f'status {status}')
    expect(len([line for line in lines if re.match(r'<\.\.\. app::deep@classes resumed>|app::deep@classes\(.* = ', line)]) == 301,
           'got: ' + '\n'.join(lines[:5]))


CASES = {case.__name__: case
         for case in (static, static_pie, function_pointers, deleted, described_though_deleted, unreadable, hides_itself,
                      symbols_of_the_program, longjmp, records, longjmp_unseen, jumps_to_itself, goroutines, threads,
                      children_unfollowed, children_followed, plugin, one_timeline, stacks, counts, chosen_by_resolvers,
                      demangled_names, names_of_rust, names_of_templates, coroutines, rust, exceptions, pieces, deep_calls)}


def main():
    variants = {name: (lambda bench, n=name: check_variant(bench, n)) for name in VARIANTS}
    return run_in_folder({**variants, **CASES})


if __name__ == '__main__':
    sys.exit(main())
