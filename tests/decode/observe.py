#!/usr/bin/env python3
"""Asks strace (the one that peers.py finds) what the calls of .case files look like: the source of their `text` lines.

    observe.py [--write] FILE.case...

Compares each `text` of a case on x86_64, i386 or x32 with what strace prints for the very same registers, memory and
result, without the call ever being run (see observe.c). With --write, a case that has no `text` gets the one seen.
Cases that define their own calls, and those of other ABIs, are left out.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../peers"))

import peers  # noqa: E402

ABIS = ("x86_64", "i386", "x32")
WORD = {"x86_64": 8, "i386": 4, "x32": 4, "aarch64": 8, "arm": 4}
X32_BIT = 0x40000000
SIMPLE = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\S+')


def number(text):
    """As in C: 0x10, 010, 10."""
    digits = text.lstrip("-")
    return int(text, 8) if re.fullmatch("0[0-7]+", digits) else int(text, 0)


def call_numbers(abi):
    numbers = {}
    with open(os.path.join(HERE, "../../syscalls/abi", abi + ".nr"), encoding="utf-8") as lines:
        for line in lines:
            words = line.split("#")[0].split()
            if len(words) >= 2:
                numbers.setdefault(words[1], number(words[0]))
    return numbers


def c_string(text):
    out = bytearray()
    for m in re.finditer(r"\\([0-7]{1,3})|\\(.)|(.)", text, re.S):
        if m[1]:
            out.append(int(m[1], 8))
        elif m[2]:
            out += bytes([SIMPLE[m[2]]]) if m[2] in SIMPLE else m[2].encode()
        else:
            out += m[3].encode()
    return bytes(out)


def item_bytes(tokens, word):
    out = b""
    tokens = iter(tokens)
    for token in tokens:
        if token.startswith('"'):
            out += c_string(token[1:-1])
        elif token == "zero":
            out += bytes(number(next(tokens)))
        elif token == "fill":
            out += bytes([number(next(tokens))]) * number(next(tokens))
        else:
            width = word if token == "word" else int(token[1:].rstrip("be")) // 8
            order = "big" if token.endswith("be") else "little"
            out += (number(next(tokens)) & (1 << 8 * width) - 1).to_bytes(width, order)
    return out


class Case:
    def __init__(self, name, line):
        self.name, self.line, self.abis = name, line, ["x86_64"]
        self.options, self.calls, self.memory = [], [], []
        self.result, self.stack, self.text, self.supported = 0, 0, None, True


def read_cases(lines):
    cases, defines = [], False
    for place, line in enumerate(lines):
        line = line.strip()
        word, _, rest = line.partition(" ")
        if defines:
            defines = word != "end"
        elif word == "define":
            return []
        elif word == "case":
            cases.append(Case(rest, place))
        elif not cases or not word or word.startswith("#"):
            continue
        else:
            case = cases[-1]
            if word == "abi":
                case.abis = rest.split()
            elif word == "options":
                case.options = rest.split()
            elif word in ("call", "before", "number"):
                case.calls.append((word, rest.split()))
            elif word in ("memory", "change"):
                case.memory.append((word, TOKEN.findall(rest)))
            elif word == "result":
                case.result = number(rest)
            elif word == "error":
                case.result = -number(rest) if rest.isdigit() else rest
            elif word in ("unknown", "function"):
                case.supported = False
            elif word == "stack":
                case.stack = number(rest)
            elif word == "text":
                case.text = rest
            case.end = place
    return cases


def error_numbers():
    import errno
    return {name: number for number, name in errno.errorcode.items()} | {
        "EOPNOTSUPP": 95, "ERESTARTSYS": 512, "ERESTARTNOINTR": 513, "ERESTARTNOHAND": 514, "ERESTART_RESTARTBLOCK": 516}


ERRORS = error_numbers()


def strace_options(case):
    options, words = [], iter(case.options)
    for word in words:
        if word in ("-s", "-a", "-X"):
            options += [word, next(words)]
        elif word == "raw":
            options += ["-e", "raw=all"]
        elif word == "address":
            options += ["-e", "verbose=none"]
        else:
            options.append(word)
    return options


def ask(strace, program, case, abi, numbers):
    options = strace_options(case)
    lines = []
    for kind, tokens in case.memory:
        data = item_bytes(tokens[1:], WORD[abi])
        lines.append(f"{kind} {number(tokens[0]):x} {len(data)} {data.hex()}")
    if case.stack:
        lines.append(f"stack {case.stack:x}")
    result = -ERRORS[case.result] if isinstance(case.result, str) else case.result
    width = 32 if abi == "i386" else 64
    for kind, words in case.calls:
        nr = number(words[0]) if kind == "number" else numbers[abi][words[0]]
        args = [number(word) & (1 << width) - 1 for word in words[1:]]
        args += [0] * (6 - len(args))
        lines.append(f"call {int(abi == 'i386')} {nr | (X32_BIT if abi == 'x32' else 0):x} "
                     + " ".join(f"{a:x}" for a in args) + f" {0 if kind == 'before' else result}")
    with tempfile.TemporaryDirectory() as where:
        script, log = os.path.join(where, "script"), os.path.join(where, "log")
        with open(script, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        # A timeout: a call that the program cannot stand must not hold the others back.
        done = subprocess.run(["timeout", "10", strace, "-o", log, *options, program, script], cwd=where,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        with open(log, encoding="latin-1") as file:
            text = file.read()
    shown = [line for line in text.splitlines() if not line.startswith("[ Process")]
    last = max((i for i, line in enumerate(shown) if line.startswith("chdir(")), default=0)
    if last > 3:
        return shown[last - 1]
    return f"(strace showed no call: {done.stderr.strip()})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    strace = peers.need_reference()
    numbers = {abi: call_numbers(abi) for abi in ABIS}
    bad = 0
    with tempfile.TemporaryDirectory() as where:
        program = os.path.join(where, "observe")
        # Out of the way of the addresses that cases use.
        subprocess.run(["cc", "-O1", "-no-pie", "-pthread", "-Wl,-Ttext-segment=0x7000000", "-o", program,
                        os.path.join(HERE, "observe.c")], check=True)
        for path in arguments.files:
            with open(path, encoding="utf-8") as file:
                lines = file.read().splitlines()
            added = {}
            for case in read_cases(lines):
                seen = {}
                for abi in case.abis:
                    if abi in ABIS and case.supported:
                        seen.setdefault(ask(strace, program, case, abi, numbers), abi)
                for text, abi in seen.items():
                    if case.text is None:
                        added.setdefault(case.end, "text " + text)
                        if len(seen) > 1:
                            print(f"{path}:{case.line + 1}: {case.name}: {abi}: {text}")
                            bad += 1
                    elif text != case.text:
                        print(f"{path}:{case.line + 1}: {case.name} ({abi})\n  case    {case.text}\n  strace  {text}")
                        bad += 1
            if arguments.write and added:
                with open(path, "w", encoding="utf-8") as file:
                    for i, line in enumerate(lines):
                        file.write(line + "\n")
                        if i in added:
                            file.write(added[i] + "\n")
            elif added:
                print(f"{path}: {len(added)} cases have no text yet")
                bad += 1
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
