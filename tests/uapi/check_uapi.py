#!/usr/bin/python3
"""Checks the values and layouts of the descriptions against the kernel headers of this machine.

Everything becomes a static assertion in a program that includes every header. What the headers do not know is an
error of another kind there, and of no interest: descriptions may be newer than the headers.
    check_uapi.py LIST_TABLES
"""

import fnmatch
import pathlib
import re
import subprocess
import sys

INCLUDE = pathlib.Path('/usr/include')
MACHINE = INCLUDE / 'x86_64-linux-gnu'

PATTERNS = ['linux/*.h', 'linux/netfilter/*.h', 'linux/can/*.h', 'linux/tc_act/*.h', 'linux/dvb/*.h', 'linux/usb/*.h',
            'sound/asound.h', 'drm/drm.h']
# These do not go together with others (or with the C library's, which some of the others include).
ALONE = ['linux/signal.h', 'linux/resource.h', 'linux/termios.h', 'linux/time.h', 'linux/timex.h', 'linux/uio.h',
         'linux/kfd_ioctl.h', 'linux/mptcp.h']
UNUSABLE = {'linux/coda.h', 'asm/ucontext.h', 'linux/netfilter_bridge.h',
            'linux/patchkey.h', 'linux/target_core_user.h', 'asm/signal.h',
            'asm/termios.h', 'linux/netfilter_ipv4/ipt_ecn.h', 'asm/unistd_x32.h', 'asm/unistd_64.h', 'asm/unistd_32.h',
            'asm/posix_types_32.h', 'asm/posix_types_64.h', 'asm/posix_types_x32.h'}

# Same name, another thing.
EXCEPTIONS_FILE = pathlib.Path(__file__).resolve().parent / 'exceptions.txt'


def headers():
    found = [path.relative_to(INCLUDE).as_posix() for pattern in PATTERNS
             for path in sorted(INCLUDE.glob(pattern))]
    found += [path.relative_to(MACHINE).as_posix() for path in sorted((MACHINE / 'asm').glob('*.h'))]
    return [name for name in found if name not in UNUSABLE and name not in ALONE]


def assertion(line):
    kind, *words = line.split()
    if kind == 'constant':
        name, value = words[0], int(words[1])
        # Descriptions extend signs, headers do not always: what fits 32 bits is compared in 32 bits.
        if value >> 32 in (0, 0xffffffff):
            return f'_Static_assert((unsigned)({name}) == {value & 0xffffffff}u, "{line}");'
        return f'_Static_assert((unsigned long long)({name}) == {value}ull, "{line}");'
    if kind == 'struct':
        return f'_Static_assert(sizeof(struct {words[0]}) == {words[1]}, "{line}");'
    return f'_Static_assert(__builtin_offsetof(struct {words[0]}, {words[1]}) == {words[2]}, "{line}");'


def gcc(included, flag, *options, program=()):
    source = '\n'.join([f'#include <{name}>' for name in included] + list(program))
    command = ['gcc', flag, '-w', '-idirafter', str(MACHINE), '-x', 'c', '-', *options]
    return subprocess.run(command, input=source, capture_output=True, text=True, timeout=120)


def compile_with(included, flag, lines):
    """(wrong, unknown): lines that the headers contradict, and lines about which they say nothing."""
    # First by the words that occur at all: the compiler takes its time over each unknown one.
    words = set(re.findall(r'\w+', gcc(included, flag, '-E', '-dD').stdout))
    asked = [line for line in lines if line.split()[1] in words]
    unknown = set(lines) - set(asked)
    wrong = set()
    done = gcc(included, flag, '-fsyntax-only', '-fmax-errors=0', program=[assertion(line) for line in asked])
    for message in done.stderr.splitlines():
        match = re.match(r'<stdin>:(\d+):\d+: error: (.*)', message)
        if match:
            line = asked[int(match[1]) - len(included) - 1]
            (wrong if match[2].startswith('static assertion failed') else unknown).add(line)
        elif ': error: ' in message:
            print(f'{flag} with {included[0]}: {message}')
    return wrong - unknown, unknown


def read_exceptions():
    """Patterns for "constant NAME" and "struct NAME"; that of a struct goes for its fields, too."""
    lines = EXCEPTIONS_FILE.read_text().splitlines()
    return [line.partition(': ')[0] for line in lines if line and not line.startswith('#')]


def is_excepted(line, exceptions):
    kind, name = line.split()[:2]
    what = f'{"struct" if kind == "field" else kind} {name}'
    return any(fnmatch.fnmatchcase(what, pattern) for pattern in exceptions)


def check(listing, abi, flag):
    lines = sorted(set(subprocess.run([listing, abi], capture_output=True, text=True, check=True).stdout.splitlines()))
    lines = [line for line in lines if re.match(r'\w+ [A-Za-z_]\w* ', line)]
    wrong, unknown = compile_with(headers(), flag, lines)
    known = set(lines) - unknown
    for header in ALONE:
        if (INCLUDE / header).exists() or (MACHINE / header).exists():
            wrong_here, unknown_here = compile_with([header], flag, lines)
            wrong |= wrong_here
            known |= set(lines) - unknown_here
    exceptions = read_exceptions()
    wrong = {line for line in wrong if not is_excepted(line, exceptions)}
    for line in sorted(wrong):
        print(f'{abi}: the headers say otherwise: {line}')
    print(f'{abi}: {len(known)} of {len(lines)} values are known to the headers of this machine, {len(wrong)} differ')
    return len(wrong)


def main():
    if subprocess.run(['gcc', '-m32', '-fsyntax-only', '-x', 'c', '-', '-idirafter', str(MACHINE)],
                      input='#include <linux/types.h>', text=True, capture_output=True).returncode:
        print('SKIPPED: no 32-bit compiler (gcc-multilib)')
        sys.exit(77)
    differences = check(sys.argv[1], 'x86_64', '-m64') + check(sys.argv[1], 'i386', '-m32')
    sys.exit(1 if differences else 0)


main()
