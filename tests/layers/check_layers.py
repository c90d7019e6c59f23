#!/usr/bin/python3
"""Holds the rooms of src/ apart: who may include and link whom, and where raw system calls may stand.

    check_layers.py ROOT          prints every broken rule of ROOT/src and fails if there is one
    check_layers.py --self-test   breaks each rule once in a scratch tree and expects the complaint
"""

import pathlib
import re
import sys
import tempfile

# A room is a folder of src/. `trace/pipeline*` is a room of its own: it and main meet both engines and decoder.
# What each room may include besides itself: rooms, or single headers of rooms.
MAY_INCLUDE = {
    'base': [],
    'spec': ['base'],
    'spell': ['base', 'spec'],
    'sysc': ['base', 'spec'],
    'trace': ['base', 'spec'],
    'arch': ['base', 'spec', 'trace/memory.h'],
    'process': ['base', 'spec', 'trace', 'library/symbol_filter.h'],
    'ptrace': ['base', 'spec', 'trace', 'arch', 'debuginfo', 'library', 'process'],
    'bpf': ['base', 'spec', 'trace', 'arch', 'process'],
    'replay': ['base', 'spec', 'trace', 'arch'],
    'debuginfo': ['base', 'spec'],
    'library': ['base', 'spec', 'trace', 'arch', 'debuginfo'],
    'stack': ['base', 'spec', 'trace', 'arch', 'debuginfo'],
    'render': ['base', 'spec', 'spell'],
    'decode': ['base', 'spec', 'spell', 'trace/memory.h', 'render/emitter.h'],
    'decoders': ['base', 'spec', 'spell', 'decode', 'trace/memory.h', 'render/emitter.h'],
    'filter': ['base', 'spec', 'trace/event.h'],
    'sink': ['base'],
    'explain': ['base', 'spec', 'spell', 'render/emitter.h', 'render/json_text.h'],
    'cli': ['base', 'spec', 'spell', 'filter'],
    'pipeline': ['base', 'spec', 'spell', 'trace', 'decode', 'decoders', 'render', 'filter', 'sink', 'stack',
                 'explain'],
    'main': None,  # wiring: everything
}

# Raw system calls and the only files that may make them.
WRAPPED = {
    'ptrace': ['ptrace/stopped_thread.cpp'],
    'wait4': ['ptrace/stopped_thread.cpp'],
    # Children of the tracer's own, before and beside tracing.
    'waitpid': ['process/start_program.cpp', 'ptrace/front.cpp', 'sink/command_sink.cpp'],
    'waitid': ['ptrace/stopped_thread.cpp'],
    'close': ['base/unique_fd.cpp'],
}

LONGEST_FILE = 600  # lines

ARCHITECTURE = re.compile(
    r'^\s*#\s*(?:if|ifdef|ifndef|elif)\b.*'
    r'(__x86_64__|__amd64__|__i386__|__aarch64__|__arm__|__ILP32__|__LP64__|__riscv|__BYTE_ORDER|__WORDSIZE)')
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
LIBRARY = re.compile(r'tracer_library\(\s*(\w+)([^)]*)\)')


def room_of(path):
    """The room of a file or header, named relative to src/."""
    if path.startswith('trace/pipeline'):
        return 'pipeline'
    return path.split('/')[0] if '/' in path else 'main'


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


def code_errors(name, text):
    lines = text.count('\n')
    if lines > LONGEST_FILE:
        yield f'{name}: {lines} lines; {LONGEST_FILE} are the limit'
    if not name.startswith('arch/'):
        for number, line in enumerate(text.splitlines(), 1):
            if ARCHITECTURE.match(line):
                yield f'{name}:{number}: a condition on the architecture outside src/arch'
    code = without_comments_and_strings(text)
    for call, homes in WRAPPED.items():
        if name in homes:
            continue
        for match in raw_call(call, text).finditer(code):
            number = code.count('\n', 0, match.end()) + 1
            yield f'{name}:{number}: raw {call}() outside {" and ".join(homes) or "any wrapper"}'


