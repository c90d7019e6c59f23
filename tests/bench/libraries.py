"""A program that calls through many shared libraries, for stack traces."""

import os
import subprocess

LIBRARY = 'int lib{i}(int (*f)(int), int n) {{ return f(n) + {i}; }}\nint x{i}(int (*f)(int), int n) {{ return lib{i}(f, n) + 1; }}\n'
DEPTH = 10  # libraries in one stack


def compile_c(folder, name, source, *flags):
    path = os.path.join(folder, name)
    subprocess.run(['gcc', '-x', 'c', '-O1', '-fno-optimize-sibling-calls', '-o', path, '-', *flags], input=source, text=True, check=True)
    return path


def build(folder, count):
    """PROGRAM N calls getppid N times, each time below 36 frames in DEPTH of the libraries."""
    for i in range(count):
        compile_c(folder, f'libstack{i}.so', LIBRARY.format(i=i), '-shared', '-fPIC')
    lines = ['#include <stdlib.h>', '#include <unistd.h>', *(f'int x{i}(int (*)(int), int);' for i in range(count)),
             'static int step0(int n) { return getppid() + n; }']
    lines += [f'static int step{i + 1}(int n) {{ return x{i}(step{i}, n) + 1; }}' for i in range(DEPTH)]
    used = ' '.join(f'x{i}(step0, 0);' for i in range(count))
    lines += [f'int main(int c, char **v) {{ volatile int sum = 0; int n = atoi(v[1]); if (n < 0) {{ {used} }}',
              f'  while (n-- > 0) sum += step{DEPTH}(n); return 0; }}']
    return compile_c(folder, 'stacks', '\n'.join(lines), '-x', 'none', '-L', folder, f'-Wl,-rpath,{folder}',
                     *(f'-lstack{i}' for i in range(count)))
