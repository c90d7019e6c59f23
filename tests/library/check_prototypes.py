#!/usr/bin/python3
"""What functions take and return: by our descriptions, and by debugging information.

    check_prototypes.py TRACER SOURCES [CASE...]     runs all cases, or those whose names begin so
"""

import ctypes
import functools
import http.server
import json
import re
import shutil
import subprocess
import sys
import threading

from bench import NARROW, TIMEOUT, run_in_folder, without_addresses
from cases import expect

PROTOTYPES = [
    'fopen@libc.so.6("/nonexistent", "r") = NULL ENOENT (No such file or directory)',
    'close@libc.so.6(77) = -1 EBADF (Bad file descriptor)',
    'snprintf@libc.so.6("42 hello  3.25 z 1.5 10995116277"..., 40, "%d %s %5.2f %c %Lg %lld", 42, "hello", 3.25, '
    '\'z\', 1.5, 1099511627776) = 34',
    'snprintf@libc.so.6("\\377", 40, "%c", \'\\377\') = 1',
    'pow@libm.so.6(2.0, 1.5) = 2.8284271247461903',
    'sqrtf@libm.so.6(2.0) = 1.4142135',
    'strtod@libc.so.6("2.5", NULL) = 2.5',
    'free@libc.so.6(NULL) = <void>',
    'swprintf@libc.so.6(ADDRESS, 40, "%d %s %.1f", 7, "narrow", 2.5) = 12',
    'signal@libc.so.6(SIGUSR1, SIG_IGN) = SIG_DFL',
    'signal@libc.so.6(SIGUSR1, ADDRESS<handler>) = SIG_IGN',
    'sigaction@libc.so.6(SIGUSR2, {sa_handler=ADDRESS<handler>, sa_mask=[], sa_flags=0, sa_restorer=NULL}, NULL) = 0',
    '__strdup@libc.so.6("reserved") = ADDRESS',
    'strndup@libc.so.6("hel", 3) = ADDRESS',
    'atoi@libc.so.6("12") = 12',
    '+++ exited with 12 +++']


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
    for command in (['gcc'], *(['gcc', *flags] for flags in NARROW), ['clang']):
        program = bench.build('by_value.c', command) if shutil.which(command[0]) is not None else None
        expect(program is not None or command[0] != 'gcc', f'{command}: not built')
        if program is not None:
            lines, _ = bench.trace(['-q', '-a1', '-e', 'trace=none', '-e', 'library=@MAIN'], program)
            lines = without_addresses(lines)
            expect(lines == BY_VALUE, f'{command}: got: ' + '\n'.join(lines))


STANDARD = [
    # g++ 16 puts it into the program.
    r'string<.*>::(_M_)?append@libstdc\+\+\.so\.6\(\["one"\], " and two"(, 8)?\) = |^memcpy@libc\.so\.6\(0x\w+, 0x\w+, 8\) = ',
    r'^operator new@libstdc\+\+\.so\.6\(72\) = 0x',
    r'_Rb_tree_insert_and_rebalance@libstdc\+\+\.so\.6\(true, 0x',
    r'operator<<.*\(0x\w+, "value "(, 6)?\) = 0x',
    r'operator<<@libstdc\+\+\.so\.6\(0x\w+, 42\) = 0x',
    r'(_M_insert<double>|operator<<)@libstdc\+\+\.so\.6\(0x\w+, 2\.5\) = 0x',
    r"operator<<.*\(0x\w+, ' '\) = 0x",
    r'runtime_error@libstdc\+\+\.so\.6\(0x\w+, "thrown"\) = <void>',
    r'^__cxa_throw@libstdc\+\+\.so\.6\(0x\w+, 0x\w+, 0x\w+<std::runtime_error::~runtime_error\(\)>\) = <',
    r'find@libstdc\+\+\.so\.6\(\["one and two"\], "two", 1(, 3)?\) = 8|^memchr@libc\.so\.6\(']


def standard_library_of_cxx(bench):
    lines, status = bench.trace(['-q', '-a1', '-e', 'trace=none', '-e', 'library=@MAIN'],
                                bench.build('standard.cpp', ['g++'], 'standard'))
    expect(status == 8, f'status {status}')
    for wanted in STANDARD:
        expect(any(re.search(wanted, line) for line in lines), f'no {wanted} in:\n' + '\n'.join(lines))


# <asm/errno.h> is where gcc-multilib has a link to, without which 32-bit programs in C++ are not built.
OF_32_BITS = ['-m32', '-idirafter', '/usr/include/x86_64-linux-gnu']

