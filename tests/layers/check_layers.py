#!/usr/bin/python3
"""Holds the rooms of src/ apart: who may include and link whom, and where raw system calls may stand.

    check_layers.py ROOT          prints every broken rule of ROOT/src and fails if there is one
    check_layers.py --self-test   breaks each rule once in a scratch tree and expects the complaint
"""

import pathlib
import re
import sys
import tempfile

# A room is a directory of src/ or one below it that has a row of its own, with the directories below that have none.
# What each room may include besides itself: rooms, and of two rooms their contract alone: trace/memory.h and
# render/emitter.h.
MAY_INCLUDE = {
    'base': [],
    'proc': ['base'],
    'proc/cgroups': ['base', 'proc'],
    'spec': ['base'],
    'format': ['base', 'spec'],
    'sysc': ['base', 'spec', 'capture'],
    'trace': ['base', 'proc', 'spec'],
    'arch': ['base', 'spec', 'format', 'trace'],
    'debuginfo': ['base', 'proc', 'spec', 'arch'],
    'stack': ['base', 'proc', 'spec', 'trace', 'arch', 'debuginfo'],
    'process': ['base', 'proc', 'proc/cgroups', 'spec', 'trace'],
    'ptrace': ['base', 'proc', 'spec', 'trace', 'arch', 'process'],
    'functions': ['base', 'proc', 'spec', 'trace', 'arch', 'debuginfo', 'functions/library', 'ptrace'],
    'functions/library': ['base', 'proc', 'spec', 'trace', 'arch', 'debuginfo'],
    'capture': ['base', 'spec', 'trace'],
    'bpf': ['base', 'proc', 'proc/cgroups', 'spec', 'trace', 'arch', 'process', 'capture', 'filter'],
    'inprocess': ['base', 'proc', 'spec', 'trace', 'arch', 'process', 'capture', 'ptrace'],
    'render': ['base', 'spec', 'format'],
    'names': ['base', 'proc', 'spec', 'format', 'trace'],
    'decode': ['base', 'spec', 'format', 'names', 'trace/memory.h', 'render/emitter.h'],
    'decoders': ['base', 'spec', 'format', 'names', 'decode', 'trace/memory.h', 'render/emitter.h'],
    'filter': ['base', 'spec', 'trace'],
    'explain': ['base', 'proc', 'spec', 'format', 'debuginfo', 'render/emitter.h'],
    # Options are stored as the enums of those who consume them.
    'cli': ['base', 'proc/cgroups', 'spec', 'format', 'filter', 'process', 'render'],
    'pipeline': ['base', 'proc', 'spec', 'format', 'trace', 'arch', 'names', 'decode', 'decoders', 'render', 'filter', 'stack',
                 'explain', 'pipeline/exports', 'pipeline/sink'],
    'pipeline/exports': ['base', 'proc', 'spec', 'trace'],
    'pipeline/sink': ['base'],
    'replay': ['base', 'proc', 'spec', 'trace', 'names', 'decode', 'decoders', 'filter', 'pipeline'],
    'replay/viewer': ['base', 'spec', 'trace', 'names', 'decode', 'filter', 'render', 'pipeline', 'pipeline/sink', 'replay'],
    'app': None,  # wiring: everything
}

# Raw system calls and the only files that may make them.
WRAPPED = {
    'ptrace': ['ptrace/stopped_thread.cpp'],
    'wait4': ['ptrace/stopped_thread.cpp'],
    # Children of the tracer's own, before and beside tracing.
    'waitpid': ['base/child.cpp'],
    'waitid': ['ptrace/stopped_thread.cpp'],
    'close': ['base/unique_fd.cpp'],
}

# Files of tracees come through one door each: proc/tracee_file.h opens them, debuginfo/elf_handle.h checks them. libdwfl
# must not search for files by itself.
DOORS = {
    'elf_begin': ['debuginfo/elf_limits.cpp'],
    'elf_memory': ['debuginfo/elf_limits.cpp'],
    'dwarf_begin': [],
    'dwfl_standard_find_debuginfo': [],
    'dwfl_build_id_find_debuginfo': [],
}
# Rooms that read files of tracees and nothing else.
READING_ROOMS = ('debuginfo', 'functions/library', 'stack')

