#!/usr/bin/python3
"""What is in the data of a report of --format=html, without a browser: check_data.py TRACER"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from report_data import Report  # noqa: E402

LIMIT = 60  # seconds for one run
HOSTILE = '''
import os, sys
for name in (b'</script><script>document.title="pwned"</script>', b'<!--<script>', b'"quoted\\'', b'\\xff\\xfe', b'a\\nb', b'@DATA@', '\\u202e'.encode()):
    try: os.stat(b'missing ' + name)
    except OSError: pass
'''
MANY = 'import os\nfor i in range(20000): os.getppid()\n'


def run(*command, **options):
    return subprocess.run(command, timeout=LIMIT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def expect(true, what, *facts):
    if not true:
        sys.exit(f'{what}: ' + ', '.join(map(repr, facts)))


def counts(table):
    """Calls and errors by name, of the table of -c."""
    result = {}
    for line in table.splitlines():
        fields = re.match(r'\s*[\d.]+\s+[\d.]+\s+[\d.]+\s+(\d+)\s+(?:(\d+)\s+)?(\S+)$', line)
        if fields and fields[3] != 'total':
            result[fields[3]] = (int(fields[1]), int(fields[2] or 0))
    return result


def check_counts(tracer, folder, command):
    trace, live, replayed = folder / 'trace', folder / 'live.html', folder / 'replayed.html'
    run(tracer, '-f', f'--record={trace}', '--format=html', '-o', live, *command, cwd=folder)
    run(tracer, f'--replay={trace}', '--format=html', '-o', replayed)
    table = counts(run(tracer, f'--replay={trace}', '-c', '-w', check=True).stderr.decode())
    expect(table, 'there is no table of -c', command)
    for page in (live, replayed):
        report = Report(page)
        head = report.head
        named = {head['strings'][row[0]]: (row[1], row[2]) for row in head['names']}
        # A call that never returns is no call for -c.
        for name in ('exit_group', 'exit'):
            named.pop(name, None)
            table.pop(name, None)
        expect(named == table, 'calls and errors by name are not those of -c', sorted(set(named.items()) ^ set(table.items())))
        rows = list(report.rows())
        expect(len(rows) == head['rows'] == head['calls'], 'rows are missing', len(rows), head['rows'], head['calls'])
        for name, (calls, errors) in named.items():
            mine = [row for row in rows if row['name'] == name]
            expect((len(mine), sum(row['error'] != '' for row in mine)) == (calls, errors), 'the columns have others', name)
        times = {row[0]: row[3:] for row in head['names']}
        for index, (total, p50, p95, p99, longest) in times.items():
            mine = [row['duration'] for row in rows if row['name'] == head['strings'][index] and row['end'] == 0]
            expect(sum(mine) == total and max(mine, default=0) == longest, 'times differ', head['strings'][index])
            expect(p50 <= p95 <= p99 <= longest, 'percentiles fall', head['strings'][index])
        expect(all(a['start'] <= b['start'] for a, b in zip(rows, rows[1:])), 'calls are not in the order of time')
        expect(all(0 < row['thread'] <= len(head['threads']) for row in rows), 'a thread does not exist')
    return Report(replayed)


# Without the module of the name, whose import has other errors.
REFUSED = """
import _socket
for family, address in ((_socket.AF_INET, '127.0.0.1'), (_socket.AF_INET6, '::1')):
    try: _socket.socket(family, _socket.SOCK_STREAM).connect((address, 1))
    except OSError: pass
"""


def main():
    tracer = pathlib.Path(sys.argv[1]).resolve()
    os.environ['LC_ALL'] = 'C.UTF-8'
    with tempfile.TemporaryDirectory(prefix='tracer-report-') as name:
        folder = pathlib.Path(name)
        page = folder / 'page.html'

        report = check_counts(tracer, folder, ['/bin/sh', '-c', '/bin/cat notes; /bin/ls / | /usr/bin/head -2; exit 3'])
        processes = report.head['processes']
        expect(len(processes) == 4, 'there are not four processes', processes)
        expect([process[6] for process in processes][0] == 'exit 3', 'the exit is wrong', processes[0])
        expect({process[1] for process in processes[1:]} == {processes[0][0]}, 'the shell is not their parent', processes)
        expect(processes[0][8][0][1] == "/bin/sh -c '/bin/cat notes; /bin/ls / | /usr/bin/head -2; exit 3'", 'the command is wrong', processes[0])
        expect('://' not in re.sub(r'"data">.*?<', '', report.page), 'the page names a host')
        expect("default-src 'none'" in report.page, 'the page may load something')

        run(tracer, '--format=html', '-o', page, '/bin/cat', '/missing file')
        report = Report(page)
        answer = report.head['verdict']['answers'][0]
        expect(answer['rule'] == 'missing-file' and '/missing file' in answer['cause'], 'the verdict does not name the file', answer)
        missing = [row for row in report.rows() if row['object'] == '/missing file' and row['name'] == 'openat']
        expect(len(missing) == 1 and missing[0]['error'] == 'ENOENT', 'the missing file is no row', missing)
        expect(missing[0]['arguments'][0][3:6] == ['pathname', 'path', '/missing file'], 'its arguments differ', missing[0])
        run(tracer, '--format=html', '-o', page, sys.executable, '-S', '-c', REFUSED)
        refused = {row['object'] for row in Report(page).rows() if row['error'] == 'ECONNREFUSED'}
        expect(refused == {'TCP:[->127.0.0.1:1]', 'TCPv6:[->[::1]:1]'}, 'connections have no address', refused)
        run(tracer, '--format=html', '-e', 'trace=openat', '-o', page, '/bin/cat', '/missing file')
        expect('verdict' not in Report(page).head, 'there is a verdict of a filtered run')

        # The page without its data fits into the budget, and a call takes some 20 bytes.
        run(tracer, '--format=html', '-e', 'trace=none', '-o', page, '/bin/true')
        empty = page.stat().st_size
        expect(empty <= 120_000, 'an empty report is too large', empty)
        run(tracer, '--format=html', '-o', page, sys.executable, '-S', '-c', MANY)
        report = Report(page)
        each = (page.stat().st_size - empty) / report.head['calls']
        expect(report.head['calls'] > 20000 and each < 30, 'calls take too much room', each, report.head['calls'])

        run(tracer, '--format=html', '-o', page, sys.executable, '-S', '-c', HOSTILE)
        report = Report(page)
        expect(report.page.count('</script>') == 2 and report.page.count('<script') == 2, 'a name is markup')
        names = [row['object'] for row in report.rows() if 'missing ' in row['object']]
        expect(len(names) == 7, 'hostile names are missing', names)
        expect(any('\\377\\376' in name for name in names) and not any('\u202e' in name for name in names), 'names are not printable', names)

        run(tracer, '-k', '--format=html', '-e', 'trace=getppid', '-o', page, sys.executable, '-S', '-c', 'import os; os.getppid()')
        report = Report(page)
        stacks = report.head['stacks']
        row = next(report.rows())
        frame = report.head['strings'][stacks[row['stack']][1]]
        expect('getppid' in frame, 'the innermost frame is another', frame)
        expect(all(parent < number for number, (parent, *_) in enumerate(stacks) if number), 'a frame precedes its caller')

        refused = run(tracer, '--format=html', '/bin/true')
        expect(refused.returncode == 1 and b'--format=html needs -o FILE' in refused.stderr, 'it writes to a terminal', refused.stderr)


main()
