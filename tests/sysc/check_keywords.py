#!/usr/bin/env python3
"""Counts the users of every word that the descriptions' parser knows: a keyword with fewer than three is not worth learning.

check_keywords.py SOURCE_TREE; --self-test shows that an unused word is found."""

import collections
import pathlib
import re
import sys

LEAST = 3
# Only users' descriptions (--define) can have these: ours know no driver's structures from the kernel that runs.
FOR_USERS = {"btf", "from"}

ASKED = re.compile(r'\b(?:accept|accept_word|at|at_word|is|expect|expect_word)\("([a-z_][a-z_0-9]*)"')
OPERATION = re.compile(r'\{"([a-z_][a-z_0-9]*)",\s*ExprOp::')
FIELD = re.compile(r"\b[A-Za-z_]\w*\s*:")  # what a structure or a call names is no keyword


def keywords(parser):
    return (set(ASKED.findall(parser)) | set(OPERATION.findall(parser))) - FOR_USERS


def users(descriptions):
    counts = collections.Counter()
    for text in descriptions:
        # Strings come first: a '#' inside one begins no comment.
        text = re.sub(r'"(?:[^"\\\n]|\\.)*"|#[^\n]*', " ", text)
        kept = FIELD.sub(lambda match: match[0] if match[0].startswith("else") else " ", text)
        counts.update(re.findall(r"[A-Za-z_]\w*", kept))
    return counts


def complaints(words, counts):
    for word in sorted(words):
        if counts[word] < LEAST:
            yield f"'{word}' has {counts[word]} users: say it in words that have {LEAST}, or take it out of the language"


def self_test():
    words = keywords('in.accept("until"); in.at_word("seldom"); {"nth", ExprOp::nth}')
    counts = users(['a: u8[until 0] seldom: u8 "seldom" # seldom\n'] * 3 + ["x: u8 if nth(a) if nth(b) if nth(c)"])
    found = list(complaints(words, counts))
    return 0 if len(found) == 1 and "'seldom' has 0" in found[0] else f"found {found}"


def main(tree):
    tree = pathlib.Path(tree)
    words = keywords("\n".join(path.read_text() for path in sorted((tree / "src/sysc").glob("pars*.cpp"))))
    counts = users([path.read_text() for path in sorted((tree / "syscalls").rglob("*.sys"))])
    for word in sorted(words, key=lambda word: (counts[word], word)):
        print(f"{counts[word]:7} {word}")
    found = list(complaints(words, counts))
    print(*found, sep="\n")
    return 1 if found or not words else 0


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1] == "--self-test" else main(sys.argv[1]))