MOST_DIRECTORIES = 25  # of src/ itself

LONGEST_FILE = 600  # lines
MOST_MEMBERS = 40   # of a class: functions and data of its own, not constructors, nested types and overrides

# What the compiler says of the machine that it compiles for, and what the machine's own headers name: registers, their
# sets, requests and calls that other machines lack.
ARCHITECTURE = re.compile(
    r'(__x86_64\w*|__amd64\w*|__i[3-6]86\w*|__aarch64\w*|__ARM_\w+|__arm\w*|__ILP32__|_?_LP64\w*|__riscv\w*|__BYTE_ORDER\w*'
    r'|__WORDSIZE\w*|__SIZEOF_(?:POINTER|LONG|SIZE_T)__|__(?:POINTER|LONG)_(?:WIDTH|MAX)__|__TARGET_ARCH_\w+'
    r'|user_\w*regs_struct|user_pt_regs|PTRACE_[GS]ETREGS\b|NT_(?:ARM|X86)_\w+|REG_R[AISD]\w|orig_[re]ax'
    r'|SYS_arch_prctl|__builtin_(?:ia32|arm|aarch64)_\w+)')
# Headers of one machine.
MACHINE_HEADER = re.compile(
    r'^\s*#\s*include\s*[<"]((?:asm/(?!unistd|ioctls|posix_types|types)|sys/(?:user|reg|io|vm86)\.h|\w*intrin\.h|arm_|Zydis/|arch/\w+/)[^>"]*)', re.M)
# What CMake says of it.
PROCESSOR = re.compile(r'CMAKE_(?:SYSTEM|HOST_SYSTEM)_PROCESSOR|CMAKE_LIBRARY_ARCHITECTURE\s+(?:MATCHES|STREQUAL)|CMAKE_SIZEOF_VOID_P')
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
LIBRARY = re.compile(r'tracer_library\(\s*(\w+)([^)]*)\)')


def room_of(path):
    """The room of a file or header, named relative to src/: its innermost directory with a row, or the outermost."""
    directories = path.split('/')[:-1]
    for depth in range(len(directories), 0, -1):
        if '/'.join(directories[:depth]) in MAY_INCLUDE:
            return '/'.join(directories[:depth])
    return directories[0] if directories else ''


def without_comments_and_strings(text):
    def blank(match):
        kept = '""' if match.group(0).startswith('"') else ' '
        return kept + '\n' * match.group(0).count('\n')

    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def raw_call(name, text):
    if '<unistd.h>' not in text and '<sys/' not in text:
        return re.compile(r'(?<!\w)::\s*%s\s*\(' % name)
    # A call and no declaration, no member: nothing but punctuation or `return` before it, and an argument after.
    return re.compile(r'(?:^|[^\w\s.>~]|\breturn|[^-]>)\s*\b%s\s*\(\s*[^)\s]' % name, re.M)


def include_errors(name, text):
    room = room_of(name)
    if room not in MAY_INCLUDE:
        yield f'{name}: src/{room} is not a room that tests/layers knows'
        return
    allowed = MAY_INCLUDE[room]
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match or allowed is None or '/' not in match[1]:
            continue
        header = match[1]
        if room_of(header) not in (room, *allowed) and header not in allowed:
            yield f'{name}:{number}: {room} must not include {header}'


def namespace_of(name):
    """Namespace = directory. What a machine has stands in the namespace of arch, whose functions it implements; base
    is an inline namespace of tracer."""
    if room_of(name) == 'base':
        return 'tracer'
    directories = name.split('/')[:-1]
    return 'tracer::' + ('arch' if directories[0] == 'arch' else '::'.join(directories))


def namespace_errors(name, text):
    if '.bpf.' in name or room_of(name) not in MAY_INCLUDE:
        return
    expected = namespace_of(name)
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'namespace (tracer[\w: ]*?) \{', line)
        if match and match[1] != expected and not match[1].startswith(expected + '::'):
            yield f'{name}:{number}: the namespace of {name.rpartition("/")[0]}/ is {expected}'


