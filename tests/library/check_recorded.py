#!/usr/bin/python3
"""Calls of functions and static probes that the kernel records (--engine=bpf): the text is the same as with breakpoints, whatever
the program is, and none is missing.

    check_recorded.py TRACER SOURCES [CASE...]     runs all cases, or those whose names begin so
"""

import array
import ctypes
import fcntl
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import termios
import time

from bench import IS_X86, NARROW, TIMEOUT, run_in_folder, without_addresses
from cases import PATIENCE, expect
from check_functions import VARIANTS


def why_not(bench):
    """Why the kernel cannot record calls here; empty: it can."""
    tried = subprocess.run([bench.tracer, '--engine=bpf', '-d', '-e', 'trace=none', '-e', 'symbol=nothing', 'true'], capture_output=True,
                           text=True, timeout=TIMEOUT)
    return '' if 'uprobes record their calls' in tried.stderr else tried.stderr.strip() or 'no uprobes'


def plain(lines):
    """Without what differs from run to run: addresses, ids, and the blanks before a result."""
    lines = [re.sub(r'si_pid=\d+', 'si_pid=PID', re.sub(r' += ', ' = ', line)) for line in without_addresses(lines)]
    return [re.sub(r'^\d+ +', '', line) for line in lines if 'SIGCHLD' not in line]


def same(bench, options, program, arguments=()):
    """Returns the lines, which are those of both engines."""
    options = ['-q', '-e', 'trace=none', *options]
    wanted, status = bench.trace(['--engine=ptrace', *options], program, arguments)
    found, other_status = bench.trace(['--engine=bpf', *options], program, arguments)
    wanted, found = plain(wanted), plain(found)
    different = next((pair for pair in zip(wanted, found) if pair[0] != pair[1]), (wanted[len(found):][:1], found[len(wanted):][:1]))
    expect(found == wanted, f'{program.name}: by breakpoints, and by uprobes: ' + '\n'.join(map(str, different)))
    expect(other_status == status, f'{program.name} ends with {status}, and with {other_status}')
    expect(len(found) > 1, f'{program.name}: nothing but {found}')
    return found


def static_probes(bench):
    for flags in [['-O0'], ['-O2', '-no-pie']] + NARROW:
        include = ['-O1', '-I/usr/include/x86_64-linux-gnu'] if flags in NARROW else []
        same(bench, ['-e', 'usdt=*:*'], bench.build('probes.c', ['gcc', *flags, *include], 'probes'))
    odd = bench.build('odd_probes.c', ['gcc'])
    if odd is not None:
        same(bench, ['-e', 'usdt=*:*'], odd)
    counted, _ = bench.trace(['--engine=bpf', '-c', '-e', 'trace=none', '-e', 'usdt=demo:*'],
                             bench.build('probes.c', ['gcc'], 'probes'))
    expect(re.search(r' 3 +usdt:demo:loop', '\n'.join(counted)), 'counted: ' + '\n'.join(counted))


def calls(bench):
    for name in ('lazy', 'now', 'no_pie', 'ibt_now', 'no_plt', 'stripped', 'm32_lazy', 'clang', 'musl'):
        program = bench.build('calls.c', VARIANTS[name], name) if name in VARIANTS else None
        if program is not None:
            for options in (['-e', 'library=*@MAIN'], ['-e', 'library=*'], ['-e', 'symbol=*@MAIN', '-e', 'library=atoi']):
                same(bench, options, program)


def prototypes(bench):
    bench.build('described.c', ['gcc', '-g', '-shared', '-fPIC'], 'libdescribed.so')
    program = bench.build('describing.c', ['gcc', '-g', f'-L{bench.folder}', f'-Wl,-rpath,{bench.folder}', '-Wl,--no-as-needed',
                                           '-l:libdescribed.so'], 'describing')
    lines = same(bench, ['-e', 'symbol=*@libdescribed.so'], program)
    expect(any('"wide"' in line and '"hello"' in line for line in lines), 'no texts: ' + '\n'.join(lines))


