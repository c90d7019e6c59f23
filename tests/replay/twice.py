#!/usr/bin/python3
"""Runs a tracer, then a second command on what it has recorded: twice.py FILE COMMAND..., for same.py.

FILE has the words of the second command, separated by NULs. Its standard error goes to FILE.err. Ends with the status
of the first.
"""

import pathlib
import subprocess
import sys

again = pathlib.Path(sys.argv[1])
status = subprocess.run(sys.argv[2:]).returncode
with open(f'{again}.err', 'wb') as errors:
    subprocess.run(again.read_text().split('\0'), stdin=subprocess.DEVNULL, stdout=errors, stderr=errors)
sys.exit(status if status >= 0 else 128 - status)