def code_errors(name, text):
    lines = text.count('\n')
    if lines > LONGEST_FILE:
        yield f'{name}: {lines} lines; {LONGEST_FILE} are the limit'
    code = without_comments_and_strings(text)
    if room_of(name) != 'arch':
        for found, where in ((ARCHITECTURE, code), (MACHINE_HEADER, text)):
            for match in found.finditer(where):
                number = where.count('\n', 0, match.start(1)) + 1
                yield f'{name}:{number}: the architecture is known outside src/arch: {match[1]}'
    for call, homes in DOORS.items():
        if name not in homes and re.search(r'(?<!\w)%s\s*\(' % call, code):
            yield f'{name}: {call}() outside {" and ".join(homes) or "any file"}'
    if room_of(name) in READING_ROOMS:
        for match in re.finditer(r'(?<![\w>])::open(?:at|at2)?\s*\(|SYS_open\w*|\bstd::ifstream\b', code):
            number = code.count('\n', 0, match.end()) + 1
            if 'proc::proc_path(' not in code[match.end():match.end() + 40]:
                yield f'{name}:{number}: a file of a tracee is opened outside proc/tracee_file.h'
    for call, homes in WRAPPED.items():
        if name in homes:
            continue
        for match in raw_call(call, text).finditer(code):
            number = code.count('\n', 0, match.end()) + 1
            yield f'{name}:{number}: raw {call}() outside {" and ".join(homes) or "any wrapper"}'


CLASS = re.compile(r'\b(?:class|struct)\s+([A-Za-z_]\w*)\s*(?:final\s*)?(?::[^:;{}][^;{}]*)?\{')
BODY_OF_FUNCTION = re.compile(r'\)[^{}=]*\{\}$', re.S)


def is_member(declaration):
    declaration = re.sub(r'\b(?:public|private|protected)\s*:|template\s*<[^>]*>+', ' ', declaration).strip()
    if re.match(r'(?:using|friend|enum|class|struct|union|static_assert)\b', declaration):
        return False
    if re.match(r'(?:explicit\s+|constexpr\s+)*[A-Z]\w*\s*\(', declaration):
        return False
    return bool(declaration) and not re.search(r'\b(?:override|final|operator|delete)\b|~', declaration)


def members_of(body):
    """The declarations at the top of a class's body, counted."""
    count = depth = 0
    declaration = ''
    for character in body:
        opens, closes = character in '{(', character in '})'
        if depth == 0 and not closes and character != ';' or depth == 1 and closes:
            declaration += character
        depth += opens - closes
        if depth == 0 and (character == ';' or character == '}' and BODY_OF_FUNCTION.search(declaration)):
            count += is_member(declaration)
            declaration = ''
    return count