def jumps(bench):
    """Calls that do not return, return twice, return on other stacks or from deeper than the kernel follows."""
    programs = [('jumps.c', ['gcc'], ()), ('nested.c', ['gcc'], ()), ('coroutines.c', ['gcc'], ()),
                ('classes.cpp', ['g++'], ('deep', 'deep')), ('children.c', ['gcc'], ())]
    for source, compiler, arguments in programs + ([('pieces.c', ['gcc'], ())] if IS_X86 else []):
        program = bench.build(source, compiler)
        if program is not None:
            same(bench, ['-e', 'symbol=*@MAIN-main@MAIN'], program, arguments)


def exceptions(bench):
    """They pass through recorded functions. Of the library's, those of the exceptions: others return what is in memory by chance."""
    same(bench, ['-e', 'symbol=inner+middle+outer+down+again+compare@MAIN', '-e', 'library=__*+qsort@MAIN'],
         bench.build('exceptions.cpp', ['g++', '-g']))


def nameless_unwinder(bench):
    """They pass through functions of C. The unwinder is in the program and has no name."""
    source = bench.folder / 'throwing.cpp'
    source.write_text('#include <stdlib.h>\n'
                      'static int compare(const void*, const void*) { throw 6; }\n'
                      'int main() { int two[2] = {1, 2}; try { qsort(two, 2, sizeof two[0], compare); } catch (int i) { return atoi("6"); } }\n')
    program = bench.build(source, ['g++', '-s', '-static-libgcc', '-static-libstdc++'])
    lines = same(bench, ['-e', 'library=qsort+atoi@MAIN'], program)
    expect(lines[-1] == '+++ exited with 6 +++', 'got: ' + '\n'.join(lines))


def abandoned_call(bench):
    """A recorded call has ended unseen, and its part of the stack holds something else when an exception passes: that is left alone."""
    source = bench.folder / 'abandoned.cpp'
    source.write_text('static void* buffer[5];\n'
                      'extern "C" __attribute__((noinline)) void leave() { __builtin_longjmp(buffer, 1); }\n'
                      '__attribute__((noinline)) static void go() {\n'
                      '  volatile char room[1024]; room[0] = 1;\n'
                      '  if (__builtin_setjmp(buffer) == 0) leave(); }\n'
                      '__attribute__((noinline)) static bool is_whole() {\n'
                      '  volatile unsigned long data[512];\n'
                      '  for (volatile unsigned long& one : data) one = 0x4242;\n'
                      '  try { throw 1; } catch (int) {}\n'
                      '  for (volatile unsigned long& one : data) if (one != 0x4242) return false;\n'
                      '  return true; }\n'
                      'int main() { go(); return is_whole() ? 7 : 3; }\n')
    lines, status = bench.trace(['--engine=bpf', '-q', '-e', 'trace=none', '-e', 'symbol=leave@MAIN'], bench.build(source, ['g++']))
    expect(status == 7, f'status {status}, got: ' + '\n'.join(lines))


def resolver(bench):
    """What chooses a function ends in a jump to one that is recorded. The chosen one, by its name, is not."""
    library = bench.folder / 'picking.c'
    library.write_text('int picked(int n) { return n + 1; }\n'
                       'typedef int (*Picked)(int);\n'
                       'Picked choose(void) { return picked; }\n'
                       '__attribute__((optimize("O2"))) static Picked resolve(void) { return choose(); }\n'
                       'int makecontext(int n) __attribute__((ifunc("resolve")));\n')
    bench.build(library, ['gcc', '-shared', '-fPIC'], 'libpicking.so')
    source = bench.folder / 'chosen.c'
    source.write_text('int makecontext(int); int main(void) { return makecontext(3) + makecontext(4); }\n')
    program = bench.build(source, ['gcc', '-Wl,-z,lazy', f'-L{bench.folder}', f'-Wl,-rpath,{bench.folder}', '-Wl,--no-as-needed',
                                   '-l:libpicking.so'])
    if program is None:
        return 'no functions that are chosen as the program runs'
    same(bench, ['-e', 'symbol=choose+makecontext@libpicking.so'], program)
    return ''