STANDARD_TYPES = [
    r'take_text@standard_types("it is\0here") = 10', 'take_text@standard_types("") = 0',
    f'take_const_text@standard_types("{"q" * 32}"...) = 40',
    'take_view@standard_types("is") = 2', 'take_view@standard_types("") = 0',
    'take_numbers@standard_types([1, 2, 3]) = 3', 'take_numbers@standard_types([]) = 0',
    'take_points@standard_types([{x=1, y=2}, {x=3, y=4}]) = 2', 'take_texts@standard_types(["a", "bc"]) = 2',
    'take_optional@standard_types(3, 4) = 3', 'take_optional@standard_types(nullopt, 4) = 4',
    'take_optional_text@standard_types("there") = 1', 'take_optional_text@standard_types(nullopt) = 0',
    'take_unique@standard_types({x=1, y=2}) = 1', 'take_unique@standard_types(NULL) = 0',
    'take_shared@standard_types({x=3, y=4}) = 4', 'take_three@standard_types([7, 8, 9]) = 7',
    'take_span@standard_types([4, 5]) = 2', 'take_list@standard_types([6, 7, 8]) = 3',
    'take_map@standard_types({size=2}) = 2', 'take_set@standard_types({size=3}) = 3', 'take_chain@standard_types({size=1}) = 1',
    'give_named@standard_types(2) = {id_=2, name_="given"}', 'take_named@standard_types({id_=2, name_="given"}) = 2',
    'give_text@standard_types(4) = "zzzz"', 'give_view@standard_types() = "a view"', 'give_numbers@standard_types(2) = [7, 7]',
    'give_optional@standard_types(true) = 5', 'give_optional@standard_types(false) = nullopt']
WIDE_INTEGERS = [
    'give_wide@standard_types(-3, 1) = -2',
    'give_wide@standard_types({high=0x1000000000, low=0x5}, 2) = {high=0x1000000000, low=0x7}',
    'give_unsigned@standard_types({high=0xffffffffffffffff, low=0xffffffffffffffff}) = '
    '{high=0xffffffffffffffff, low=0xffffffffffffffff}']


def standard_types_of_cxx(bench):
    """What they stand for: strings, elements, values that may be missing, targets; classes by value."""
    for command in (['g++', '-O0'], ['g++', '-O0', '-gdwarf-4'], ['g++', '-O0', *OF_32_BITS], ['clang++', '-O0', '-fstandalone-debug']):
        if shutil.which(command[0]) is None or ('-m32' in command and not NARROW):
            continue
        program = bench.build('standard_types.cpp', [*command, '-std=c++20', '-g'], 'standard_types')
        if program is None and ('-m32' in command or command[0] == 'clang++'):
            continue  # it finds no library of C++
        expect(program is not None, f'{command}: not built')
        lines, _ = bench.trace(['-q', '-a1', '-e', 'trace=none', '-e', 'symbol=take_*+give_*@MAIN'], program)
        lines = [re.sub(r'\[abi:cxx11\]', '', line) for line in lines[:-1]]
        wanted = STANDARD_TYPES + ([] if '-m32' in command else WIDE_INTEGERS)
        expect(lines == wanted, f'{command}: got: ' + '\n'.join(lines))
    lines, _ = bench.trace(['--format=json', '-e', 'trace=none', '-e', 'symbol=take_texts+give_text+take_view@MAIN'],
                           bench.build('standard_types.cpp', ['g++', '-O0', '-std=c++20', '-g'], 'standard_types'))
    calls = [record for record in map(json.loads, lines) if 'args' in record]
    expect([([a['value'] for a in call['args']], call['ret']) for call in calls] ==
           [(['is'], 2), ([''], 0), ([['a', 'bc']], 2), ([4], 'zzzz')], 'as JSON: ' + '\n'.join(lines))


def standard_types_of_libcxx(bench):
    """The library of clang has members of its own."""
    program = bench.build('standard_types.cpp', ['clang++', '-stdlib=libc++', '-O0', '-std=c++20', '-g'], 'standard_types')
    if program is None:
        return 'there is no libc++ to build with'
    lines, _ = bench.trace(['-q', '-a1', '-e', 'trace=none', '-e', 'symbol=take_*+give_*@MAIN'], program)
    expect(lines[:-1] == STANDARD_TYPES + WIDE_INTEGERS, 'got: ' + '\n'.join(lines))
    return None


