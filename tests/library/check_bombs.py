#!/usr/bin/python3
"""Files of tracees that lead elsewhere, wait for ever or expand: a line in a second, little memory, nothing else opened.

    check_bombs.py TRACER SOURCES [CASE...]     runs all cases, or those whose names begin so
"""

import ctypes
import os
import resource
import select
import struct
import subprocess
import sys
import time
import zlib

from bench import PATIENCE, TIMEOUT, run_in_folder
from cases import expect

# KB of the tracer; the process that reads for it has a limit of its own.
MOST_MEMORY = (300 if os.environ.get('SANITIZED') == '1' else 200) << 10
WAYS = (['-kk', '-e', 'trace=getppid'], ['-e', 'trace=getppid', '-e', 'symbol=*@MAIN', '-e', 'library=*'])


def built(bench, options=(), stripped=False):
    source = bench.folder / 'program.c'
    source.write_text('#include <unistd.h>\nint inner(int n) { return getppid() + n; }\nint main(void) { return inner(1) < 0; }\n')
    program = bench.folder / 'program'
    subprocess.run(['gcc', '-g', '-O0', str(source), '-o', str(program), *options], check=True, timeout=TIMEOUT)
    if stripped:
        subprocess.run(['objcopy', '--strip-all', str(program)], check=True, timeout=TIMEOUT)
    return program


def add_section(program, name, content, *more):
    part = program.parent / 'part'
    part.write_bytes(content)
    subprocess.run(['objcopy', '--remove-section', name, str(program)], check=True, timeout=TIMEOUT)
    subprocess.run(['objcopy', f'--add-section={name}={part}', *more, str(program)], check=True, timeout=TIMEOUT)


def add_link(program, name, checksum=0):
    text = name.encode() + b'\0'
    add_section(program, '.gnu_debuglink', text + bytes(-len(text) % 4) + struct.pack('<I', checksum))


def watch(path):
    """A descriptor that can be read once the file has been opened (inotify(7)); O_PATH opens nothing."""
    libc = ctypes.CDLL(None, use_errno=True)
    watcher = libc.inotify_init1(os.O_CLOEXEC)
    in_open = 0x20
    expect(libc.inotify_add_watch(watcher, os.fsencode(path), in_open) >= 0, os.strerror(ctypes.get_errno()))
    return watcher


def expect_quick(bench, program, ways=WAYS, never_opened=None, quick=1.0):
    """The tracer comes to an end, soon, with the calls of the program, and has not needed much memory."""
    for options in ways:
        log = bench.folder / 'log'
        command = [bench.tracer, '-q', '-o', str(log), *options, str(program)]
        watched = watch(never_opened) if never_opened else None
        started = time.monotonic()
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, timeout=TIMEOUT, env=dict(os.environ, DEBUGINFOD_URLS=''), stderr=subprocess.PIPE)
        took = time.monotonic() - started
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = used.ru_utime + used.ru_stime - usage.ru_utime - usage.ru_stime
        text = log.read_text()
        expect('getppid(' in text, f'{options}: {text}')
        expect(processor < quick + 2 and took < PATIENCE, f'{options}: it took {took:.1f} s, {processor:.1f} s of processor')
        expect(used.ru_maxrss < MOST_MEMORY, f'{options}: {used.ru_maxrss} KB')
        if watched is not None:
            expect(not select.select([watched], [], [], 0)[0], f'{options}: {never_opened} was opened')
            os.close(watched)


def linked_to_a_fifo(bench):
    program = built(bench, stripped=True)
    os.mkfifo(bench.folder / 'fifo')
    add_link(program, 'fifo')
    expect_quick(bench, program, never_opened=bench.folder / 'fifo')


def linked_out_of_its_directory(bench):
    secret = bench.folder / 'secret'
    secret.write_bytes(b'secret')
    (bench.folder / 'below').mkdir()
    program = built(bench, stripped=True)
    add_link(program, '../secret', zlib.crc32(b'secret'))
    moved = bench.folder / 'below' / 'program'
    program.rename(moved)
    expect_quick(bench, moved, never_opened=secret)


def linked_to_zeros(bench):
    program = built(bench, stripped=True)
    (bench.folder / 'zeros').symlink_to('/dev/zero')
    add_link(program, 'zeros')
    expect_quick(bench, program)


def linked_to_holes(bench):
    program = built(bench, stripped=True)
    with open(bench.folder / 'holes', 'wb') as holes:
        holes.truncate(100 << 30)
    add_link(program, 'holes')
    expect_quick(bench, program)


def alternate_fifo(bench):
    program = built(bench)
    fifo = bench.folder / 'fifo'
    if not fifo.exists():
        os.mkfifo(fifo)
    add_section(program, '.gnu_debugaltlink', str(fifo).encode() + b'\0' + bytes(20))
    expect_quick(bench, program, never_opened=bench.folder / 'fifo')


def split_fifo(bench):
    """.dwo files are found by libdw itself."""
    program = built(bench, ['-gsplit-dwarf'])
    for path in bench.folder.glob('*.dwo'):
        path.unlink()
        os.mkfifo(path)
    expect_quick(bench, program, never_opened=next(bench.folder.glob('*.dwo')))