def late_unwinder(bench):
    """A library that throws is loaded while calls are recorded: none of another thread is missed meanwhile."""
    library = bench.folder / 'throwing_library.cpp'
    library.write_text('static int thrower(int n) { throw n; }\n'
                       'extern "C" int go(int (*through)(int (*)(int), int)) {\n'
                       '  int sum = 0;\n'
                       '  for (int i = 0; i < 3; i++) try { sum += through(thrower, i); } catch (int n) { sum += n + 1; }\n'
                       '  return sum; }\n')
    bench.build(library, ['g++', '-shared', '-fPIC'], 'libthrowing.so')
    source = bench.folder / 'loading.c'
    source.write_text('#include <dlfcn.h>\n#include <pthread.h>\n#include <stddef.h>\n'
                      'static volatile int ready, over;\n'
                      'int tick(int n) { return n; }\n'
                      'int through(int (*f)(int), int n) { return f(n); }\n'
                      'static void* run(void* unused) {\n'
                      '  for (int i = 0; i < 3000; i++) { tick(i); if (i == 500) ready = 1; while (i == 2500 && !over) {} }\n'
                      '  return unused; }\n'
                      'int main(int argc, char** argv) {\n'
                      '  pthread_t thread; pthread_create(&thread, NULL, run, NULL);\n'
                      '  while (!ready) {}\n'
                      '  int (*go)(int (*)(int (*)(int), int)) = dlsym(dlopen(argv[argc - 1], RTLD_NOW), "go");\n'
                      '  int sum = go(through); over = 1; pthread_join(thread, NULL); return sum; }\n')
    program = bench.build(source, ['gcc', '-g'])
    lines, status = bench.trace(['--engine=bpf', '-q', '-f', '-e', 'trace=none', '-e', 'symbol=tick+through@MAIN'], program,
                                [str(bench.folder / 'libthrowing.so')])
    returned = [line for line in lines if re.search(r'tick@.* = \d+$', line)]
    unwound = [line for line in lines if re.search(r'through@.* = <unwound>$', line)]
    expect((len(returned), len(unwound), status) == (3000, 3, 6), f'{len(returned)} ticks, {len(unwound)} unwound, status {status}')


def recursion(bench):
    source = bench.folder / 'recursion.c'
    source.write_text('int down(int n) { if (n == 0) return 0; return down(n - 1) + 1; }\n'
                      'int main(void) { return down(300) == 300 && down(10) == 10 ? 5 : 1; }\n')
    lines = same(bench, ['-e', 'symbol=down@MAIN'], bench.build(source, ['gcc']))
    expect(not any('unwound' in line for line in lines), 'not all have returned')


def of_threads(bench, options):
    threads, each = 8, 2000
    program = bench.build('threads.c', ['gcc'])
    lines, status = bench.trace(['--engine=bpf', '-q', '-f', *options, '-e', 'trace=none', '-e', 'symbol=abs@libc.so*'], program,
                                [str(threads), str(each)])
    started = [line for line in lines if re.search(r' abs@', line) and 'resumed' not in line]
    returned = [line for line in lines if re.search(r'abs@.* = \d+$', line)]
    expect(len(started) == threads * each, f'{len(started)} have started')
    expect(len(returned) == threads * each, f'{len(returned)} have returned')
    expect(status == 7, f'status {status}')


def threads(bench):
    of_threads(bench, [])


WORKING = ('#include <signal.h>\n#include <stdio.h>\n#include <sys/sdt.h>\n#include <sys/wait.h>\n#include <unistd.h>\n'
           'int work(int n) { DTRACE_PROBE1(demo, hit, n); __asm__ volatile(""); return n + 1; }\n')


