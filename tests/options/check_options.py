#!/usr/bin/python3
"""Holds the command line to options.def: check_options.py TRACER SAMPLE OPTIONS.DEF

Every option and every value in its placeholder must be in a row of shown.py, with what it shows; refused.txt has what is
refused, with message and status. Where strace knows an option too, the same run under it must come out equal.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import shown

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'peers'))
import peers  # noqa: E402

LIMIT = 60  # seconds for one run
STRACE, NO_STRACE = peers.reference()
STRINGS = re.compile(r'"((?:\\.|[^"\\])*)"')
failures = []


def fail(what, detail=''):
    failures.append(what)
    print(f'FAILED: {what}' + ('\n    ' + '\n    '.join(detail.strip().split('\n')[-12:]) if detail else ''))


def rows_of(definitions):
    """[(id, letter, long name, form, placeholder, other names, qualifiers)] of options.def."""
    rows = []
    for match in re.finditer(r'^OPTION\((\w+), (0|\'.\'), ("[^"]*"), (\w+), ((?:"[^"]*"\s*)+), ("[^"]*"), ("[^"]*"),', definitions, re.M):
        name, letter, *rest = match.groups()
        long_name, form, placeholder, others, qualifiers = [''.join(STRINGS.findall(text)) if '"' in text else text for text in rest]
        rows.append((name, letter.strip("'") if letter != '0' else '', long_name, form, placeholder, others.split(), qualifiers.split()))
    return rows


def run(tracer, options, words, folder, before=''):
    """Under the name strace, addresses not random: (status, standard error and output)."""
    command = f'{before} exec setarch -R bash -c \'exec -a strace "$@"\' x {shlex.quote(tracer)} {options} {words}'
    environment = {'PATH': os.environ['PATH'], 'LC_ALL': 'C', 'TZ': 'UTC', 'B': 'x', 'HOME': str(folder), 'PID': os.environ.get('PID', '')}
    if 'ASAN_OPTIONS' in os.environ:
        environment['ASAN_OPTIONS'] = os.environ['ASAN_OPTIONS']
    done = subprocess.run(['bash', '-c', command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors='backslashreplace', timeout=LIMIT)
    return done.returncode, done.stdout


def numbered(text):
    """With N for numbers that no two runs have in common: large ones, and the processes, whose numbers may be small."""
    text = re.sub(r'^\d+(?= +(chdir\(|\+\+\+))', 'N', text, flags=re.M)  # before lines of a file
    text = re.sub(r'(\[pid +|Process |get\w+id\(\) *= |set_tid_address\(\w+\) *= |kill\(|si_pid=|pidfd_open\(|<pid:)\d+\b(?! \(INJECTED\))', r'\1N', text)
    return re.sub(r'(?<![\w.])[1-9]\d{3,9}(?![\w.])', 'N', text)


def alike(text):
    """What may differ between two runs taken out: numbers of processes and inodes, clocks, times."""
    text = re.sub(r'(?<![.\d])\d\d:\d\d:\d\d(?=[ .])', 'CLOCK', text)
    text = re.sub(r'(?<=CLOCK\.)\d+', lambda m: 'd' * len(m[0]), text)
    text = re.sub(r'(?<!\d)\d+(\.\d+)(?= chdir| \+\+\+|>$)', lambda m: 'T' + 'd' * len(m[1]), text, flags=re.M)
    text = re.sub(r'^ +\d+ (?=chdir|\+\+\+)|<\d>$|^\d+ (?=\+\+\+)', 'T ', text, flags=re.M)
    text = re.sub(r'0x7[ef][0-9a-f]{6,}', 'ADDRESS', text)
    text = re.sub(r'^( *\d+\.\d\d)? *\d+\.\d{6}( +\d+(?= ))?', 'TIMES', text, flags=re.M) if '% time' in text or 'seconds' in text else text
    text = re.sub(r'(?<=getrandom\()"[^"]*"', 'RANDOM', text)
    text = re.sub(r'st_[amc]time.*?(?=, st|})', 'TIME', text)
    text = re.sub(r' +', ' ', text)
    return numbered(text)


def table_alike(text):
    """Rows of a summary without their times, in one order."""
    return sorted(re.sub(r'\d+\.\d+|\b\d+\b(?=.*[a-z]{4,}$)', 'T', re.sub('-+', '-', line)).strip() for line in alike(text).split('\n'))


def outcome(tracer, options, words, marks, sample, folder):
    """(status, text, files) of a row."""
    before = ''
    victim = None
    (folder / 'text').write_text('data\n')
    for old in folder.glob('out*'):
        old.unlink()
    if 'attached' in marks:
        victim = subprocess.Popen([sample, *['wait'] * 1000], cwd=folder)
        os.environ['PID'] = str(victim.pid)
        before = (f'set -m; {{ while grep -q TracerPid:.0 /proc/{victim.pid}/status; do sleep 0.02; done; '
                  f'kill {victim.pid}; }} 2>/dev/null & ')
    try:
        status, text = run(tracer, options, '' if victim else f'{shlex.quote(sample)} {words}', folder, before)
    finally:
        if victim:
            victim.kill()
            victim.wait()
    files = sorted(re.sub(r'\d+', 'N', path.name) + '\n' + path.read_text() for path in folder.glob('out*'))
    return status, text, files


def check_row(tracer, sample, folder, row, can):
    options, words, patterns = row[:3]
    marks = row[3].split() if len(row) > 3 else []
    needs = {'root', 'bpf', 'libunwind'} & set(marks)
    if not needs <= can:
        return f'not here: {needs - can}'
    status, text, files = outcome(tracer, options, words, marks, sample, folder)
    label = f'{options} | {words}'
    wanted = next((int(mark) for mark in marks if mark.isdigit()), 0)
    if status != (128 + 15 if 'attached' in marks and status > 128 else wanted):
        fail(f'{label}: status {status}', text)
        return ''
    subject = numbered(text) if any('N' in pattern for pattern in patterns) else text
    for pattern in patterns:
        found = re.search(pattern.removeprefix('!'), subject, re.M)
        if bool(found) == pattern.startswith('!'):
            fail(f'{label}: {pattern}', text)
    if ({'file', 'files'} & set(marks)) and not any('chdir("' in name for name in files):
        fail(f'{label}: the file', '\n'.join(files))
    if 'files' in marks and len(files) != 2:
        fail(f'{label}: {len(files)} files', '\n'.join(files))
    if 'new' in marks or not STRACE or 'attached' in marks or 'daemon' in marks:
        return ''
    theirs = outcome(STRACE, options, words, marks, sample, folder)
    shape = table_alike if re.search(r'-c|-C|--summary', options) else alike
    ours = (status, shape(text), [alike(name) for name in files])
    theirs = (theirs[0], shape(theirs[1]), [alike(name) for name in theirs[2]])
    if ours != theirs and not re.search(r'(^| )(-f|--follow-forks)', options):  # lines of several processes come in any order
        fail(f'{label}: otherwise than strace', f'theirs: {theirs}\nours: {ours}')
    return ''


def check_refusals(tracer, folder):
    for number, line in enumerate((HERE / 'refused.txt').read_text().splitlines(), 1):
        if not line or line.startswith('#'):
            continue
        marks, options, message = re.fullmatch(r'(.*?)\| (.*?) \| (.*)', line).groups()
        expected = f'strace: {message}\n' + ("Try 'strace -h' for more information.\n" if 'hint' in marks else '')
        for tracer_here in [tracer] + ([STRACE] if STRACE and 'new' not in marks else []):
            got = run(tracer_here, options, '', folder)
            if got != (1, expected):
                fail(f'refused.txt:{number}: {options}' + ('' if tracer_here == tracer else ' (strace)'), f'{got}')


def check_complete(rows):
    """Every option in a row, by its id or a spelling, and every alternative of its placeholder."""
    everything = [row[0] for row in shown.ROWS] + [row[0] for row in shown.INFORMATION]
    words = [word for options in everything for word in shlex.split(options)]
    for name, letter, long_name, form, placeholder, others, qualifiers in rows:
        spelled = [word for word in words for long in [long_name, *others] if long and re.match(rf'--{re.escape(long)}(=|$)', word)]
        short = [word for word in words if letter and re.match(rf'-{letter}', word) and not word.startswith('--')]
        by_expression = [word for word in words for qualifier in qualifiers if word.startswith(qualifier + '=')]
        if not spelled and long_name and name not in shown.ELSEWHERE:
            fail(f'--{long_name} is in no row')
        if letter and not short:
            fail(f'-{letter} is in no row')
        if not long_name and not letter and not by_expression and name not in shown.ELSEWHERE:
            fail(f'-e {qualifiers} is in no row')
        if '|' in placeholder:
            tried = ' '.join([*spelled, *by_expression, *(words[i + 1] for i, word in enumerate(words[:-1]) if word in short)]).lower()
            for value in re.sub(r'\[.*', '', placeholder).split('|'):
                # PROG or PID: not a word to write, but what it stands for
                if not value.isupper() and value.lower() not in re.split(r'[=,!: ]', tried):
                    fail(f'{name}: the value {value} is in no row')
        for other in others:
            if not any(re.match(rf'--{re.escape(other)}(=|$)', word) for word in words):
                fail(f'--{other} is in no row')


def check_qualifiers(tracer, rows, sample, folder):
    for name, letter, long_name, form, placeholder, others, qualifiers in rows:
        if qualifiers and name not in shown.QUALIFIERS:
            fail(f'{name}: shown.QUALIFIERS has no value for it')
        value = shown.QUALIFIERS.get(name)
        for qualifier in qualifiers if value else []:
            options = ('' if name in ('trace', 'inject', 'fault') else '-e trace=chdir ') + f'-e {qualifier}={value}'
            status, text = run(tracer, options, f'{shlex.quote(sample)} fail', folder)
            if status != 0 or 'chdir' not in text and name not in ('raw', 'trace_fds'):
                fail(f'{options}: status {status}', text)


def check_short_forms(tracer, sample, folder):
    """Bundles, glued arguments, prefixes, the end of the options: all the same trace."""
    same = ['-e trace=chdir -a 20', '-etrace=chdir -a20', '-e chdir -a20', '--trace=chdir --columns=20', '--trace chdir --columns 20', '--trace=chdir --colu=20', '-e trace=chdir -a20 --']
    texts = {run(tracer, options, f'{shlex.quote(sample)} fail', folder) for options in same}
    if len(texts) != 1:
        fail('other spellings of one command line', '\n'.join(map(str, texts)))


def check_kvm(tracer, folder):
    """Why a virtual processor stopped; the reason why this cannot be seen here, or nothing."""
    program = f'/usr/bin/python3 -I {HERE / "vcpu.py"}'
    found = {}
    for name, where, options in (('ours', tracer, '--kvm=vcpu'), ('all', tracer, '-e kvm=vcpu+'), ('strace', STRACE, '--kvm=vcpu')):
        status, text = run(where, f'-e trace=ioctl {options}', program, folder) if where else (77, '')
        if status == 77 and where:
            return text.strip().split('\n')[-2]
        found[name] = re.findall(r'KVM_RUN, 0\) += (.*)', text)
    if found['ours'] != ['0 (KVM_EXIT_HLT)'] or STRACE and found['strace'] != found['ours']:
        fail('--kvm=vcpu', str(found))
    if not re.fullmatch(r'0 \(KVM_EXIT_HLT, kvm_run {request_interrupt_window=0, .*exit_reason=KVM_EXIT_HLT, .*}\)', ''.join(found['all'])):
        fail('--kvm=vcpu+', str(found))
    return ''


def main():
    tracer, sample = [os.path.realpath(path) for path in sys.argv[1:3]]
    rows = rows_of(pathlib.Path(sys.argv[3]).read_text())
    if len(rows) != len(re.findall(r'^OPTION\(', pathlib.Path(sys.argv[3]).read_text(), re.M)):
        fail('options.def is not understood')
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        (folder / 'own.sys').write_text('# nothing\n')
        (folder / 'text').write_text('data\n')
        can = {'root'} if os.geteuid() == 0 else set()
        if run(tracer, '--engine=bpf -e trace=none', 'true', folder)[0] == 0:
            can.add('bpf')
        if 'no libunwind' not in run(tracer, '-k --stack-unwinder=libunwind -e trace=none', 'true', folder)[1]:
            can.add('libunwind')
        check_complete(rows)
        check_refusals(tracer, folder)
        check_qualifiers(tracer, rows, sample, folder)
        check_short_forms(tracer, sample, folder)
        for options, patterns in shown.INFORMATION:
            status, text = run(tracer, options, '', folder)
            if status != 0 or not all(re.search(pattern, text, re.M) for pattern in patterns):
                fail(f'{options}: status {status}', text)
        skipped = [f'{row[0]}: {why}' for row in shown.ROWS if (why := check_row(tracer, sample, folder, row, can))]
        if why := check_kvm(tracer, folder):
            skipped.append(f'--kvm: {why}')
    if NO_STRACE:
        skipped.append(f'beside strace: {NO_STRACE}')
    for line in skipped:
        print('not tried', line)
    print(f'{len(rows)} options, {len(shown.ROWS)} rows shown; {len(failures)} failures')
    sys.exit(1 if failures else 0)


if __name__ == '__main__':
    main()