def compressed_lines(bench):
    """75 KB become 60 million rows."""
    program = built(bench)
    # DWARF 4, one file; then special opcodes.
    before = struct.pack('<BBBBbBB', 1, 1, 1, 1, -5, 14, 13) + bytes([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]) + b'\0a.c\0\0\0\0\0'
    before = struct.pack('<I', len(before)) + before
    rows = bytes([0, 9, 2]) + struct.pack('<Q', 0x1000) + b'\x20' * 60_000_000 + bytes([0, 1, 1])
    unit = struct.pack('<H', 4) + before + rows
    table = struct.pack('<I', len(unit)) + unit
    add_section(program, '.debug_line', table)
    subprocess.run(['objcopy', '--compress-debug-sections=zlib', str(program)], check=True, timeout=TIMEOUT)
    expect(program.stat().st_size < 1 << 20, f'{program.stat().st_size} bytes')
    expect_quick(bench, program)


def old_compression(bench):
    program = built(bench)
    for name in ('line', 'str', 'abbrev'):
        add_section(program, f'.zdebug_{name}', b'ZLIB' + struct.pack('>Q', 4 << 30) + zlib.compress(bytes(64 << 20)))
    subprocess.run(['objcopy', '--remove-section', '.debug_line', '--remove-section', '.debug_str', str(program)],
                   check=True, timeout=TIMEOUT)
    expect_quick(bench, program)


class Elf:
    """A 64-bit ELF file whose section headers are changed."""

    def __init__(self, path):
        self.path = path
        self.bytes = bytearray(path.read_bytes())
        self.table, = struct.unpack_from('<Q', self.bytes, 40)
        self.count, self.names = struct.unpack_from('<HH', self.bytes, 60)

    def headers(self):
        return [list(struct.unpack_from('<IIQQQQIIQQ', self.bytes, self.table + 64 * i)) for i in range(self.count)]

    def write(self, headers, size=0, count=None):
        table = len(self.bytes)
        self.bytes += b''.join(struct.pack('<IIQQQQIIQQ', *header) for header in headers)
        struct.pack_into('<Q', self.bytes, 40, table)
        struct.pack_into('<H', self.bytes, 60, len(headers) if count is None else count)
        self.path.write_bytes(self.bytes)
        if size:
            with open(self.path, 'r+b') as file:
                file.truncate(size)


def overlapping_symbols(bench):
    program = built(bench)
    elf = Elf(program)
    headers = elf.headers()
    symbols = next(h for h in headers if h[1] == 2)
    size = 360 << 20
    symbols[5] = size - symbols[4]
    elf.write(headers + [list(symbols) for _ in range(20)], size)
    expect_quick(bench, program)


def many_sections(bench):
    program = built(bench)
    elf = Elf(program)
    headers = elf.headers()
    headers[0][5] = 60_000_000
    elf.write(headers, 4 << 30, 0)
    expect_quick(bench, program)


def sparse_dynamic(bench):
    program = built(bench)
    elf = Elf(program)
    headers = elf.headers()
    dynamic = next(h for h in headers if h[1] == 6)
    dynamic[4], dynamic[5] = len(elf.bytes), 9 << 30
    elf.write(headers, 10 << 30)
    expect_quick(bench, program)


def missing_interpreter(bench):
    """--explain looks at the file, too."""
    for bomb in (many_sections, sparse_dynamic):
        program = built(bench, ['-Wl,--dynamic-linker=/nonexistent/loader'])
        elf = Elf(program)
        headers = elf.headers()
        if bomb is many_sections:
            headers[0][5] = 60_000_000
            elf.write(headers, 4 << 30, 0)
        else:
            dynamic = next(h for h in headers if h[1] == 6)
            dynamic[4], dynamic[5] = len(elf.bytes), 9 << 30
            elf.write(headers, 10 << 30)
        done = subprocess.run([bench.tracer, '--explain', str(program)], capture_output=True, text=True, timeout=TIMEOUT)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        expect(used.ru_maxrss < MOST_MEMORY, f'{used.ru_maxrss} KB')
        expect('program' in done.stderr, done.stderr)


def perf_map(bench):
    """A map that grows all the time, and never has the address."""
    source = bench.folder / 'jit.c'
    source.write_text(r'''
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
  char name[64];
  snprintf(name, sizeof name, "/tmp/perf-%d.map", getpid());
  FILE *map = fopen(name, "w");
  for (unsigned i = 0; i < 1500000; ++i) {
    fprintf(map, "%x 1 function_with_a_name_%u\n", i, i);
  }
  fflush(map);
  unsigned char *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(code, "\xb8\x6e\x00\x00\x00\x0f\x05\xc3", 8);  /* mov $110,%eax; syscall; ret */
  for (int i = 0; i < 10; ++i) {
    ((int (*)(void))code)();
    fprintf(map, "%x 1 another\n", i);
    fflush(map);
  }
  fprintf(map, "%lx 8 the_function\n", (unsigned long)code);
  fflush(map);
  ((int (*)(void))code)();
  unlink(name);
  return 0;
}
''')
    program = bench.folder / 'jit'
    subprocess.run(['gcc', '-w', str(source), '-o', str(program)], check=True, timeout=TIMEOUT)
    expect_quick(bench, program, (['-k', '-e', 'trace=getppid'],), quick=1.5)
    expect('(the_function+0x7)' in (bench.folder / 'log').read_text(), (bench.folder / 'log').read_text()[-500:])


def main():
    cases = (linked_to_a_fifo, linked_out_of_its_directory, linked_to_zeros, linked_to_holes, alternate_fifo, split_fifo,
             compressed_lines, old_compression, overlapping_symbols, many_sections, sparse_dynamic, missing_interpreter)
    if os.uname().machine == 'x86_64':
        cases += (perf_map,)
    return run_in_folder({case.__name__: case for case in cases})


if __name__ == '__main__':
    sys.exit(main())