def class_errors(name, text):
    code = re.sub(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', '', without_comments_and_strings(text), flags=re.M)
    for match in CLASS.finditer(code):
        depth, end = 1, match.end()
        while depth and end < len(code):
            depth += (code[end] == '{') - (code[end] == '}')
            end += 1
        members = members_of(code[match.end():end - 1])
        if members > MOST_MEMBERS:
            yield f'{name}: {match[1]} has {members} members; {MOST_MEMBERS} are the limit'


def library_of(room):
    return room.replace('/', '_')


LIBRARIES = {library_of(room): allowed for room, allowed in MAY_INCLUDE.items()}


def link_errors(name, text):
    text = re.sub(r'#[^\n]*', '', text)
    if room_of(name) != 'arch':
        for match in PROCESSOR.finditer(text):
            yield f'{name}: the architecture is known outside src/arch: {match[0]}'
    for library, arguments in LIBRARY.findall(text):
        allowed = LIBRARIES.get(library)
        if allowed is None:
            continue
        rooms = {library_of(entry if entry in MAY_INCLUDE else room_of(entry)) for entry in allowed}
        links = arguments.partition(' LINK')[2] or arguments.partition('\nLINK')[2]
        for linked in re.findall(r'\btracer_(\w+)', links):
            if linked in LIBRARIES and linked not in rooms and linked != library:
                yield f'{name}: tracer_{library} must not link tracer_{linked}'


def errors_of(root):
    source = pathlib.Path(root) / 'src'
    directories = sum(path.is_dir() for path in source.iterdir())
    if directories > MOST_DIRECTORIES:
        yield f'src has {directories} directories; {MOST_DIRECTORIES} are the limit'
    for path in sorted(source.rglob('*')):
        name = path.relative_to(source).as_posix()
        if path.suffix in ('.h', '.cpp', '.c'):
            text = path.read_text()
            yield from include_errors(name, text)
            yield from namespace_errors(name, text)
            yield from code_errors(name, text)
            yield from class_errors(name, text)
        elif path.name == 'CMakeLists.txt':
            yield from link_errors(name, path.read_text())


BREAKS = {  # file, contents, what must be in the complaint (nothing: no complaint)
    'an engine that decodes': ('ptrace/engine.cpp', '#include "decode/decoder.h"\n', 'ptrace must not include decode'),
    'a decoder that knows its engine': ('decode/a.cpp', '#include "trace/engine.h"\n', 'decode must not include trace'),
    'a decoder that reads memory': ('decode/a.cpp', '#include "trace/memory.h"\n', ''),
    'an engine that knows the pipeline': ('ptrace/a.cpp', '#include "pipeline/view.h"\n', 'must not include pipeline'),
    'a compiler that knows an engine': ('sysc/a.cpp', '#include "bpf/tracing.h"\n', 'sysc must not include bpf'),
    'an engine that traces functions itself': ('ptrace/a.cpp', '#include "functions/breakpoints.h"\n', 'must not include functions'),
    'the pipeline': ('pipeline/views/a.cpp', '#include "decode/decoder.h"\n#include "trace/engine.h"\n', ''),
    'a file in no room': ('main.cpp', '\n', 'is not a room'),
    'another namespace': ('names/a.cpp', 'namespace tracer::decode {\n}\n', 'a.cpp:1: the namespace of names/ is tracer::names'),
    'a namespace of its own': ('pipeline/views/a.cpp', 'namespace tracer::pipeline::views {\nnamespace {\n}\n}\n', ''),
    'a room in a room': ('proc/cgroups/a.cpp', '#include "proc/mounts.h"\n', ''),
    'a room that its outer room must not know': ('proc/a.cpp', '#include "proc/cgroups/tree.h"\n', 'proc must not include proc/cgroups'),
    'a room with less than its outer room': ('pipeline/exports/a.cpp', '#include "decode/decoder.h"\n',
                                             'pipeline/exports must not include decode'),
    'a room that others reach through its outer room': ('replay/a.cpp', '#include "pipeline/sink/sink.h"\n', 'replay must not include'),
    'a namespace in a namespace': ('proc/cgroups/a.cpp', 'namespace tracer::cgroups {\n}\n', 'is tracer::proc::cgroups'),
    'a new room': ('cellar/a.cpp', '\n', 'not a room'),
    'an architecture': ('decode/a.cpp', '#if defined(__x86_64__)\n#endif\n', 'a.cpp:1: the architecture is known'),
    'an architecture further down': ('decode/a.cpp', '#if SURE && \\\n  !defined(__ARM_EABI__)\n#endif\n', 'a.cpp:2: the arch'),
    'an architecture in a comment': ('decode/a.cpp', '// not only where __x86_64__ is\n', ''),
    'registers by name': ('ptrace/a.cpp', 'user_regs_struct all;\n', 'user_regs_struct'),
    'a set of registers of one machine': ('ptrace/a.cpp', 'constexpr int set = NT_ARM_SYSTEM_CALL;\n', 'NT_ARM_SYSTEM_CALL'),
    'any set of registers': ('ptrace/a.cpp', 'constexpr int set = NT_PRSTATUS;\n', ''),
    'registers by header': ('ptrace/a.cpp', '#include <sys/user.h>\n', 'sys/user.h'),
    'one of the machines': ('ptrace/a.cpp', '#include "arch/aarch64/registers.h"\n', 'arch/aarch64/registers.h'),
    'any machine': ('ptrace/a.cpp', '#include "arch/arch.h"\n', ''),
    'an architecture in CMake': ('bpf/CMakeLists.txt', 'if(CMAKE_SYSTEM_PROCESSOR MATCHES arm)\nendif()\n', 'CMAKE_SYSTEM_PROC'),
    'an architecture at home': ('arch/a.h', '#ifdef __aarch64__\n#endif\n', ''),
    'a raw ptrace': ('ptrace/a.cpp', '#include <sys/ptrace.h>\nvoid f() {\n  ptrace(PTRACE_CONT, 1, 0, 0);\n}\n',
                     'a.cpp:3: raw ptrace()'),
    'a raw close': ('pipeline/sink/a.cpp', 'void f() { (void)::close(3); }\n', 'raw close()'),
    'a close of its own': ('pipeline/sink/a.cpp', 'struct S { void close(int how); };\n// ::close(3)\nvoid S::f() { close(1); }\n', ''),
    'a raw close by its plain name': ('pipeline/sink/a.cpp', '#include <unistd.h>\nvoid f() { close(1); }\n', 'raw close()'),
    'a second door for ELF': ('functions/library/a.cpp', 'void f() { ::elf_begin(3, ELF_C_READ, nullptr); }\n', 'elf_begin() outside'),
    'a search of its own': ('debuginfo/a.cpp', 'auto f = ::dwfl_standard_find_debuginfo(m);\n', 'outside any file'),
    'a second door for files': ('stack/a.cpp', 'int f() { return ::open(path, O_RDONLY); }\n', 'a.cpp:1: a file of a tracee'),
    'a file of proc': ('stack/a.cpp', 'int f() { return ::open(proc::proc_path(tid, "mem").c_str(), O_RDONLY); }\n', ''),
    'a raw waitpid': ('cli/a.cpp', 'int f() { return ::waitpid(1, 0, 0); }\n', 'raw waitpid()'),
    'a long file': ('base/a.cpp', '\n' * 601, 'are the limit'),
    'a large class': ('decode/a.h', 'class C {\n' + '  int f() { return 1; }\n  int a_ = {0};\n' * 21 + '};\n', 'C has 42 members'),
    'a class that implements a large interface': ('decode/a.h', 'class C : B {\n' + '  int f() override;\n' * 50 + '};\n', ''),
    'a link': ('decode/CMakeLists.txt', 'tracer_library(decode a.cpp\n  LINK tracer_spec tracer_ptrace)\n',
               'tracer_decode must not link tracer_ptrace'),
    'a link to a room in a room': ('replay/CMakeLists.txt', 'tracer_library(replay a.cpp\n  LINK tracer_pipeline tracer_pipeline_sink)\n',
                                   'tracer_replay must not link tracer_pipeline_sink'),
    'a link from a room in a room': ('pipeline/sink/CMakeLists.txt', 'tracer_library(pipeline_sink a.cpp LINK tracer_base tracer_spec)\n',
                                     'tracer_pipeline_sink must not link tracer_spec'),
}


def self_test():
    failed = 0
    with tempfile.TemporaryDirectory() as root:
        for number in range(MOST_DIRECTORIES + 1):
            (pathlib.Path(root) / 'src' / str(number)).mkdir(parents=True)
        if list(errors_of(root)) != [f'src has {MOST_DIRECTORIES + 1} directories; {MOST_DIRECTORIES} are the limit']:
            print('too many directories: no complaint')
            failed += 1
    for what, (name, text, complaint) in BREAKS.items():
        with tempfile.TemporaryDirectory() as root:
            path = pathlib.Path(root) / 'src' / name
            path.parent.mkdir(parents=True)
            path.write_text(text)
            found = list(errors_of(root))
        if len(found) != (1 if complaint else 0) or (complaint and complaint not in found[0]):
            print(f'{what}: expected {complaint or "no complaint"!r}, got {found}')
            failed += 1
    print(f'{len(BREAKS) + 1 - failed} passed, {failed} failed')
    return failed


def main():
    if sys.argv[1] == '--self-test':
        sys.exit(1 if self_test() else 0)
    found = list(errors_of(sys.argv[1]))
    print('\n'.join(found) or 'Every room keeps to itself.')
    sys.exit(1 if found else 0)


main()