def children(bench):
    """Every hit of theirs shows: of a fork's child and its own, of a vfork's, and of their parent between and behind them."""
    source = bench.folder / 'working.c'
    source.write_text(WORKING +
                      'static void many(int n) { for (int i = 0; i < 50; i++) work(n + i); }\n'
                      'int main(void) {\n'
                      '  many(0);\n'
                      '  if (fork() == 0) { many(1000); if (fork() == 0) { many(2000); _exit(0); } wait(NULL); many(3000); _exit(0); }\n'
                      '  wait(NULL); many(4000);\n'
                      '  if (vfork() == 0) { for (int i = 0; i < 50; i++) work(5000 + i); _exit(0); }\n'
                      '  wait(NULL); many(6000); return 7; }\n')
    program = bench.build(source, ['gcc'])
    for options, pattern in ((['-e', 'usdt=demo:*'], r'demo:hit@working\((\d+)\)'),
                             (['-e', 'symbol=work@MAIN'], r'work@working\((\d+),.* = \d+$')):
        lines, status = bench.trace(['--engine=bpf', '-q', '-f', '-e', 'trace=none', *options], program)
        hits = [int(hit) for hit in re.findall(pattern, '\n'.join(lines), re.MULTILINE)]
        expect(hits == [n + i for n in range(0, 7000, 1000) for i in range(50)], f'{options}: {len(hits)} hits: {hits}')
        expect(status == 7, f'status {status}')


def not_recorded_beside(bench):
    """A process that switches stacks has breakpoints, where another is recorded in the same file."""
    library = bench.folder / 'both.c'
    library.write_text('#include <sys/sdt.h>\nint count(int n) { return n + 1; }\n'
                       'int probe(int n) { DTRACE_PROBE1(demo, hit, n); __asm__ volatile(""); return n; }\n')
    bench.build(library, ['gcc', '-shared', '-fPIC'], 'libboth.so')
    source = bench.folder / 'switching.c'
    source.write_text('#include <sys/wait.h>\n#include <ucontext.h>\n#include <unistd.h>\nint count(int); int probe(int);\n'
                      'int main(int argc, char** argv) {\n'
                      '#ifdef SWITCHES\n'
                      '  ucontext_t one; if (argc > 5) swapcontext(&one, &one);\n'
                      '#endif\n'
                      '  count(argc); probe(argc);\n'
                      '  if (argc > 1 && fork() == 0) { execv(argv[1], argv + 1); _exit(1); }\n'
                      '  wait(NULL); return count(argc); }\n')
    link = ['gcc', f'-L{bench.folder}', f'-Wl,-rpath,{bench.folder}', '-Wl,--no-as-needed', '-l:libboth.so']
    switching = bench.build(source, [*link, '-DSWITCHES'], 'switching')
    lines = same(bench, ['-f', '-e', 'symbol=count@libboth.so', '-e', 'usdt=demo:*'], bench.build(source, link, 'creating'), [str(switching)])
    expect(len([line for line in lines if 'count@' in line]) == 4, 'got: ' + '\n'.join(lines))


def detached_child(bench):
    """Its code is as before when the tracer has left: it goes on."""
    source = bench.folder / 'endlessly.c'
    source.write_text(WORKING +
                      'static void answer(int number) { (void)number; write(1, "alive\\n", 6); }\n'
                      'static volatile int asked;\nstatic void ask(int number) { asked = number; }\n'
                      'int main(void) {\n'
                      '  signal(SIGUSR1, answer); signal(SIGUSR2, ask); puts("runs"); fflush(stdout);\n'
                      '  while (!asked) { work(0); usleep(1000); }\n'
                      '  if (fork() != 0) { wait(NULL); return 0; }\n'
                      '  alarm(300); printf("%d\\n", getpid()); fflush(stdout);\n'
                      '  for (;;) { work(1); usleep(100); } }\n')
    program = bench.build(source, ['gcc'])
    running = subprocess.Popen([str(program)], stdout=subprocess.PIPE, bufsize=0)
    tracer = child = None
    try:
        running.stdout.readline()
        tracer = subprocess.Popen([bench.tracer, '--engine=bpf', '-f', '-e', 'trace=none', '-e', 'usdt=demo:*', '-p', str(running.pid)],
                                  stderr=subprocess.PIPE, text=True)
        while not tracer.stderr.readline().startswith('demo:hit'):
            pass
        running.send_signal(signal.SIGUSR2)
        child = int(running.stdout.readline())
        tracer.send_signal(signal.SIGINT)
        tracer.communicate(timeout=TIMEOUT)
        os.kill(child, signal.SIGUSR1)
        answers = select.select([running.stdout], [], [], PATIENCE)[0] and running.stdout.readline()
    finally:
        for process in (tracer, running):
            if process is not None:
                process.kill()
                process.wait()
        if child is not None and pathlib.Path(f'/proc/{child}').exists():
            os.kill(child, signal.SIGKILL)
    expect(answers == b'alive\n', f'the child does not go on: {answers}')