def link_errors(name, text):
    text = re.sub(r'#[^\n]*', '', text)
    for library, arguments in LIBRARY.findall(text):
        allowed = MAY_INCLUDE.get(library)
        if allowed is None:
            continue
        rooms = {entry.split('/')[0] for entry in allowed}
        links = arguments.partition(' LINK')[2] or arguments.partition('\nLINK')[2]
        for linked in re.findall(r'\btracer_(\w+)', links):
            if linked in MAY_INCLUDE and linked not in rooms and linked != library:
                yield f'{name}: tracer_{library} must not link tracer_{linked}'


def errors_of(root):
    source = pathlib.Path(root) / 'src'
    for path in sorted(source.rglob('*')):
        name = path.relative_to(source).as_posix()
        if path.suffix in ('.h', '.cpp', '.c'):
            text = path.read_text()
            yield from include_errors(name, text)
            yield from code_errors(name, text)
        elif path.name == 'CMakeLists.txt':
            yield from link_errors(name, path.read_text())


BREAKS = {  # file, contents, what must be in the complaint (nothing: no complaint)
    'an engine that decodes': ('ptrace/engine.cpp', '#include "decode/decoder.h"\n', 'ptrace must not include decode'),
    'a decoder that knows its engine': ('decode/a.cpp', '#include "trace/engine.h"\n', 'decode must not include trace'),
    'a decoder that reads memory': ('decode/a.cpp', '#include "trace/memory.h"\n', ''),
    'an engine that knows the pipeline': ('ptrace/a.cpp', '#include "trace/pipeline.h"\n', 'must not include trace/pip'),
    'the pipeline': ('trace/pipeline.cpp', '#include "decode/decoder.h"\n#include "trace/engine.h"\n', ''),
    'a new room': ('cellar/a.cpp', '\n', 'not a room'),
    'an architecture': ('decode/a.cpp', '#if defined(__x86_64__)\n#endif\n', 'condition on the architecture'),
    'an architecture at home': ('arch/a.h', '#ifdef __aarch64__\n#endif\n', ''),
    'a raw ptrace': ('ptrace/a.cpp', '#include <sys/ptrace.h>\nvoid f() {\n  ptrace(PTRACE_CONT, 1, 0, 0);\n}\n',
                     'a.cpp:3: raw ptrace()'),
    'a raw close': ('sink/a.cpp', 'void f() { (void)::close(3); }\n', 'raw close()'),
    'a close of its own': ('sink/a.cpp', 'struct S { void close(int how); };\n// ::close(3)\nvoid S::f() { close(1); }\n', ''),
    'a raw close by its plain name': ('sink/a.cpp', '#include <unistd.h>\nvoid f() { close(1); }\n', 'raw close()'),
    'a raw waitpid': ('cli/a.cpp', 'int f() { return ::waitpid(1, 0, 0); }\n', 'raw waitpid()'),
    'a long file': ('base/a.cpp', '\n' * 601, 'are the limit'),
    'a link': ('decode/CMakeLists.txt', 'tracer_library(decode a.cpp\n  LINK tracer_spec tracer_ptrace)\n',
               'tracer_decode must not link tracer_ptrace'),
}


def self_test():
    failed = 0
    for what, (name, text, complaint) in BREAKS.items():
        with tempfile.TemporaryDirectory() as root:
            path = pathlib.Path(root) / 'src' / name
            path.parent.mkdir(parents=True)
            path.write_text(text)
            found = list(errors_of(root))
        if len(found) != (1 if complaint else 0) or (complaint and complaint not in found[0]):
            print(f'{what}: expected {complaint or "no complaint"!r}, got {found}')
            failed += 1
    print(f'{len(BREAKS) - failed} passed, {failed} failed')
    return failed


def main():
    if sys.argv[1] == '--self-test':
        sys.exit(1 if self_test() else 0)
    found = list(errors_of(sys.argv[1]))
    print('\n'.join(found) or 'Every room keeps to itself.')
    sys.exit(1 if found else 0)


main()
