#!/usr/bin/python3
"""Asks real shells what they make of the completions: check_completions.py FOLDER-OF-SCRIPTS [SHELL...]"""

import os
import pathlib
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
LIMIT = 20  # seconds for one question

# What is typed, what must be offered, what must not.
QUESTIONS = [
    ('tracer --col', {'--color', '--columns'}, {'--count'}),
    ('tracer --color=', {'auto', 'always', 'never'}, set()),
    ('tracer --color=al', {'always'}, {'auto'}),
    ('tracer --summary-wall', {'--summary-wall-clock'}, set()),
    ('tracer --const-print-style ', {'raw', 'abbrev', 'verbose'}, set()),
    ('tracer -X ver', {'verbose'}, {'raw'}),
    ('tracer --decode-fds=path,sig', {'signalfd'}, {'socket'}),
    ('tracer -e inj', {'inject'}, {'trace'}),
    ('tracer -e trace=clock_get', {'clock_gettime', 'clock_getres'}, {'clock_settime'}),
    ('tracer --trace=%net', {'%network'}, {'%file'}),
    ('tracer -f --output=/etc/host', {'hosts', 'hostname'}, set()),
    ('tracer -f -o /dev/null basen', {'basename'}, set()),
    ('tracer -f basename /etc/host', {'hosts', 'hostname'}, set()),
]


def words_in(text):
    """Words of an answer: without what stands before the last comma, `=` or slash, and without a closing `=` or zsh's mark of programs."""
    return {re.split(r'[=,/]', word.rstrip('=*'))[-1] for word in text.split()}


def ask_bash(scripts, line):
    words = re.findall(r'=|[^\s=]+', line) + ([''] if line[-1] in ' =' else [])
    if words[-2:] == ['=', '']:
        words.pop()  # bash stands on the `=` itself
    assignment = ' '.join(shlex.quote(word) for word in words)
    code = (f'compopt() {{ :; }}; source {scripts}/tracer.bash; COMP_WORDS=({assignment}); COMP_CWORD={len(words) - 1}; '
            f'_tracer; printf "%s\\n" "${{COMPREPLY[@]}}"')
    return subprocess.run(['bash', '--norc', '-c', code], capture_output=True, text=True, timeout=LIMIT).stdout


def ask_fish(scripts, line):
    code = f'source {scripts}/tracer.fish; complete -C {shlex.quote(line)}'
    out = subprocess.run(['fish', '--no-config', '-c', code], capture_output=True, text=True, timeout=LIMIT).stdout
    return '\n'.join(row.split('\t')[0] for row in out.splitlines())


class Zsh:
    """A zsh that sits at a terminal; completions only happen there."""

    def __init__(self, scripts):
        self.home = tempfile.TemporaryDirectory()
        shutil.copy(f'{scripts}/_tracer', self.home.name)
        child, self.terminal = pty.fork()
        if child == 0:
            os.chdir(self.home.name)
            environment = {'PATH': os.environ['PATH'], 'HOME': self.home.name, 'TERM': 'dumb', 'LC_ALL': 'C'}
            os.execvpe('zsh', ['zsh', '-f', '-i'], environment)
        self.say("fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; zstyle ':completion:*' verbose no; "
                 "bindkey '^T' list-choices; unsetopt prompt_sp; LISTMAX=10000; COLUMNS=200; PS1=; print rea''dy")
        self.hear('ready')

    def say(self, text, end='\n'):
        os.write(self.terminal, (text + end).encode())

    def hear(self, mark):
        text = ''
        until = time.monotonic() + LIMIT
        while mark not in text:
            if not select.select([self.terminal], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError(f'zsh says only {text!r}')
            text += os.read(self.terminal, 65536).decode(errors='replace')
        return text

    def ask(self, line):
        # ^T lists; ^U takes the line back; what is printed then marks the end.
        self.say(line + '\x14', end='')
        time.sleep(0.05)
        self.say('\x15print do""ne')
        text = self.hear('done')
        return re.sub(r'\x1b\[[0-9;?]*[A-Za-z]', '', text).replace(line, ' ')


def main():
    scripts, shells = pathlib.Path(sys.argv[1]), sys.argv[2:] or ['bash', 'zsh', 'fish']
    missing = [shell for shell in shells if not shutil.which(shell)]
    if missing:
        print('skipped: not installed: ' + ' '.join(missing))
        return SKIPPED
    zsh = Zsh(scripts) if 'zsh' in shells else None
    asked = {'bash': lambda line: ask_bash(scripts, line), 'fish': lambda line: ask_fish(scripts, line),
             'zsh': lambda line: zsh.ask(line)}
    failures = 0
    for shell in shells:
        for line, wanted, unwanted in QUESTIONS:
            answer = asked[shell](line)
            words = words_in(answer)
            if not wanted <= words or unwanted & words:
                failures += 1
                print(f'{shell}: {line!r} offers {sorted(words)[:40]}; wanted {sorted(wanted)}, not {sorted(unwanted)}')
    print(f'{len(shells) * len(QUESTIONS) - failures} of {len(shells) * len(QUESTIONS)} answers are right')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