def leader_gone(bench):
    """A library is loaded when the first thread of the process has ended."""
    library = bench.folder / 'counting.c'
    library.write_text('int count(int n) { return n + 1; }\n')
    bench.build(library, ['gcc', '-shared', '-fPIC'], 'libcounting.so')
    source = bench.folder / 'leaderless.c'
    source.write_text('#include <dlfcn.h>\n#include <pthread.h>\n#include <stdlib.h>\nstatic pthread_t first;\n'
                      'static void* run(void* path) {\n'
                      '  pthread_join(first, NULL);\n'
                      '  int (*count)(int) = dlsym(dlopen(path, RTLD_NOW), "count");\n'
                      '  exit(count(3) + count(4)); }\n'
                      'int main(int argc, char** argv) {\n'
                      '  first = pthread_self(); pthread_t thread; pthread_create(&thread, NULL, run, argv[argc - 1]); pthread_exit(NULL); }\n')
    program = bench.build(source, ['gcc'])
    lines, status = bench.trace(['--engine=bpf', '-q', '-f', '-e', 'trace=none', '-e', 'symbol=count@libcounting.so'], program,
                                [str(bench.folder / 'libcounting.so')])
    expect(len([line for line in lines if 'count@' in line]) == 2 and status == 9, f'status {status}: ' + '\n'.join(lines))


def crowded_buffer(bench):
    """A thread waits where there is no room for what it does."""
    of_threads(bench, ['--bpf-buffer=64K'])


def attached(bench):
    source = bench.folder / 'ticking.c'
    source.write_text('#include <stdio.h>\n#include <unistd.h>\n'
                      'int tick(int n, const char* what) { return what[0] + n; }\n'
                      'int main(void) { puts("runs"); fflush(stdout); for (int i = 0;; ++i) { tick(i, "abc"); usleep(1000); } }\n')
    program = bench.build(source, ['gcc', '-g'])
    running = subprocess.Popen([str(program)], stdout=subprocess.PIPE, text=True)
    tracer = None
    try:
        running.stdout.readline()
        tracer = subprocess.Popen([bench.tracer, '--engine=bpf', '-e', 'trace=none', '-e', 'symbol=tick@ticking', '-p', str(running.pid)],
                                  stderr=subprocess.PIPE, text=True)
        seen = []
        while len(seen) < 5:
            line = tracer.stderr.readline()
            expect(line, 'the tracer has ended')
            if line.startswith('tick@'):
                seen += re.findall(r'^tick@ticking\((\d+), "abc"\) += (\d+)$', line) or [line]
        tracer.send_signal(signal.SIGINT)
        tracer.stderr.read()
        first = int(seen[0][0])
        state = re.search(r'State:\s+(\S)', pathlib.Path(f'/proc/{running.pid}/status').read_text(encoding='utf-8')).group(1)
    finally:
        for process in (tracer, running):
            if process is not None:
                process.kill()
                process.wait()
    expect(seen == [(str(first + i), str(first + i + ord('a'))) for i in range(5)], f'seen: {seen}')
    expect(state in 'SR', f'the process is left in state {state}')