# What give_NAME() returns and take_NAME() takes; nothing: whether it is in a register does not follow from what gcc says.
PASSED = {'plain': '{a=11}', 'unique': '[12]', 'shared': '[13]', 'holder': '{pointer=[14]}', 'destroyed': '{a=15}',
          'derived': '{a=16, b=2}', 'defaulted': '{a=17}', 'only_moved': '{a=18}', 'never_moved': '{a=19}', 'only_assigned': '{a=20}',
          'moved': '{a=21}', 'copied': '{a=22}', 'from_any': '{a=23}', 'with_default': None, 'floats': '{x=25.5, y=2.0}',
          'maybe': '[26]', 'pair': '{first=27, second=2}', 'tuple': "[28, 2, 'c']"}


def classes_by_value(bench):
    """Small classes are in memory if copying, moving or destroying them takes code, or cannot be done."""
    for command in (['g++'], ['g++', '-gdwarf-4'], ['g++', *OF_32_BITS], ['clang++']):
        if shutil.which(command[0]) is None or ('-m32' in command and not NARROW):
            continue
        program = bench.build('passing.cpp', [*command, '-std=c++17', '-O0', '-g'], 'passing')
        if program is None and command != ['g++']:
            continue  # it finds no library of C++
        expect(program is not None, f'{command}: not built')
        lines, _ = bench.trace(['-q', '-a1', '-e', 'trace=none', '-e', 'symbol=give_*+take_*@MAIN'], program)
        text = '\n'.join(lines)
        for number, (name, value) in enumerate(PASSED.items(), 11):
            if value is None and command[0] == 'clang++':
                value = '{a=%d}' % number
            if value is None:
                expect(len(re.findall(rf'^(?:give|take)_{name}@passing\(.* /\* guess \*/\) = ', text, re.M)) == 2, f'{command} {name}: {text}')
                continue
            for wanted in (f'give_{name}@passing({number}) = {value}', f'take_{name}@passing({value}, 1) = {number + 1}'):
                expect(wanted in lines, f'{command}: no {wanted} in: {text}')


RUST_TYPES = [
    'take_text@standard_types("it", 3) = 5', 'take_string@standard_types("owned") = 5',
    'take_string_reference@standard_types("lent") = 4', 'take_slice@standard_types([4, 5]) = 2',
    'take_vector@standard_types([7, 8, 9]) = 3', 'take_wide@standard_types(-2) = -1',
    'give_text@standard_types(5) = "number 5"', 'give_part@standard_types("a part") = " p"',
    'take_option@standard_types({Some=3}) = 3', 'take_option@standard_types(None) = 9',
    'take_option_text@standard_types({Some="there"}) = true', 'take_option_text@standard_types(None) = false',
    'take_option_word@standard_types({Some=4}) = 4', 'take_option_word@standard_types(None) = 7',
    'take_result@standard_types({Ok=5}) = 5', 'take_result@standard_types({Err="bad"}) = 0',
    'take_shape@standard_types(Empty) = 0', 'take_shape@standard_types({Circle=2.5}) = 2',
    'take_shape@standard_types({Rectangle={width=2, height=3}}) = 6', 'take_shape@standard_types({Named="n"}) = 1',
    'take_tuple@standard_types([1, -2, "x"]) = 1', 'take_pair@standard_types([5, -6]) = 5', 'take_box@standard_types({x=7, y=8}) = 8',
    'take_options@standard_types([{Some=1}, None]) = 2',
    'give_option@standard_types(2) = {Some="zz"}', 'give_option@standard_types(0) = None',
    'take_texts@standard_types("one", "two", [51]) = 7', 'take_many@standard_types("a", "bc", "def", [1, 2], 3) = 11',
    'give_result@standard_types(2) = {Ok=[2, 2]}', 'give_result@standard_types(-1) = {Err="no -1"}',
    'give_pair@standard_types(3) = [3, 4]']


def standard_types_of_rust(bench):
    if shutil.which('rustc') is None:
        return 'rustc is not installed'
    program = bench.folder / 'standard_types'
    done = subprocess.run(['rustc', '-g', '-o', str(program), str(bench.sources / 'standard_types.rs')], capture_output=True,
                          text=True, timeout=TIMEOUT)
    if done.returncode != 0:
        return 'rustc does not build it'
    lines, _ = bench.trace(['-q', '-a1', '-e', 'trace=none', '-e', 'symbol=standard_types::take_*+standard_types::give_*@MAIN-*closure*'], program)
    lines = [line.removeprefix('standard_types::') for line in lines if line.startswith('standard_types::')]
    expect([line for line in lines if 'guess' not in line] == RUST_TYPES, 'got: ' + '\n'.join(lines))
    # A text of which a part is in no register, and arrays by value.
    expect([line.split('@')[0] for line in lines if 'guess' in line] == ['take_late', 'give_numbers', 'take_numbers'], '\n'.join(lines))
    return None


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
    'big@libdescribed.so({values=[11, 12, 13], name="bytes"}, {x=1, y=2}) = {values=[11, 1, 13], name="bytes!!!"...}',
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
                    ['clang'], ['gcc', '-gz'], ['gcc', '-fdebug-types-section']):
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


