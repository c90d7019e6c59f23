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

SANITIZED = os.environ.get('SANITIZED') == '1'
# KB of the tracer; the process that reads for it has a limit of its own.
MOST_MEMORY = (300 if SANITIZED else 200) << 10
# What a case may take of the processor is meant for a program without sanitizers, which make it several times slower.
SLOWER = 4 if SANITIZED else 1
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


def run_measured(bench, options, program, output):
    """What has ended, and the seconds that it took, of the clock and of processor; prints the figures. It may not need
    much memory."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    done = subprocess.run([bench.tracer, '-q', '-o', str(output), *options, str(program)], timeout=TIMEOUT,
                          env=dict(os.environ, DEBUGINFOD_URLS=''), stderr=subprocess.PIPE)
    took = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f'  {" ".join(options)}: {took:.2f} s, {processor:.2f} s of processor, {after.ru_maxrss >> 10} MB', flush=True)
    expect(after.ru_maxrss < MOST_MEMORY, f'{options}: {after.ru_maxrss} KB')
    return done, took, processor


def expect_quick(bench, program, ways=WAYS, never_opened=None, quick=1.0):
    """The tracer comes to an end, soon, with the calls of the program, and has not needed much memory."""
    for options in ways:
        log = bench.folder / 'log'
        watched = watch(never_opened) if never_opened else None
        _, took, processor = run_measured(bench, options, program, log)
        text = log.read_text()
        expect('getppid(' in text, f'{options}: {text}')
        expect(processor < (quick + 2) * SLOWER and took < PATIENCE, f'{options}: it took {took:.1f} s, {processor:.1f} s of processor')
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


CODE = r'"\xb8\x6e\x00\x00\x00\x0f\x05\xc3"'  # mov $110,%eax; syscall; ret


def compiled(bench, text, *options):
    source = bench.folder / 'made.c'
    source.write_text(text)
    program = bench.folder / 'made'
    subprocess.run(['gcc', '-w', '-O1', str(source), '-o', str(program), '-pthread', *options], check=True,
                   timeout=TIMEOUT)
    return program


def expect_little(bench, program, *options, quick=3.0):
    """As expect_quick(), where there is much output."""
    done, _, processor = run_measured(bench, options, program, '/dev/null')
    expect(done.returncode == 0, f'status {done.returncode}: {done.stderr}')
    expect(processor < quick * SLOWER, f'{options}: {processor:.1f} s of processor')


def code_in_the_heap(bench):
    """What changes all the time and has a name, but is no file."""
    program = compiled(bench, r'''
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
  const size_t size = 40 << 20;
  char *heap = (char *)(((uintptr_t)sbrk(size + 8192) + 4095) & ~(uintptr_t)4095);
  for (int i = 0; i < 20; ++i) {
    mprotect(heap, size, PROT_READ | PROT_WRITE);
    memcpy(heap, CODE, 8);
    heap[100] = i;
    mprotect(heap, size - 4096L * i, PROT_READ | PROT_EXEC);
    ((int (*)(void))heap)();
  }
  return 0;
}
'''.replace('CODE', CODE))
    expect_quick(bench, program, (['-k', '-e', 'trace=getppid'],))


def touched_file(bench):
    """A file with many symbols that seems to be another one each time."""
    library = bench.folder / 'touched.so'
    source = bench.folder / 'touched.c'
    source.write_text(f'__attribute__((section(".text"))) const unsigned char code[] = {CODE};')
    subprocess.run(['gcc', '-w', '-shared', '-nostdlib', str(source), '-o', str(library)], check=True, timeout=TIMEOUT)
    elf = Elf(library)
    headers = elf.headers()
    symbols = next(h for h in headers if h[1] == 2)
    symbols[4], symbols[7] = len(elf.bytes), 0
    functions = b''.join(struct.pack('<IBBHQQ', 1, 2, 0, 1, i, 1) for i in range(1000)) * 1000
    symbols[5] = len(functions)
    elf.bytes += functions
    elf.write(headers)
    program = compiled(bench, r'''
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  const int file = open("LIBRARY", O_RDONLY);
  for (int i = 0; i < 40; ++i) {
    struct timespec times[2] = {{1, i}, {1, i}};
    futimens(file, times);
    char *code = mmap(0, 1 << 16, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    for (int at = 0; at < 1 << 14; ++at) {
      if (__builtin_memcmp(code + at, CODE, 8) == 0) {
        ((int (*)(void))(code + at))();
        break;
      }
    }
  }
  return 0;
}
'''.replace('LIBRARY', str(library)).replace('CODE', CODE))
    expect_little(bench, program, '-k', '-e', 'trace=getppid', quick=20)


def long_names(bench):
    """Names that differ, are long, and have their bytes in common in the file."""
    count = 16000
    program = compiled(bench, f'''
__asm__(".text\\n.globl stubs\\nstubs:\\n.rept {count}\\nmov $110,%eax\\nsyscall\\nret\\n.endr\\n");
extern char stubs[];
int main(void) {{
  for (int i = 0; i < {count}; ++i) {{
    ((int (*)(void))(stubs + 8 * i))();
  }}
  return 0;
}}
''')
    elf = Elf(program)
    headers = elf.headers()
    number, symbols = next((i, h) for i, h in enumerate(headers) if h[1] == 2)
    strings = headers[symbols[6]]
    table = bytes(elf.bytes[symbols[4]:symbols[4] + symbols[5]])
    names = bytes(elf.bytes[strings[4]:strings[4] + strings[5]])
    at = next(struct.unpack_from('<IBBHQQ', table, i) for i in range(0, len(table), 24)
              if names[struct.unpack_from('<I', table, i)[0]:].startswith(b'stubs\0'))
    added = b''.join(struct.pack('<IBBHQQ', len(names) + i, 2, 0, at[3], at[4] + 8 * i, 8) for i in range(count))
    strings[4], strings[5] = len(elf.bytes), len(names) + count + 16385
    elf.bytes += names + b'n' * (count + 16384) + b'\0'
    symbols[4], symbols[5], symbols[7] = len(elf.bytes), len(table) + len(added), 0
    elf.bytes += table + added
    elf.write(headers)
    expect_little(bench, program, '-k', '-e', 'trace=getppid', quick=10)


def costly_questions(bench):
    """Each address takes less time than one may, and there are thousands."""
    depth, sites = 10, 3000
    functions = ''.join(f'static inline __attribute__((always_inline)) int f{i}(void) {{ return f{i - 1}(); }}\n'
                        for i in range(1, depth))
    program = compiled(bench, f'''
static inline __attribute__((always_inline)) int f0(void) {{
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(110) : "rcx", "r11", "memory");
  return (int)result;
}}
{functions}
int main(void) {{
  {f"f{depth - 1}();" * sites}
  return 0;
}}
''', '-g')
    expect_little(bench, program, '-kk', '-e', 'trace=getppid', quick=10)


def perf_map_of_threads(bench):
    """Threads end, and the map is put in its place anew each time."""
    program = compiled(bench, r'''
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static void *end(void *nothing) {
  return nothing;
}
int main(void) {
  char name[2][64];
  for (int k = 0; k < 2; ++k) {
    snprintf(name[k], sizeof name[k], "/tmp/perf-%d.map%s", getpid(), k == 0 ? "" : ".2");
    FILE *map = fopen(name[k], "w");
    for (unsigned i = 0; i < 1000000; ++i) {
      fprintf(map, "%x 1 function_with_a_name_%u\n", i, i);
    }
    fclose(map);
  }
  unsigned char *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(code, CODE, 8);
  for (int i = 0; i < 60; ++i) {
    pthread_t thread;
    pthread_create(&thread, 0, end, 0);
    pthread_join(thread, 0);
    rename(name[0], "/tmp/perf.made");
    rename(name[1], name[0]);
    rename("/tmp/perf.made", name[1]);
    ((int (*)(void))code)();
  }
  unlink(name[0]);
  unlink(name[1]);
  return 0;
}
'''.replace('CODE', CODE))
    expect_quick(bench, program, (['-f', '-k', '-e', 'trace=getppid'],), quick=5)


class Made:
    """A 64-bit ELF file that is put together: what its headers name comes behind them."""

    def __init__(self):
        self.segments, self.sections, self.bytes = [], [], bytearray(1 << 16)

    def add(self, content):
        self.bytes += bytes(-len(self.bytes) % 16)
        at = len(self.bytes)
        self.bytes += content
        return at

    def load(self, offset, address, size):
        self.segments.append((1, 5, offset, address, address, size, size, 4096))

    def add_dynamic(self, *entries):
        content = b''.join(struct.pack('<QQ', *entry) for entry in (*entries, (0, 0)))
        at = self.add(content)
        self.segments.append((2, 6, at, at, at, len(content), len(content), 8))

    def write(self, path, size=0):
        segments = b''.join(struct.pack('<IIQQQQQQ', *segment) for segment in self.segments)
        table = self.add(b''.join(struct.pack('<IIQQQQIIQQ', *section) for section in self.sections))
        machine = 183 if os.uname().machine == 'aarch64' else 62
        self.bytes[:64] = b'\x7fELF\x02\x01\x01' + bytes(9) + struct.pack(
            '<HHIQQQIHHHHHH', 3, machine, 1, 0, 64, table if self.sections else 0, 0, 64, 56, len(self.segments), 64,
            len(self.sections), 0)
        self.bytes[64:64 + len(segments)] = segments
        with open(path, 'wb') as file:
            file.write(self.bytes)
            if size:
                file.truncate(size)


def expect_little_of_module(bench, made, size=0):
    """A program has it mapped as code when it loads a library, and all modules are looked at."""
    made.write(bench.folder / 'module', size)
    program = compiled(bench, r'''
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
int main(void) {
  const int file = open("MODULE", O_RDONLY);
  return mmap(0, 1 << 16, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED ||
         dlopen("libm.so.6", RTLD_NOW) == 0;
}
'''.replace('MODULE', str(bench.folder / 'module')))
    expect_little(bench, program, '-e', 'trace=none', '-e', 'symbol=zz*')


def module_with_shared_names(bench):
    for letter, count in ((b'a', 100_000), (b'\1', 2000)):
        made = Made()
        made.load(0, 0, 1 << 16)
        names = made.add(b'\0' + letter * (1 << 20) + b'\0')
        symbols = made.add(b''.join(struct.pack('<IBBHQQ', 1 + i % 5000, 2, 0, 1, 256 + i, 1) for i in range(count)))
        made.sections = [(0,) * 10, (0, 2, 0, 0, symbols, count * 24, 2, 0, 8, 24),
                         (0, 3, 0, 0, names, (1 << 20) + 2, 0, 0, 1, 0)]
        expect_little_of_module(bench, made)


def module_with_endless_chain(bench):
    made = Made()
    size = 40 << 20
    made.load(0, 0, size)
    made.add_dynamic((0x6ffffef5, 1 << 20), (6, 256))
    made.bytes += bytes((1 << 20) - len(made.bytes)) + struct.pack('<IIIIQI', 1, 1, 1, 0, 0, 1)
    expect_little_of_module(bench, made, size)


def module_with_overlapping_code(bench):
    made = Made()
    size = 60 << 20
    names = made.add(b'\0f\0')
    symbols = made.add(struct.pack('<IBBHQQ', *[0] * 6) + struct.pack('<IBBHQQ', 1, 0x12, 0, 0, 0, 0))
    slots = made.add(struct.pack('<QQq', 0x2000, 1 << 32 | (1026 if os.uname().machine == 'aarch64' else 7), 0))
    table = made.add(struct.pack('<IIII', 1, 2, 0, 0))
    made.load(0, 0, 1 << 20)
    for i in range(1, 100):
        made.load(i, (i + 1) << 32, size - i - 1)
    made.add_dynamic((5, names), (10, 3), (6, symbols), (4, table), (0x17, slots), (2, 24), (0x14, 7))
    expect_little_of_module(bench, made, size)


def module_that_changes(bench):
    """Each version of a file is another one, and none is kept for ever."""
    made, count = Made(), 200_000
    made.load(0, 0, 1 << 16)
    names = made.add(b'\0' + b''.join(b'f%06d\0' % i for i in range(count)))
    symbols = made.add(b''.join(struct.pack('<IBBHQQ', 1 + 8 * i, 2, 0, 1, 1 << 20 | i, 1) for i in range(count)))
    made.sections = [(0,) * 10, (0, 2, 0, 0, symbols, count * 24, 2, 0, 8, 24),
                     (0, 3, 0, 0, names, 1 + 8 * count, 0, 0, 1, 0)]
    made.write(bench.folder / 'module')
    (bench.folder / 'empty.c').write_text('int zero;')
    subprocess.run(['gcc', '-shared', '-nostdlib', 'empty.c', '-o', 'empty.so'], cwd=bench.folder, check=True,
                   timeout=TIMEOUT)
    program = compiled(bench, r'''
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
int main(void) {
  const int file = open("FOLDER/module", O_RDONLY);
  for (int i = 0; i < 60; ++i) {
    struct timespec times[2] = {{1, i}, {1, i}};
    futimens(file, times);
    void *code = mmap(0, 1 << 16, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    void *library = dlopen("FOLDER/empty.so", RTLD_NOW);
    if (library == 0 || dlclose(library) != 0 || munmap(code, 1 << 16) != 0) {
      return 1;
    }
  }
  return 0;
}
'''.replace('FOLDER', str(bench.folder)))
    expect_little(bench, program, '-e', 'trace=none', '-e', 'symbol=zz*', quick=10)


def many_cies(bench):
    """A table of call frames that describes none, but says again and again how they would be described."""
    program = built(bench)
    entry = struct.pack('<IIBBBBBBBB', 12, 0, 1, 0, 1, 0x78, 16, 0, 0, 0)
    part = bench.folder / 'part'
    part.write_bytes(entry * (3 << 20))
    subprocess.run(['objcopy', '--remove-section', '.eh_frame', '--remove-section', '.eh_frame_hdr',
                    f'--add-section=.eh_frame={part}', str(program)], check=True, timeout=TIMEOUT)
    program.chmod(0o777)
    expect_quick(bench, program, (['-k', '-e', 'trace=getppid'],))


def apart(case):
    """In a process of its own, of whose children none has needed memory before."""
    def run(bench):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                case(bench)
                status = 0
            except Exception as failure:  # pylint: disable=broad-except
                os.write(writing, str(failure).encode()[:4096])
            os._exit(status)
        os.close(writing)
        with open(reading, encoding='utf-8', errors='replace') as said:
            why = said.read()
        expect(os.waitpid(child, 0)[1] == 0, why)
    return run


def main():
    cases = (many_cies, module_with_shared_names, module_with_endless_chain, module_with_overlapping_code,
             module_that_changes, linked_to_a_fifo, linked_out_of_its_directory, linked_to_zeros, linked_to_holes,
             alternate_fifo, split_fifo, compressed_lines, old_compression, overlapping_symbols, many_sections, sparse_dynamic, missing_interpreter)
    if os.uname().machine == 'x86_64':
        cases += (perf_map, perf_map_of_threads, code_in_the_heap, touched_file, long_names, costly_questions)
    return run_in_folder({case.__name__: apart(case) for case in cases})


if __name__ == '__main__':
    sys.exit(main())