def detached_while_held(bench):
    """The kernel stops the thread at most calls here, as it follows no return from so deep, or the buffer is small: detaching leaves
    none of these stops behind."""
    source = bench.folder / 'deep.c'
    source.write_text('#include <signal.h>\n#include <unistd.h>\n'
                      'static void answer(int number) { (void)number; write(1, "alive\\n", 6); }\n'
                      'int down(int n) { if (n == 0) return 0; return down(n - 1) + 1; }\n'
                      'int main(void) { signal(SIGUSR1, answer); write(1, "runs\\n", 5); for (;;) down(150); }\n')
    program = bench.build(source, ['gcc', '-g'])
    for _ in range(6):
        running = subprocess.Popen([str(program)], stdout=subprocess.PIPE)
        tracer = None
        try:
            running.stdout.readline()
            tracer = subprocess.Popen([bench.tracer, '--engine=bpf', '--bpf-buffer=64K', '-e', 'trace=none', '-e', 'symbol=down@MAIN', '-p',
                                       str(running.pid)], stderr=subprocess.PIPE, text=True)
            for _ in range(500):
                expect(tracer.stderr.readline(), 'the tracer has ended')
            tracer.send_signal(signal.SIGINT)
            tracer.communicate(timeout=TIMEOUT)
            running.send_signal(signal.SIGUSR1)
            answers = select.select([running.stdout], [], [], PATIENCE)[0]
            status = pathlib.Path(f'/proc/{running.pid}/status').read_text(encoding='utf-8')
        finally:
            for process in (tracer, running):
                if process is not None:
                    process.kill()
                    process.wait()
        expect(answers, 'the program does not go on: ' + status)


PIPE_IS_FULL = 60000  # bytes, of 65536: whoever writes long lines waits then


def killed_while_held(bench):
    """The kernel has stopped the thread, as its records are not read, and nobody but the killed tracer knows that."""
    source = bench.folder / 'quick.c'
    source.write_text('#include <signal.h>\n#include <stdio.h>\n#include <sys/wait.h>\n#include <unistd.h>\n'
                      'static void answer(int number) { (void)number; write(1, "alive\\n", 6); }\n'
                      'int step(int n) { return n + 1; }\n'
                      'int main(void) {\n'
                      '  signal(SIGUSR1, answer); alarm(300);\n'
                      '  const int child = fork(); if (child > 0) { printf("%d\\n", child); fflush(stdout); wait(NULL); return 0; }\n'
                      '  for (;;) step(1); }\n')
    program = bench.build(source, ['gcc', '-g'])
    tracing = subprocess.Popen([bench.tracer, '--engine=bpf', '--bpf-buffer=64K', '-f', '-e', 'trace=none', '-e', 'symbol=step@MAIN', str(program)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    child = None
    try:
        child = int(tracing.stdout.readline())
        status = pathlib.Path(f'/proc/{child}/status')
        end = time.monotonic() + PATIENCE
        held = False
        while not held and time.monotonic() < end:
            time.sleep(0.01)
            waiting = array.array('i', [0])
            fcntl.ioctl(tracing.stderr, termios.FIONREAD, waiting)
            held = waiting[0] > PIPE_IS_FULL and re.search(r'State:\s+t', status.read_text(encoding='utf-8')) is not None
        tracer = int(re.search(r'TracerPid:\s+(\d+)', status.read_text(encoding='utf-8')).group(1))
        os.kill(tracer, signal.SIGKILL)
        ended = tracing.wait(TIMEOUT)
        os.kill(child, signal.SIGUSR1)
        answers = select.select([tracing.stdout], [], [], PATIENCE)[0] and tracing.stdout.readline()
    finally:
        tracing.kill()
        tracing.wait()
        if child is not None:
            os.kill(child, signal.SIGKILL)
    expect(held and ended == -signal.SIGKILL and answers == b'alive\n', f'held {held}, the tracer ended with {ended}, the program says {answers}')


def refused(bench):
    for option in ('-k', '-y'):
        done = subprocess.run([bench.tracer, '--engine=bpf', option, '-e', 'symbol=puts', 'true'], capture_output=True, text=True,
                              timeout=TIMEOUT)
        expect(done.returncode == 1 and done.stderr.count('\n') == 1 and '--engine=bpf: ' in done.stderr, f'{option}: {done.stderr}')


CASES = {case.__name__: case for case in (static_probes, calls, prototypes, jumps, exceptions, nameless_unwinder, abandoned_call, resolver, late_unwinder, recursion, threads, crowded_buffer, children, not_recorded_beside, detached_child, leader_gone, attached, detached_while_held, killed_while_held, refused)}


def unless_impossible(case):
    return lambda bench: why_not(bench) or case(bench)


if __name__ == '__main__':
    ADDR_NO_RANDOMIZE = 0x40000
    ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)  # some addresses show as decimal numbers
    sys.exit(run_in_folder({name: unless_impossible(case) for name, case in CASES.items()}))
