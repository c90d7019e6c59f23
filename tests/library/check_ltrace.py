#!/usr/bin/python3
"""Started under the name ltrace: its command line, and its text beside that of the newest ltrace (tests/peers).

    check_ltrace.py TRACER SOURCES [CASE...]     runs all cases, or those whose names begin so
"""

import difflib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from cases import expect, run_cases

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'peers'))
import peers  # noqa: E402

TIMEOUT = 60
LAZY = ['gcc', '-O0', '-fno-builtin', '-w', '-no-pie', '-Wl,-z,lazy']


class Bench:
    def __init__(self, tracer, sources, folder):
        self.sources = pathlib.Path(sources).resolve()
        self.folder = pathlib.Path(folder)
        self.link = self.folder / 'ltrace'
        self.link.symlink_to(tracer)
        self.environment = dict(os.environ, HOME=str(self.folder), COLUMNS='80', LC_ALL='C', TZ='UTC')
        for name in ('XDG_CONFIG_HOME', 'XDG_CONFIG_DIRS'):
            self.environment.pop(name, None)

    def build(self, source, command, name, arguments=()):
        target = self.folder / name
        # What is called has no prototypes, which gcc 14 and newer take for an error.
        done = subprocess.run([*command, '-Wno-implicit-function-declaration', str(self.sources / source), '-o', str(target), *arguments],
                              capture_output=True, text=True, timeout=TIMEOUT)
        expect(done.returncode == 0, done.stderr)
        return target

    def with_library(self, source, name, flags=LAZY):
        library = f'lib{name}.so'
        self.build(source, [*flags, '-shared', '-fPIC', '-DLIBRARY', f'-Wl,-soname,{library}'], library)
        return self.build(source, flags, name, [str(self.folder / library), f'-Wl,-rpath,{self.folder}'])

    def values(self):
        return self.with_library('ltrace_values.c', 'values')

    def lenses(self):
        return self.with_library('ltrace_lenses.c', 'lenses')

    def calls(self, flags=LAZY):
        return self.build('ltrace_calls.c', flags, 'calls')

    def run(self, options, command, program='ours'):
        """Lines of standard error, and the exit status."""
        done = subprocess.run([str(self.link) if program == 'ours' else program, *options, *map(str, command)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors='replace',
                              timeout=TIMEOUT, env=self.environment, cwd=self.folder)
        return done.stderr.splitlines(), done.returncode

    def log(self, options, command, program='ours'):
        log = self.folder / 'log'
        _, status = self.run(['-o', str(log), *options], command, program)
        return log.read_text(errors='replace').splitlines(), status


def differences():
    rules = []
    text = (pathlib.Path(__file__).parent / 'ltrace_differences.txt').read_text()
    for block in text.split('\n\n'):
        rule = dict(line.split(': ', 1) for line in block.splitlines() if line and not line.startswith('#'))
        if rule:
            rules.append((re.compile(rule['theirs']), rule['ours']))
    return rules


def masked(lines):
    """Without what no two runs have in common."""
    text = '\n'.join(lines)
    text = re.sub(r'0x[0-9a-f]{5,}', 'ADDRESS', text)
    text = re.sub(r'(?m)^\d+ ', 'PID ', text)
    text = re.sub(r'(?<=[( ])\d{3,7}(?=[,)])', 'NUMBER', text)
    text = re.sub(r'= \d{3,7}$', '= NUMBER', text, flags=re.M)
    return re.sub(r' +=', ' =', text)


def compare(bench, options, command):
    theirs, _ = bench.log(options, command, peers.find('ltrace'))
    ours, status = bench.log(options, command)
    expected, got = masked(theirs), masked(ours)
    for pattern, replacement in differences():
        both = [re.sub(pattern, replacement, text) for text in (expected, got)]
        expected, got = both
    expect(expected == got, '\n'.join(['ltrace ' + ' '.join([*options, *map(str, command)])]
                                      + list(difflib.unified_diff(expected.splitlines(), got.splitlines(), 'ltrace',
                                                                  'ours', lineterm=''))))
    expect(len(ours) > 1, 'nothing to compare')
    return status


def compared(options, arguments=()):
    def case(bench):
        if peers.find('ltrace') is None:
            return 'ltrace is not installed'
        compare(bench, options, [bench.calls(), *arguments])
        return None
    return case


def compared_values(bench):
    if peers.find('ltrace') is None:
        return 'ltrace is not installed'
    program = bench.values()
    prototypes = str(bench.sources / 'ltrace_values.conf')
    for options in ([], ['-A', '2'], ['-s', '5'], ['-a', '20'], ['-e', 'func_t*@values', '-n', '3'], ['-l', 'libvalues.so']):
        compare(bench, ['-F', prototypes, *options], [program])
    return None


VALUES = '''\
func_array([ 1, 2, 3, 4... ], 6)                 = 6
func_struct({ -3, 'x', 2.500000 })               = <void>
func_struct(nil)                                 = <void>
func_enum(GREEN)                                 = <void>
func_bits(~<0>)                                  = <void>
func_bytes(<0,7-8,28-31>)                        = <void>
func_list({ 9, { 8, { 7, recurse^^ } } })        = <void>
func_string("01", 5)                             = 1
func_upto("01", 5)                               = 2
func_out(77, "fil", 8)                           = 3
func_hex(0x1.8p+0, 0xff)                         = <void>
func_octal(010, 00)                              = <void>
func_by_value(1, { "abcde\\0", 2.500000 }, 9.500000) = { 11.000000, 'x', 'y' }
func_big({ 1, 2, 3 }, 7)                         = { 1, 7, 3 }
func_text("a"b\\\\c\\a\\b\\t\\n\\v\\f\\r\\033\\377'")       = "a"b\\\\c\\a\\b\\t\\n\\v\\f\\r\\033\\377'"
func_guess(10000, 0x2711, 0xffffd8f0, 0xffffd8ef) = 10000
func_guess(0xffffd8ef, 1, 2, 3)                  = 0xffffd8ef
+++ exited (status 5) +++'''.splitlines()


def prototypes(bench):
    lines, status = bench.log(['-F', str(bench.sources / 'ltrace_values.conf')], [bench.values()])
    missing = [line for line in VALUES if line not in lines]
    expect(not missing, 'missing: ' + '\n'.join(missing) + '\ngot: ' + '\n'.join(lines))
    expect(status == 5, f'status {status}')
    # -A counts the structures that pointers lead to, not the one that is passed by value.
    for limit, wanted in (('1', '{ 9, { 8, ... } }'), ('2', '{ 9, { 8, { 7, nil } } }')):
        lines, _ = bench.log(['-A', limit, '-F', str(bench.sources / 'ltrace_values.conf'), '-e', 'func_list_by_value'], [bench.values()])
        expect(f'func_list_by_value({wanted}) ' in lines[0], '\n'.join(lines))


def guesses_of_32_bits(bench):
    """Registers of 32 bits have a sign of their own, and show no more than their bits."""
    narrow = [*LAZY, '-m32'] if os.uname().machine == 'x86_64' else LAZY
    if subprocess.run([*narrow, '-x', 'c', '-', '-o', '/dev/null'], input='int main() {}', text=True, capture_output=True,
                      timeout=TIMEOUT, check=False).returncode != 0 or narrow == LAZY:
        return 'no programs of 32 bits'
    program = bench.with_library('ltrace_values.c', 'narrow_values', narrow)
    lines, _ = bench.log(['-e', 'func_guess'], [program])
    expect([re.sub(' +=', ' =', line) for line in lines[:2]] ==
           ['narrow_values->func_guess(10000, 0x2711, -10000, 0xffffd8ef) = 10000',
            'narrow_values->func_guess(0xffffd8ef, 1, 2, 3) = 0xffffd8ef'], '\n'.join(lines))
    return None


def crowded_stack(bench):
    """Structures by value take up the stack; what is behind them is shown all the same."""
    source = bench.folder / 'crowded.c'
    source.write_text('struct big { long numbers[40]; };\n'
                      '#ifdef LIBRARY\nint crowded(struct big b, struct big c, int n, double d, const char* s) { return n; }\n'
                      '#else\nint crowded(struct big, struct big, int, double, const char*);\n'
                      'int main() { struct big b = {{1, 2}}; return crowded(b, b, 5, 2.5, "six"); }\n#endif\n')
    prototype = bench.folder / 'crowded.conf'
    prototype.write_text('typedef big = struct(array(long,40));\nint crowded(big, big, int, double, string);\n')
    narrow = [[*LAZY, '-m32']] if os.uname().machine == 'x86_64' else []
    for flags in [LAZY, *narrow]:
        program = bench.with_library(source, 'crowded', flags)
        lines, _ = bench.log(['-A', '2', '-F', str(prototype), '-e', 'crowded'], [program])
        expect(lines[0].startswith('crowded->crowded({ [ 1, 2... ] }, { [ 1, 2... ] }, 5, 2.500000, "six") '), '\n'.join(lines))


LENSES = r'''
lens_hex(0xff)                                   = 0
lens_hex(nil)                                    = 0
lens_octal(0377)                                 = 0
lens_truth(true)                                 = 0
lens_binary(0b101, 0b1010)                       = 0
lens_binary(0, 0b1010)                           = 0
lens_all_hex([ 0xa, 0x14, 0x1e ])                = 0
lens_wide("ДЧto", "ДЧt", 3, "ab")                = 0
lens_character('Ж')                              = 0
lens_character('a')                              = 0
lens_format("%dЖ%s", 3, "x")                     = 0
lens_empty({  }, nil)                            = 0
lens_many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26) = 26
lens_address(nil)                                = nil
lens_later({ "abc", 3 })                         = 0
lens_rows([ [ 10, 20 ], [ 30, 40 ], [ 50, 60 ] ]) = 0
lens_imported(SOMETHING)                         = 0
lens_up_to([ 7 ], [ 10, 20 ], 2)                 = 0
lens_crowd([ 1, 2, 3, 4... ])                    = 0
lens_nameless('\377', -1)                        = 0
lens_nameless('b', THREE)                        = 0
lens_ring({ 9, { 8, { 7, { 6, nil, ... }, recurse^ }, recurse^ }, nil }) = 0
lens_set(<1,8,18,63>, <21,30>, ~<>, <0,9,18>)    = <21,30>
lens_hidden()                                    = 
lens_pairs({ 0x5, 0xfffffffe }, { 05, 037777777776 }, { true, true }, ~<1,3-32>) = { 0x5, 0xfffffffe }
lens_names(0x1, false, 07, 0xffffffff, { 0x9, nil, recurse }) = 0
lens_elements("aЖc", "aЖc", "tex")               = 0
lens_of_text([ 0x61, 0x62 ], [ true, true ], [ 0b1100101 ], { "fg" }, [ true ]) = 0
lens_newer("%b %w16d %w64d %d", 0b101, -2, 1099511627776, 7) = 0
+++ exited (status 0) +++'''.splitlines()[1:]


def lenses(bench):
    """Those of ltrace 0.7.91: over pointers, of wide characters, imported; wide ones in the locale's encoding."""
    options = ['-F', str(bench.sources / 'ltrace_lenses')]
    bench.environment['LC_ALL'] = 'C.UTF-8'
    lines, _ = bench.run(options, [bench.lenses()])
    expect(lines == LENSES, '\n'.join(difflib.unified_diff(LENSES, lines, lineterm='')))
    for limit, elements in (('45', '1, 2, 3, 4, 5' + ', 0' * 40 + '...'), ('100', '1, 2, 3, 4, 5' + ', 0' * 45)):
        lines, _ = bench.run(['-s', '2', '-A', limit, *options], [bench.folder / 'lenses'])  # -s is for strings alone
        expect(f'lens_crowd([ {elements} ]) ' in '\n'.join(lines), '\n'.join(lines))
    bench.environment['LC_ALL'] = 'C'
    lines, _ = bench.run(options, [bench.folder / 'lenses'])
    expect(lines[7].startswith(r'lens_wide("\320\224\320\247to", '), lines[7])


def compared_lenses(bench):
    if peers.find('ltrace') is None or 'ltrace-0.7.3' in peers.version(peers.find('ltrace')):
        return 'ltrace 0.7.91 is not to be had'
    bench.environment['LC_ALL'] = 'C.UTF-8'
    compare(bench, ['-F', str(bench.sources / 'ltrace_lenses')], [bench.lenses()])
    return None


def files_of_ltrace(bench):
    """The prototype files that ltrace's package has load without a complaint."""
    program = pathlib.Path(peers.find('ltrace') or '/')
    directory = program.parent / 'usr/share/ltrace'
    if not directory.is_dir():
        return 'ltrace 0.7.91 is not to be had'
    lines, _ = bench.run(['-F', str(directory), '-e', 'atoi+puts+wcslen'], [bench.calls()])
    expect(lines and not any('error' in line for line in lines), '\n'.join(lines))
    return None


def redefined_types(bench):
    """Errors, wherever the file has the first definition from; another file may have its own."""
    for name, text in (('one.conf', 'typedef t = int;\ntypedef t = uint;\ntypedef n = struct;\ntypedef n = struct(int);\n'
                                    'typedef n = struct(long);\n'),
                       ('two.conf', 'import "one";\nimport "none";\ntypedef t = long;\n'), ('three.conf', 'typedef t = long;\n')):
        (bench.folder / name).write_text(text)
    lines, _ = bench.run(['-F', ':'.join(str(bench.folder / f'{name}.conf') for name in ('one', 'two', 'three'))], ['/bin/true'])
    expect([line.replace(f'{bench.folder}/', '') for line in lines if 'error' in line] ==
           ["one.conf:2: error: Redefinition of typedef 't'", "one.conf:5: error: Redefinition of typedef 'n'",
            'two.conf:2: error: "none.conf" not found', "two.conf:3: error: Redefinition of typedef 't'"], '\n'.join(lines))


WRONG_LINES = [
    ('int f(int', 'syntax error around ""'), ('int f int);', "expected '(', got 'i'"), ('int (int);', 'bad identifier'),
    ('int f(array(int));', "expected ',', got ')'"), ('int f(array(int,x));', "Unknown length specifier: 'x'"),
    ('int f(struct(int);', 'syntax error around ";"'), ('int f(struct(int;', "expected ',', got ';'"), ('int f(enum(A,B=x));', 'bad number'), ('typedef = int;', 'bad identifier'),
    ('typedef a int;', "expected '=', got 'i'"), ('import none;', "expected '\"', got 'n'"), ('import "none";', '"none.conf" not found'),
    ('int f(bool);', "expected '(', got ')'"), ('int f(struct int);', "expected '(', got 'i'"), ('import "none', 'unmatched quote'),
    ('int f(array(int,arg));', 'bad number'), ('int f(string[argx]);', 'bad number'),
    ('int f(enum[double](A));', 'integral type required as enum argument'), ('int f(enum[int*](A));', "expected ']', got '*'"),
    ('typedef a = enum(A=1;', "expected ',', got ';'"), ('int f(string[5;', "expected ']', got ';'"),
    ('int f(string(int*;', "expected ')', got ';'"), ('int f(format,format);', "only one 'format' type per function supported")]


# The second line of a file that begins with a forward declaration of `l`.
WRONG_AFTER_FORWARD = [('typedef l = int;', "Definition of forward 'l' must be a structure."),
                       ('typedef l = struct(int);\ntypedef l = struct;', "Redefinition of typedef 'l'")]


def wrong_prototypes(bench):
    path = bench.folder / 'wrong.conf'
    path.write_text('int func_array(unheard,int);\nint func_string(string, int);\nnonsense\nvoid f(string[arg9]);\n')
    lines, _ = bench.run(['-F', str(path), '-e', 'func_string'], [bench.values()])
    expect([line for line in lines if 'error' in line and str(path) in line] ==
           [f"{path}:1: error: unknown type around 'unheard,int);'",
            f"{path}:3: error: unknown type around 'nonsense'",
            f"{path}:4: error: no such argument around ';'"], 'got: ' + '\n'.join(lines))
    expect('values->func_string("0123456", 4)                = 1' in lines, 'got: ' + '\n'.join(lines))
    for line, error, forward in [(*row, '') for row in WRONG_LINES] + [(*row, 'typedef l = struct;\n') for row in WRONG_AFTER_FORWARD]:
        path.write_text(forward + line + '\n')
        for tracer in ('ours', peers.find('ltrace')):
            if tracer is None or (tracer != 'ours' and '0.7.91' not in peers.version(tracer)):
                continue
            lines, _ = bench.run(['-F', str(path), '-e', 'puts'], [bench.folder / 'values'], tracer)
            expect(lines[0] == f'{path}:{len((forward + line).splitlines())}: error: {error}', f'{tracer} {line}: ' + '\n'.join(lines))
    for tracer in ('ours', peers.find('ltrace')):
        if tracer is not None and (tracer == 'ours' or '0.7.91' in peers.version(tracer)):
            log, _ = bench.log(['-F', str(path), '-e', 'puts'], [bench.folder / 'values'], tracer)
            expect(log[0] == f"{path}:3: error: Redefinition of typedef 'l'", f'{tracer}: an error is not in the log: ' + '\n'.join(log))
    # void is for a sole one.
    path.write_text('void func_hide(int,void);\n')
    for tracer in ('ours', peers.find('ltrace')):
        if tracer is not None and (tracer == 'ours' or '0.7.91' in peers.version(tracer)):
            lines, _ = bench.run(['-F', str(path), '-e', 'func_hide'], [bench.folder / 'values'], tracer)
            expect(lines[0] == f"{path}:1: warning: void parameter assumed to be 'hide(int)'" and
                   lines[1].startswith('values->func_hide(1) '), f'{tracer}: ' + '\n'.join(lines))
    for paths in ('', ':', '/none:', ':/none'):
        lines, _ = bench.run(['-F', paths], ['/bin/true'])
        expect([line for line in lines if line.startswith('Couldn')] == [f"Couldn't stat {path}: No such file or directory" for path in paths.split(':')],
               f"'{paths}': " + '\n'.join(lines))
    lines, status = bench.run(['-F', '/nonexistent'], ['/bin/true'])
    expect(status == 0 and lines[0] == "Couldn't stat /nonexistent: No such file or directory", 'got: ' + '\n'.join(lines))


def large_types(bench):
    """A type that is too large, or would contain itself, is an error of its own; all other prototypes count."""
    doubled = 'typedef t0 = array(int,1000000);\n' + ''.join(f'typedef t{i} = struct(t{i - 1},t{i - 1});\n' for i in range(1, 4))
    path = bench.folder / 'large.conf'
    path.write_text(doubled + 'typedef wide = array(array(int,1000000),1000000);\n'
                    'typedef f = struct;\ntypedef pair = array(f,2);\ntypedef in = struct(int,f);\ntypedef ins = struct(pair);\n'
                    'typedef f = struct(int,f*);\ntypedef never = struct;\n'
                    'void func_struct(never*);\nvoid func_list(f*);\nint func_string(string,int);\n')
    lines, _ = bench.run(['-F', str(path), '-e', 'func_struct+func_list+func_string'], [bench.values()])
    expect([line.replace(f'{path}:', '') for line in lines if 'error' in line] ==
           ['4: error: too large a type', '5: error: too large a type', "8: error: a field cannot have this type around ';'",
            "9: error: a field cannot have this type around ';'"], '\n'.join(lines))
    for wanted in ('func_struct({  }) ', 'func_struct(nil) ', 'func_list({ 9, { 8, { 7, nil } } }) ', 'func_string("0123456", 4) '):
        expect(any(f'values->{wanted}' in line for line in lines), f'no {wanted} in\n' + '\n'.join(lines))


def without_prototype_files(bench):
    """What ltrace has no file for, our descriptions know."""
    lines, _ = bench.log(['-e', 'raise+strtol+sprintf'], [bench.build('jumps.c', LAZY, 'jumps')])
    expect(lines[-1].startswith('+++ exited'), 'got: ' + '\n'.join(lines))
    lines, _ = bench.log(['-e', 'abs+longjmp+_setjmp'], [bench.build('jumps.c', LAZY, 'jumps')])
    text = re.sub(r'0x[0-9a-f]+', 'ADDRESS', '\n'.join(lines))
    expect(re.search(r'jumps->_setjmp\(ADDRESS\) += 0', text), text)
    expect(re.search(r'jumps->longjmp\(ADDRESS, 5 <unfinished \.\.\.>\n<\.\.\. _setjmp resumed> \) += 5', text), text)


def linked_structures(bench):
    """What pointers of structures lead to, as ltrace shows it: at the entry, and each structure once."""
    program = bench.build('linked.c', [*LAZY, '-g'], 'linked')
    lines, _ = bench.log(['-L', '-x', 'show_*+change+find'], [program])
    expect([re.sub(' +=', ' =', line) for line in lines] ==
           ['show_node({ nil, 5 }) = 5', 'show_node({ { nil, 5 }, 6 }) = 6', 'show_value({ { nil, 5 }, 6 }) = 6',
            'find({ { nil, 5 }, 6 }) = { { nil, 5 }, 6 }', 'show_node({ { recurse^, 5 }, 6 }) = 6', 'show_node({ recurse, 6 }) = 6',
            'show_owner({ { recurse^, 4 }, "it", 3 }) = 105', 'change({ nil, 5 }, 3) = 1', 'show_handler(nil) = 1', '+++ exited (status 0) +++'],
           '\n'.join(lines))


def thread_ends(bench):
    """Without -f a line has no id, and would say that the program ends."""
    program = bench.build('threads.c', [*LAZY, '-pthread'], 'threads')
    lines, _ = bench.log(['-L', '-x', 'main'], [program, '2', '1'])
    expect(sum(line.startswith('+++ exited') for line in lines) == 1, '\n'.join(lines))
    lines, _ = bench.log(['-f', '-L', '-x', 'main'], [program, '2', '1'])
    expect(sum(' +++ exited' in line for line in lines) > 1, '\n'.join(lines))


def half_a_filter(bench):
    """What nothing has the name of is said, though the rest of the filter finds something; of patterns it is not."""
    program = bench.calls()
    def said(*options):
        lines, _ = bench.run(['-o', '/dev/null', *options], [program])
        return [line.partition(': ')[2] for line in lines]
    expect(said('-e', 'puts+getuid@MAIN+no_such*') == [], 'a note on nothing')
    expect(said() == [], 'a note without a filter')
    expect(said('-e', 'puts+getuidd') == ["no module calls 'getuidd'; did you mean getuid?"], said('-e', 'puts+getuidd'))
    expect(said('-e', 'puts+puts@libnone.so') == ["no library is called 'libnone.so'"], said('-e', 'puts+puts@libnone.so'))
    expect(said('-L', '-x', 'main+no_such') == ["no function is called 'no_such'"], said('-L', '-x', 'main+no_such'))


# Files of prototypes with the type that each gives outer(), and what its call and its entry show then.
MODULES = [
    ({'prototypes/libitself.so.3.conf': 'bool'}, 'true', 'true'),
    ({'prototypes/libitself.so.conf': 'bool'}, 'true', 'true'),
    ({'prototypes/libitself.so.3.conf': 'bool', 'prototypes/libitself.so.conf': 'oct'}, 'true', 'true'),
    ({'prototypes/libc.so.conf': 'bool'}, 'true', None),
    ({'prototypes/itself.conf': 'bool'}, 'true', None),
    ({'prototypes/libitself.conf': 'bool'}, None, None),
    ({'prototypes/libc.so.conf': 'oct', 'prototypes/itself.conf': 'bool'}, 'true', None),
    ({'.ltrace.conf': 'bool'}, 'true', 'true'),
    ({'.ltrace.conf': 'bool', 'prototypes/libitself.so.3.conf': 'oct'}, 'true', '01'),
]


def prototypes_of_modules(bench):
    """A file is for the module that it is named after; calls that no better file knows may be in any."""
    library = bench.build('itself.c', [*LAZY, '-shared', '-fPIC', '-DLIBRARY', '-Wl,-soname,libitself.so.3'], 'libitself.so.3')
    program = bench.build('itself.c', LAZY, 'itself', [str(library), f'-Wl,-rpath,{bench.folder}'])
    (bench.folder / 'prototypes').mkdir()
    for files, call, entry in MODULES:
        for name, lens in files.items():
            (bench.folder / name).write_text(f'int outer({lens}(int));\n')
        for tracer in ('ours', peers.find('ltrace')):
            if tracer is None or (tracer != 'ours' and '0.7.91' not in peers.version(tracer)):
                continue
            lines, _ = bench.log(['-F', str(bench.folder / 'prototypes'), '-e', 'outer', '-x', 'outer@libitself.so.3'], [program], tracer)
            shown = re.findall(r'outer(?:@\S+?)?\(([^ ),]+)(, )?', '\n'.join(lines))
            # Without a prototype there are four numbers.
            expect(shown[:2] == [(lens, '') if lens else ('1', ', ') for lens in (call, entry)], f'{files} {tracer}\n' + '\n'.join(lines))
        for name in files:
            (bench.folder / name).unlink()


# Options, and a regular expression on the whole text.
TEXTS = {
    'with_times': (['-tt', '-e', 'puts'], r'^\d\d:\d\d:\d\d\.\d{6} calls->puts\("a"b\\n\\001\\377z"\) +\= 8$'),
    'since_the_epoch': (['-ttt', '-e', 'puts'], r'^\d{10}\.\d{6} calls->puts'),
    'since_the_line_before': (['-r', '-e', 'puts+free'], r'^  0\.000000 calls->puts.*\n  0\.\d{6} calls->free'),
    'durations': (['-T', '-e', 'puts'], r'= 8 <0\.\d{6}>$'),
    'return_addresses': (['-i', '-e', 'puts'], r'^\[0x4\w+\] calls->puts.*\n\[0xf{16}\] \+\+\+ exited \(status 7\) \+\+\+$'),
    'system_calls': (['-S', '-L'], r'^brk@SYS\(nil\) += 0x\w+\n(.*\n)*write@SYS\(1, .*\nexit_group@SYS\(7 <no return \.\.\.>\n'
                                   r'\+\+\+ exited'),
    'inside_calls': (['-S', '-e', 'getuid'], r'\ncalls->getuid\( <unfinished \.\.\.>\ngetuid@SYS\(\) += \d+\n'
                                             r'<\.\.\. getuid resumed> \) += \d+\n'),
    'of_a_library': (['-l', 'libc.so*'], r'^calls->printf\("n=%d.*\n(.*\n)*calls->getuid'),
    'entries': (['-L', '-x', 'get*id@libc.so*'], r'^getuid@libc\.so\.6\(\) += \d+\n'),
    'with_stacks': (['-w', '2', '-e', 'puts'], r'= 8\n > calls\(main\+0x\w+\) \[\w+\]\n > libc\.so\.6\((\w+|\[unknown\])\+0x\w+\) \[\w+\]\n'
                                               r'(\t.*\n)?( > \[\.\.\.\]\n)?\n\+\+\+ exited'),
    'counted': (['-c'], r'^% time     seconds  usecs/call     calls      function\n'
                        r'------ ----------- ----------- --------- --------------------\n'
                        r'( *\d+\.\d\d +\d+\.\d{6} +\d+ +\d+ \w+\n)+'
                        r'------ ----------- ----------- --------- --------------------\n'
                        r'100\.00 +\d+\.\d{6} {12} +\d+ total$'),
    'counted_with_system_calls': (['-c', '-S', '-L'], r'^ *\d+\.\d\d +\d+\.\d{6} +\d+ +1 exit_group$'),
    'counted_nothing': (['-c', '-e', 'no_such_function'], r'^% time .*\n------.*\n.* 1 exit_group\n------.*\n100\.00    0\.000000 {21}1 total$'),
    'filters': (['-e', 'f*-free+/getu.*/@/call.*/'], r'^calls->fopen.*\n(calls->fputc.*\n){2}calls->getuid.*\n\+\+\+'),
    'long_options': (['--align=20', '--indent', '2', '--no-sig', '-eputs'], r'^calls->puts\("a"b\\n\\001\\377z"\) = 8$'),
}


def text_of(options, pattern):
    def case(bench):
        lines, status = bench.log(options, [bench.calls()])
        expect(re.search(pattern, '\n'.join(lines), re.M), f'expected {pattern}, got:\n' + '\n'.join(lines))
        expect(status == 7, f'status {status}')
    return case


def every_binary(bench):
    """Where ltrace 0.7.3 shows nothing, or refuses."""
    for flags in (['-Wl,-z,now'], ['-fcf-protection=full', '-Wl,-z,ibtplt,-z,now'], ['-fno-plt'], ['-fPIE', '-pie']):
        program = bench.calls(['gcc', '-O0', '-fno-builtin', '-w', *flags])
        lines, status = bench.log([], [program])
        expect(lines[0] == 'printf("n=%d s=%s len=%zu\\n", 42, "hello world", 11) = 26', f'{flags}: ' + '\n'.join(lines))
        expect(status == 7 and lines[-1] == '+++ exited (status 7) +++', f'{flags}: ' + '\n'.join(lines))
    program = bench.calls(['gcc', '-O0', '-fno-builtin', '-w', '-static'])
    lines, _ = bench.log(['-L', '-x', 'puts+getuid'], [program])
    expect(lines[0].startswith('puts("a"b'), 'static: ' + '\n'.join(lines))


def children(bench):
    program = bench.calls()
    lines, _ = bench.log(['-f', '-e', 'fork+waitpid+execl+getuid@MAIN'], [program, 'a', 'b'])
    text = re.sub(r'(?m)^\d+ ', 'P ', '\n'.join(lines))
    for wanted in (r'P <\.\.\. fork resumed> \) += 0\n', r'P calls->execl\("/bin/true", "true" <(no return|unfinished) \.\.\.>\n',
                   r'P --- Called exec\(\) ---\n', r'P --- SIGCHLD \(Child exited\) ---\n',
                   r'P \+\+\+ exited \(status 0\) \+\+\+\n'):
        expect(re.search(wanted, text), f'no {wanted} in:\n{text}')
    lines, _ = bench.run(['-f', '-e', 'getuid'], [program])
    expect(re.match(r'\[pid \d+\] calls->getuid\(\) += \d+', lines[0]), lines[0])
    lines, _ = bench.log(['-e', 'getuid'], [program, 'a', 'b'])
    expect(sum('getuid' in line for line in lines) == 1, 'a child was followed: ' + '\n'.join(lines))


def returns_in_children(bench):
    """-c counts what -f shows: the return of fork in the child, too."""
    program = bench.build('children.c', LAZY, 'children')
    for tracer in ('ours', peers.find('ltrace')):
        if tracer is None or (tracer != 'ours' and '0.7.91' not in peers.version(tracer)):
            continue
        for options, count in ((['-c'], '1'), (['-f', '-c'], '2')):
            lines, _ = bench.log([*options, '-e', 'fork+vfork'], [program], tracer)
            rows = {line.split()[4]: line.split()[3] for line in lines if len(line.split()) == 5}
            expect((rows.get('fork'), rows.get('vfork')) == (count, count), f'{tracer} {options}\n' + '\n'.join(lines))


def deaths(bench):
    program = bench.calls()
    lines, status = bench.log(['-e', 'abort'], [program, 'a', 'b', 'c'])
    expect(lines[-3:] == ['calls->abort( <no return ...>', '--- SIGABRT (Aborted) ---', '+++ killed by SIGABRT +++'],
           '\n'.join(lines))
    expect(status == -signal.SIGABRT, f'status {status}')
    lines, _ = bench.log(['-b', '-e', 'kill'], [program, 'a'])
    expect(not any('SIGUSR1 (' in line for line in lines), '\n'.join(lines))


def attaching(bench):
    program = bench.build('endless.c', [*LAZY, '-pthread'], 'endless')
    running = subprocess.Popen([str(program)])
    try:
        log = bench.folder / 'log'
        tracer = subprocess.Popen([str(bench.link), '-o', str(log), '-e', 'abs', '-p', str(running.pid)])
        end = time.monotonic() + 20
        while (not log.exists() or log.stat().st_size < 2000) and time.monotonic() < end:
            time.sleep(0.01)
        tracer.send_signal(signal.SIGINT)
        tracer.wait(20)
        text = log.read_text()
        whole = r'^\d+ endless->abs\(-?\d+\) += \d+$|^\d+ <\.\.\. abs resumed> \) += \d+$'
        expect(re.search(whole, text, re.M), 'got: ' + text[:500])
        expect(running.poll() is None, f'the process died: {running.returncode}')
        # All of its five threads, for system calls alone, too.
        log.unlink()
        tracer = subprocess.Popen([str(bench.link), '-o', str(log), '-L', '-S', '-p', str(running.pid)])
        callers = set()
        while len(callers) < 5 and time.monotonic() < end + 20:
            time.sleep(0.01)
            callers = set(re.findall(r'^(\d+) getppid@SYS', log.read_text() if log.exists() else '', re.M))
        tracer.send_signal(signal.SIGINT)
        tracer.wait(20)
        expect(len(callers) == 5, f'calls of threads {callers}')
    finally:
        running.kill()
        running.wait()
    lines, status = bench.run(['-p', '4194304'], [])
    expect(status == 1 and lines[0].endswith('Cannot attach to pid 4194304: No such process'), 'got: ' + '\n'.join(lines))


ERRORS = [
    ([], 'too few arguments'),
    (['-L', '-e', 'x', 'true'], "Option -L can't be used with -e or -l."),
    (['-Z', 'true'], "invalid option -- 'Z'"),
    (['--unheard', 'true'], "unrecognized option '--unheard'"),
    (['-n', '30', 'true'], "Invalid argument to -n: '30'.  Use integer 0..20."),
    (['-e', '/[/', 'true'], "-e /[/: Couldn't compile '[': "),
    (['-x', '/puts@libc', 'true'], "-x /puts@libc: Unmatched '/' in symbol name."),
    (['-e', '@//', 'true'], "-e @//: Unmatched '/' in library name."),
    (['-l', '/', 'true'], "-l /: Unmatched '/' in library name."),
    (['./nonexistent'], "Can't open ./nonexistent: No such file or directory"),
    (['no_such_program'], "Can't open no_such_program: No such file or directory"),
    (['/'], '"/" is not an ELF file'),
    (['/etc/passwd'], '"/etc/passwd" is not an ELF file'),
    (['-o', '/nonexistent/file', 'true'], "can't open /nonexistent/file for writing: No such file or directory"),
]


def errors(bench):
    for words, message in ERRORS:
        lines, status = bench.run(words, [])
        expect(status == 1 and message in '\n'.join(lines), f'{words}: {status}: ' + '\n'.join(lines))
    script = bench.folder / 'script'
    script.write_text('#!/nonexistent/interpreter\n')
    script.chmod(0o755)
    lines, status = bench.run([], [script])
    expect(status == 1 and not any('exited' in line for line in lines), '\n'.join(lines))
    for words, start in ((['-h'], 'Usage: '), (['-V'], 'tracer '), (['-Dh'], 'MASK is')):
        done = subprocess.run([str(bench.link), *words], capture_output=True, text=True, timeout=TIMEOUT)
        expect(done.returncode == 0 and done.stdout.startswith(start), f'{words}: {done.stdout}')
    lines, _ = bench.run(['-D', '77'], ['/bin/true'])
    expect(lines[0].startswith('DEBUG: ') and lines[-1] == '+++ exited (status 0) +++', '\n'.join(lines))


def chosen_by_a_resolver(bench):
    """A function of the program's own, called through its linkage table; -x shows who chooses it, once."""
    program = bench.build('crowd.c', [*LAZY, '-DCHOSEN', '-pthread'], 'chosen')
    calls = [rf'(chosen->)?step\({number}, .*\) += {number + 1}' for number in range(3)]
    for options, start in ((['-e', 'step'], []), (['-L', '-x', 'step'], [r'step\.IFUNC\(\) += 0x\w+'])):
        lines, _ = bench.log(['-f', *options], [program, '1', '3'])
        shown = [re.sub(r'^\d+ ', '', line) for line in lines if 'step' in line]
        wanted = start + calls
        expect(len(shown) == len(wanted) and all(map(re.fullmatch, wanted, shown)), f'{options}: ' + '\n'.join(lines))


def named_with_a_sign(bench):
    """What follows a minus is no other filter where it is part of a library's name; -l has but names."""
    library = bench.build('crowd.c', [*LAZY, '-shared', '-fPIC', '-DCALLEE', '-Wl,-soname,libcrowd-8.so.0'], 'libcrowd-8.so.0')
    program = bench.build('crowd.c', [*LAZY, '-DCALLER', '-pthread'], 'named', [str(library), f'-Wl,-rpath,{bench.folder}'])
    for options, name in ((['-l', 'libcrowd-8.so.0'], 'named->step'), (['-L', '-x', 'step@libcrowd-8.so.0'], 'step@libcrowd-8.so.0'),
                          (['-L', '-x', 'ste*@libcrowd-8.so.0-stop'], 'step@libcrowd-8.so.0')):
        lines, _ = bench.log(['-f', *options], [program, '1', '1'])
        expect(any(name + '(' in line for line in lines), f'{options}: ' + '\n'.join(lines))


def calls_to_itself(bench):
    """-l shows what a library calls of itself through its linkage table, too."""
    library = bench.build('itself.c', [*LAZY, '-shared', '-fPIC', '-DLIBRARY'], 'libitself.so')
    program = bench.build('itself.c', LAZY, 'itself', [str(library)])
    lines, _ = bench.log(['-l', 'libitself.so'], [program])
    text = re.sub(r'(outer|inner)\((\d+), .*?\)?( <unf| +=)', r'\1(\2)\3', '\n'.join(lines))
    expect(re.sub(' +=', ' =', text).splitlines() ==
           ['itself->outer(1) <unfinished ...>', 'libitself.so->inner(2) = 3', '<... outer resumed> ) = 3',
            '+++ exited (status 3) +++'], text)


def names_of_calls(bench):
    """-l shows a function of several names by the one that the caller was linked with; -L leaves -l as it is."""
    library = bench.build('itself.c', [*LAZY, '-shared', '-fPIC', '-DLIBRARY'], 'libitself.so')
    program = bench.build('itself.c', [*LAZY, '-DTWICE'], 'itself', [str(library)])
    for options in (['-l', 'libitself.so'], ['-L', '-l', 'libitself.so'], ['-l', '/libit.*/']):
        lines, _ = bench.log(options, [program])
        shown = [name for name in re.findall(r'itself->(\w+)\(', '\n'.join(lines))]
        expect(shown == ['outer', 'outermost'], f'{options}: ' + '\n'.join(lines))


def names_of_entries(bench):
    """-x shows a function of several names of one length by the first of the symbol table."""
    source = bench.folder / 'aliases.c'
    # Linkers put v_b first into the table of exported symbols.
    source.write_text('#ifdef LIBRARY\nint v_a(int a) { return a; }\nint v_b(int) __attribute__((alias("v_a")));\n'
                      '#else\nint v_a(int);\nint main() { return v_a(3); }\n#endif\n')
    program = bench.with_library(source, 'aliases')
    symbols = subprocess.run(['nm', '-p', str(bench.folder / 'libaliases.so')], capture_output=True, text=True, check=True).stdout
    first = next(line.split()[-1] for line in symbols.splitlines() if line.split()[-1] in ('v_a', 'v_b'))
    for tracer in ('ours', peers.find('ltrace')):
        if tracer is None or (tracer != 'ours' and '0.7.91' not in peers.version(tracer)):
            continue
        lines, _ = bench.log(['-L', '-x', 'v_*'], [program], tracer)
        expect([line.partition('@')[0] for line in lines if '@' in line] == [first], f'{tracer}, not {first}: ' + '\n'.join(lines))


# Filters, and the functions that they select of those that the program calls: outer, outermost, atoi.
SELECTED = [
    ('/out.*@itself/', ['outer', 'outermost']), ('/out.*@it.*/-/.*most@itself/', ['outer']), ('/out.*@none/', []),
    ('outer+', ['outer']), ('outer-', ['outer']), ('', []), ('atoi+/outer@itself/', ['outer', 'atoi']),
    ('/out.*/@itself', ['outer', 'outermost']), ('@MAIN-out*@itself', ['atoi']), ('-@lib*-out*', ['atoi']),
    ('+', ['outer', 'outermost', 'atoi']), ('-', ['outer', 'outermost', 'atoi']),
    ('/out.*@MAIN/', ['outer', 'outermost']), ('@/MAIN/-outer', ['outermost', 'atoi']),
]


def selected(bench):
    library = bench.build('itself.c', [*LAZY, '-shared', '-fPIC', '-DLIBRARY'], 'libitself.so')
    program = bench.build('itself.c', [*LAZY, '-DTWICE'], 'itself', [str(library)])
    for expression, wanted in SELECTED:
        for tracer in ('ours', peers.find('ltrace')):
            if tracer is None or (tracer != 'ours' and '0.7.91' not in peers.version(tracer)):
                continue
            lines, _ = bench.log(['-e', expression], [program], tracer)
            shown = re.findall(r'itself->([a-z]\w+)\(', '\n'.join(lines))
            expect(shown == wanted, f'{tracer} -e {expression!r}: ' + '\n'.join(lines))


def times_of_unreturned(bench):
    """What does not return has its time in the table, until the program ends or another call goes on."""
    lines, _ = bench.log(['-c', '-e', 'longjmp+exit+raise'], [bench.build('jumps.c', LAZY, 'jumps')])
    times = {line.split()[4]: float(line.split()[1]) for line in lines if len(line.split()) == 5 and line.split()[3].isdigit()}
    expect(times.get('longjmp', 0) > 0, '\n'.join(lines))
    lines, _ = bench.log(['-c', '-L', '-x', 'main'], [bench.calls()])
    expect(re.search(r'^100\.00 +0\.0*[1-9]\d* +\d+ +1 main$', '\n'.join(lines), re.M), '\n'.join(lines))


def calls_that_events_tell_of(bench):
    """The table of -c has the ends of programs and their new ones, with and without the system calls."""
    program = bench.calls()
    for options in (['-c', '-e', 'puts'], ['-c', '-S', '-e', 'puts'], ['-c', '-L']):
        lines, _ = bench.log(options, ['sh', '-c', f'exec {program}'])
        rows = {line.split()[4]: line.split()[3] for line in lines if len(line.split()) == 5}
        expect((rows.get('exit_group'), rows.get('execve')) == ('1', '1'), f'{options}\n' + '\n'.join(lines))


def one_row_for_a_name(bench):
    """A function and the system call that it makes have one name, and together one row in the table of -c."""
    program = bench.calls()
    for tracer in ('ours', peers.find('ltrace')):
        if tracer is None or (tracer != 'ours' and '0.7.91' not in peers.version(tracer)):
            continue
        lines, _ = bench.log(['-c', '-S', '-e', 'getuid'], [program], tracer)
        expect([line.split()[3] for line in lines if line.endswith(' getuid')] == ['2'], f'{tracer}\n' + '\n'.join(lines))


def startup(bench):
    """Calls of start-up code through stubs are shown, as ltrace shows them; the tracer's own filters leave them out."""
    # 64-bit programs of x86 have no stub there.
    flags = [*LAZY, '-m32'] if os.uname().machine == 'x86_64' else LAZY
    program = bench.calls(flags)
    for options in ([], ['-e', '@MAIN'], ['-l', 'libc.so*']):
        lines, _ = bench.log(options, [program])
        expect(re.search(r'^(calls->)?__libc_start_main\(.* <unfinished \.\.\.>$', '\n'.join(lines), re.M), f'{options}\n' + '\n'.join(lines))
    log = bench.folder / 'log'
    subprocess.run([os.path.realpath(bench.link), '-o', str(log), '-e', 'trace=none', '-e', 'library=@MAIN', str(program)],
                   stdout=subprocess.DEVNULL, timeout=TIMEOUT, check=False)
    expect('puts' in log.read_text() and '__libc_start' not in log.read_text(), log.read_text())


def entry_of_the_program(bench):
    """_start is no call: what -x shows is not inside it."""
    program = bench.calls()
    for tracer in ('ours', peers.find('ltrace')):
        if tracer is None or (tracer != 'ours' and '0.7.91' not in peers.version(tracer)):
            continue
        lines, _ = bench.log(['-L', '-n', '2', '-x', '@MAIN'], [program], tracer)
        expect(any(line.startswith('main(') for line in lines) and not any('_start(' in line for line in lines), f'{tracer}\n' + '\n'.join(lines))


def averages(bench):
    """The time of a single call is that of all of them, to the digit."""
    lines, _ = bench.log(['-c'], [bench.calls()])
    rows = [line.split() for line in lines if re.fullmatch(r' *[\d.]+ +[\d.]+ +\d+ +1 \w+', line)]
    expect(len(rows) > 3 and all(float(row[1]) * 1e6 - int(row[2]) < 0.5 for row in rows), '\n'.join(lines))


def resumed_calls(bench):
    """A system call that another line interrupts goes on under its bare name, as in ltrace."""
    lines, _ = bench.log(['-f', '-S', '-L'], ['sh', '-c', 'sleep 0.1; true'])
    text = '\n'.join(lines)
    expect(re.search(r'<\.\.\. wait4 resumed> ', text) and '@SYS resumed' not in text, text)
    # The event of exec is its end.
    expect('--- Called exec() ---' in text and 'execve resumed' not in text, text)


CASES = {
    'compared': compared([]),
    'compared_signals': compared([], ['a']),
    'compared_callers': compared(['-e', 'puts@MAIN+free@MAIN+getenv@MAIN']),
    'compared_nested': compared(['-n', '4', '-e', 'qsort', '-x', 'compare@MAIN']),
    'compared_entry': compared(['-L', '-x', 'main']),
    'compared_quiet': compared(['-b'], ['a']),
    'compared_values': compared_values,
    'compared_lenses': compared_lenses,
    **{name: text_of(*row) for name, row in TEXTS.items()},
    **{function.__name__: function for function in (prototypes, guesses_of_32_bits, crowded_stack, lenses, files_of_ltrace,
                                                    redefined_types, wrong_prototypes, large_types, without_prototype_files, every_binary,
                                                    linked_structures, thread_ends, prototypes_of_modules,
                                                    half_a_filter,
                                                    children, returns_in_children, deaths, attaching, errors,
                                                    chosen_by_a_resolver, named_with_a_sign, calls_to_itself, names_of_calls,
                                                    names_of_entries, selected, averages, resumed_calls, times_of_unreturned,
                                                    calls_that_events_tell_of, one_row_for_a_name, startup, entry_of_the_program)},
}


def main():
    tracer, sources = sys.argv[1:3]

    def in_a_folder(case):
        with tempfile.TemporaryDirectory(prefix='ltrace.') as folder:
            return case(Bench(os.path.abspath(tracer), sources, folder))

    return run_cases({name: (lambda c=case: in_a_folder(c)) for name, case in CASES.items()}, sys.argv[3:])


if __name__ == '__main__':
    sys.exit(main())