def debugging_information_without_types(bench):
    """With -g1 functions seem to take nothing."""
    program = bench.build('nested.c', ['gcc', '-g1', '-O0'])
    lines, _ = bench.trace(['-q', '-a1', '-e', 'trace=none', '-e', 'symbol=twice@MAIN'], program)
    expect(lines[0].startswith('twice@nested(3, ') and '/* guess */' in lines[0], 'got: ' + '\n'.join(lines))


def vague_declarations(bench):
    """`int f();` and calls of what is not declared say nothing of the parameters; another unit may."""
    source = bench.folder / 'vague.c'
    source.write_text('#ifdef LIBRARY\nint vague(int n) { return n; }\n#elif defined OTHER\nint vague(int n);\nint other() { return vague(8); }\n'
                      '#else\nint other();\n#ifdef DECLARED\nint vague();\n#endif\n'
                      'int main() {\n#ifdef WITH_OTHER\n  other();\n#endif\n  return vague(9);\n}\n#endif\n')
    library = bench.build(str(source), ['gcc', '-s', '-shared', '-fPIC', '-DLIBRARY'], 'libvague.so', [])
    other = bench.build(str(source), ['gcc', '-g', '-c', '-DOTHER'], 'other.o', [])
    link = ['gcc', '-g', '-std=gnu89', '-w', '-Wl,--no-as-needed', str(library)]
    for flags, guessed in (([], True), (['-DDECLARED'], True), (['-DDECLARED', '-DWITH_OTHER', str(other)], False)):
        program = bench.build(str(source), [*link, *flags], 'vague', [])
        lines, _ = bench.trace(['-q', '-a1', '-e', 'trace=none', '-e', 'library=vague@MAIN'], program)
        wanted = r'vague@libvague\.so\(9, .* /\* guess \*/\) = 9' if guessed else r'vague@libvague\.so\(9\) = 9'
        expect(re.fullmatch(wanted, lines[-2]), f'{flags}: ' + '\n'.join(lines))


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
    try:
        ctypes.CDLL('libdebuginfod.so.1')
    except OSError as why:
        return f'there is no libdebuginfod: {why}'
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


def functions_in_functions(bench):
    program = bench.build('nested.c', ['gcc', '-g', '-O0'])
    lines, _ = bench.trace(['-q', '-a1', '-e', 'trace=none', '-e', 'symbol=twice+inner*@MAIN'], program)
    expect([re.sub(r'inner\.\d+', 'inner', line) for line in lines] ==
           ['twice@nested(3 <unfinished ...>', 'inner@nested({x=3, y=1}, "a name") = 8', '<... twice@nested resumed>) = 8',
            'inner@nested(8) = 9', '+++ exited with 9 +++'], 'got: ' + '\n'.join(lines))


def parameters_by_address(bench):
    """Of Fortran, in modules and outside."""
    if shutil.which('gfortran') is None:
        return 'gfortran is not installed'
    for level in ('-O0', '-O2'):
        program = bench.build('by_address.f90', ['gfortran', '-g', f'-J{bench.folder}'], plain=[level, '-fno-inline', '-fno-ipa-cp'])
        lines, _ = bench.trace(['-q', '-a1', '-e', 'trace=none', '-e', 'symbol=measure_+*area@MAIN'], program)
        expect(lines == ['measure_@by_address("hello", [5 => 15], [2.5], 5) = <void>',
                         '__shapes_MOD_area@by_address({x=2, y=3, weight=1.5}, [7], 15) = 31.0',
                         '+++ exited with 0 +++'], f'{level}: got: ' + '\n'.join(lines))
    return None


CASES = {case.__name__: case
         for case in (prototypes, prototypes_of_32_bits, prototypes_of_musl, structures_by_value,
                      standard_library_of_cxx, standard_types_of_cxx, standard_types_of_libcxx, standard_types_of_rust,
                      classes_by_value, debugging_information, vague_declarations, debugging_information_without_types,
                      separate_debugging_information,
                      served_debugging_information, symbols_of_debugging_information,
                      functions_in_functions, parameters_by_address)}


def main():
    return run_in_folder(CASES)


if __name__ == '__main__':
    sys.exit(main())
