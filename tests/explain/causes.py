#!/usr/bin/python3
"""Runs the tests of all causes: those of causes_*.py, where each is a program that fails so."""

import importlib

from cause import TESTS
from harness import HERE, main

for file in sorted(HERE.glob('causes_*.py')):
    importlib.import_module(file.stem)

if __name__ == '__main__':
    main(TESTS)
