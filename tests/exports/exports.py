#!/usr/bin/python3
"""Exports as those read them that they are for: each test has a consumer's own word, and none uses our writers.

    exports.py TRACER EXPORTED [NAME...]
"""

import argparse
import base64
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

import timelines

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'peers'))
import npm_packages  # noqa: E402
import packages  # noqa: E402
import peers  # noqa: E402

TESTS = []
LIMIT = 120  # seconds for one run


def test(function):
    TESTS.append(function)
    return function


class Failure(Exception):
    pass


class Skipped(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Failure(what)


def need(program, package):
    """The path of a consumer's program."""
    path = shutil.which(program)
    if not path:
        raise Skipped(f'there is no {program} (Debian: {package})')
    return path


class Place:
    """A directory of its own, the tracer, and a program to trace."""

    def __init__(self, tracer, program, directory):
        self.tracer = str(tracer)
        self.program = str(program)
        self.path = pathlib.Path(directory)

    def run(self, *words, **more):
        """The tracer with these words; it runs the program if they end in none."""
        return subprocess.run([self.tracer, *map(str, words)], cwd=self.path, capture_output=True, timeout=LIMIT,
                              env={'PATH': os.environ['PATH'], 'LC_ALL': 'C', 'TZ': 'UTC', 'HOME': str(self.path)}, **more)

    def export(self, kind, *words):
        """What a run that must succeed has written."""
        done = self.run(f'--format={kind}', '-o', f'out.{kind}', *words)
        expect(done.returncode == 0, f'{kind} {words}: status {done.returncode}: {done.stderr[-500:]}')
        expect(b'tracer' not in done.stderr, f'{kind} {words}: {done.stderr[-500:]}')
        return (self.path / f'out.{kind}').read_bytes()

    def record(self, *words):
        done = self.run('--record=run.trace', '-f', '-o', '/dev/null', *words)
        expect((self.path / 'run.trace').exists(), f'no recording: {done.stderr[-300:]}')

    def has_bpf(self):
        return os.geteuid() == 0 and self.run('--engine=bpf', '-o', '/dev/null', 'true').returncode == 0


def without_numbers(text):
    """What may differ between two runs taken out."""
    text = re.sub(r'\(\d+\)', '(PID)', text)
    return re.sub(r'[\d.]+ (s|ms|us|ns)\b', 'TIME', text)


# ---------------------------------------------------------------------------------------------- tree and dot

SHELL = ['sh', '-c', 'true | cat; X="a b" env -u LC_ALL sleep 0; sh -c "kill -9 \\$\\$"; (exit 3); exit 0']


def commands(tree):
    """[the words of a command line], as a shell takes them."""
    return [shlex.split(line.split('$ ', 1)[1]) for line in tree.splitlines() if re.search(r'^[ │]*\$ ', line)]


@test
def the_tree_has_programs_ends_and_environment(place):
    tree = place.export('tree', *SHELL).decode()
    lines = tree.splitlines()
    expect(re.match(r'sh\(\d+\)  exit 0, [\d.]+ \w+$', lines[0]), lines[0])
    expect(SHELL in commands(tree), tree)
    expect(['env', '-u', 'LC_ALL', 'sleep', '0'] in commands(tree) and ['sleep', '0'] in commands(tree), tree)
    expect(re.search(r"^[ │]*env .*\+X='a b'$", tree, re.M) and 'env -LC_ALL' in tree, tree)
    expect(re.search(r'^[├└]─sh\(\d+\)  killed by SIGKILL', tree, re.M) and re.search(r'^[├└]─sh\(\d+\)  exit 3', tree, re.M), tree)
    expect(sum('─' in line for line in lines) == 5, tree)


@test
def the_tree_counts_threads(place):
    tree = place.export('tree', place.program, 'threads').decode()
    expect(re.search(r'^exported\(\d+\)  exit 0, .*, 4 threads$', tree, re.M), tree)
    expect(re.search(r'^└─exported\(\d+\)  exit 7', tree, re.M), tree)


@test
def an_execve_in_a_thread_is_one_process(place):
    tree = place.export('tree', place.program, 'replaced').decode()
    expect(tree.count('exit 0') == 1 and commands(tree)[-1] == ['exported', 'quiet'], tree)


@test
def recordings_and_bpf_show_the_same_tree(place):
    live = without_numbers(place.export('tree', *SHELL).decode())
    place.record(*SHELL)
    for kind in ('tree', 'dot'):
        replayed = place.export(kind, '--replay=run.trace')
        expect(replayed == place.export(kind, '--replay=run.trace'), f'{kind}: two replays differ')
    expect(without_numbers(place.export('tree', '--replay=run.trace').decode()) == live, f'{live}\n{replayed}')
    if not place.has_bpf():
        raise Skipped('the BPF engine does not work here')
    expect(without_numbers(place.export('tree', '--engine=bpf', *SHELL).decode()) == live, 'bpf shows another tree')


@test
def graphviz_draws_the_processes(place):
    dot = need('dot', 'graphviz')
    place.export('dot', place.program, 'hostile')
    drawn = subprocess.run([dot, '-Tsvg', 'out.dot'], cwd=place.path, capture_output=True, timeout=LIMIT)
    expect(drawn.returncode == 0 and not drawn.stderr, drawn.stderr[-500:])
    svg = drawn.stdout.decode()
    expect(svg.count('<g id="node') == 10 and svg.count('<g id="edge') == 9, f'{svg.count("<g id=")} parts')
    expect('<b>' not in svg and '\x1b' not in svg and '\u202e' not in svg, 'a name was not escaped')


@test
def hostile_names_stay_on_their_line(place):
    tree = place.export('tree', place.program, 'hostile').decode()
    expect(not re.search('[\x00-\x09\x0b-\x1f\x7f\u202e]', tree), repr(tree))
    words = [line.split('$ ', 1)[1] for line in tree.splitlines() if '$ ' in line]
    expect(len(words) == 10, tree)
    shell = shutil.which('bash') or raise_skipped('there is no bash')
    printed = subprocess.run([shell, '-c', '\n'.join('printf "%s\\0" ' + each.split(' ', 1)[1] if ' quiet ' not in each else f'set -- {each}; printf "%s\\0" "$3"'
                                                     for each in words)], capture_output=True, timeout=LIMIT).stdout.split(b'\0')
    for name in (b'new\nline', b'quote"back\\slash', b'\xff\xfe bytes', b'</script><b>', '\u202ertl'.encode()):
        expect(name in printed, f'{name} cannot be pasted: {printed}')


def raise_skipped(why):
    raise Skipped(why)


# ---------------------------------------------------------------------------------------------- chrome and perfetto

def timeline(place, kind, *words):
    """The timeline of a run, checked."""
    place.export(kind, *words)
    path = place.path / f'out.{kind}'
    if kind == 'chrome':
        read = timelines.read_chrome(path.read_text())
    else:
        read = timelines.read_perfetto(need('protoc', 'protobuf-compiler'), path)
    read.check()
    return read


def table(place, *words):
    """{name: [calls, failed, nanoseconds]} of -c -w."""
    text = place.run('--replay=run.trace', '-c', '-w', '-O0', '-U', 'calls,errors,time-total,name', *words).stderr.decode()
    rows = re.findall(r'^ *(\d+) +(\d*) +(\d+\.\d+) (\S+)$', text, re.M)
    return {name: [int(calls), int(errors or 0), round(float(seconds) * 1e9)] for calls, errors, seconds, name in rows if name != 'total'}


KINDS = ('chrome', 'perfetto')


@test
def timelines_add_up_to_what_the_summary_says(place):
    place.record('sh', '-c', 'ls -lR /usr/share/doc/dpkg /missing | sort | wc -l')
    wanted = table(place)
    expect(len(wanted) > 15 and wanted['execve'][0] >= 4, wanted)
    for kind in KINDS:
        found = timeline(place, kind, '--replay=run.trace').totals()
        expect(set(found) == set(wanted), f'{kind}: {set(found) ^ set(wanted)}')
        for name, (calls, failed, time) in wanted.items():
            expect(found[name][:2] == [calls, failed], f'{kind} {name}: {found[name]}, not {calls}, {failed}')
            expect(abs(found[name][2] - time) <= 1000, f'{kind} {name}: {found[name][2]} ns, not {time}')


@test
def timelines_of_threads_have_a_track_each(place):
    for kind in KINDS:
        line = timeline(place, kind, '-f', place.program, 'threads')
        tracks = {event.track for event in line.calls() if event.name == 'openat' and event.arguments.get('ret', {}) and '/dev/null' in str(event.arguments)}
        expect(len(tracks) == 4, f'{kind}: {len(tracks)} tracks opened /dev/null')
        kinds = [track[0] for track in line.tracks.values()]
        expect(kinds.count('process') == 2 and kinds.count('thread') == 5, f'{kind}: {kinds}')
        expect(sum(event.name == 'new thread' for event in line.events) == 3, f'{kind}: threads')
        expect(any(event.name == 'exit 7' for event in line.events), f'{kind}: no end')
    expect(len(line.flows[0]) == 4 and set(line.flows[0]) == set(line.flows[1]), 'arrows from forks to children')
    for track, samples in line.counters.items():
        if 'descriptors opened and not closed' in line.names[track]:
            expect(samples and samples[-1][1] == 0 and max(value for _, value in samples) in range(1, 7), f'{samples[-9:]}')


@test
def an_execve_in_a_thread_nests(place):
    for kind in KINDS:
        line = timeline(place, kind, '-f', place.program, 'replaced')
        calls = [call for call in line.calls() if call.name == 'execve' and call.duration is not None]
        expect(len(calls) == 2 and len({call.track for call in calls}) == 2, f'{kind}: {calls}')


@test
def library_calls_nest_with_system_calls(place):
    for kind in KINDS:
        line = timeline(place, kind, '-e', 'library=opendir+closedir+puts+malloc', '-e', 'trace=openat,close', 'ls', '/')
        functions = [call for call in line.calls() if 'library' in call.categories]
        opendir = next((call for call in functions if call.name == 'opendir'), None)
        if opendir is None:
            raise Skipped('calls of functions are not traced here')
        inside = [call for call in line.calls() if call.name == 'openat' and opendir.start < call.start < opendir.start + opendir.duration]
        expect(inside and inside[0].track == opendir.track, f'{kind}: no openat inside opendir')


@test
def signals_and_stacks_are_in_timelines(place):
    for kind in KINDS:
        line = timeline(place, kind, '-f', '-k', 'sh', '-c', 'trap : USR1; kill -USR1 $$')
        signal = next((event for event in line.events if event.name == 'SIGUSR1'), None)
        expect(signal and 'SI_USER' in str(signal.arguments), f'{kind}: {signal}')
        expect(any('libc.so.6' in str(call.arguments.get('stack')) for call in line.calls()), f'{kind}: no stack')


@test
def speedscope_shows_the_timeline(place):
    browser = need('chromium', 'chromium')
    try:
        page = npm_packages.directory('speedscope', '1.25.0') / 'dist/release/index.html'
    except packages.Unavailable as missing:
        raise Skipped(f'there is no speedscope: {missing}') from missing
    timeline = place.export('chrome', '-f', 'sh', '-c', 'ls / | head -2; exit 0')
    # As speedscope's own command hands a file to its page.
    loaded = place.path / 'load.js'
    loaded.write_text(f'speedscope.loadFileFromBase64("out.chrome", "{base64.b64encode(timeline).decode()}")')

    def chromium(*words):
        return subprocess.run([browser, '--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', f'--user-data-dir={place.path}/profile',
                               '--virtual-time-budget=20000', '--window-size=1200,700', *words, f'{page.as_uri()}#localProfilePath={loaded}'],
                              capture_output=True, text=True, timeout=LIMIT)

    shown = chromium('--dump-dom').stdout
    processes = json.loads(timeline)
    processes = processes if isinstance(processes, list) else processes['traceEvents']
    tracks = {(event['pid'], event['tid']) for event in processes if event['ph'] in 'BX'}
    expect(len(tracks) == 3, f'{tracks}')
    expect('<title>out.chrome - speedscope</title>' in shown, shown[:2000])
    expect(re.search(rf'sh \(pid \d+\), sh \(tid \d+\) <span[^>]*>\(1/{len(tracks)}\)', shown), 'it has other profiles: ' + str(re.findall(r'.{90}\(1/\d+\)', shown)))
    if into := os.environ.get('TRACER_SCREENSHOTS'):
        chromium(f'--screenshot={into}/speedscope.png')


@test
def hostile_names_are_text_in_timelines(place):
    for kind in KINDS:
        line = timeline(place, kind, '-f', place.program, 'hostile')
        everything = [name for names in line.names.values() for name in names] + [event.name for event in line.events]
        expect(not any(re.search('[\x00-\x1f\x7f\u202e]', name) for name in everything), [name for name in everything if not name.isprintable()])
        paths = [str(call.arguments) for call in line.calls() if call.name == 'openat']
        for name in ('new\\nline', '</script><b>', "'; DROP TABLE event; --", '\\u202ertl'):
            expect(any(name in path for path in paths), f'{kind}: {name!r}')
        expect(any('fffe206279746573' in path for path in paths), f'{kind}: bytes that are no UTF-8')


# ---------------------------------------------------------------------------------------------- sqlite

def base_of(place, *words):
    place.export('sqlite', *words)
    base = sqlite3.connect(place.path / 'out.sqlite')
    expect(base.execute('PRAGMA integrity_check').fetchall() == [('ok',)], 'the data base is damaged')
    expect(base.execute('PRAGMA foreign_key_check').fetchall() == [], 'a row refers to none')
    return base


@test
def the_data_base_says_what_the_summary_says(place):
    place.record('sh', '-c', 'ls -lR /usr/share/doc/dpkg /missing | sort | wc -l')
    base = base_of(place, '--replay=run.trace')
    rows = base.execute('SELECT name, count(*), count(errno), sum(dur) FROM calls WHERE unfinished IS NULL GROUP BY name').fetchall()
    found = {name: [calls, failed, time] for name, calls, failed, time in rows}
    wanted = table(place)
    expect(set(found) == set(wanted), set(found) ^ set(wanted))
    for name, (calls, failed, time) in wanted.items():
        expect(found[name][:2] == [calls, failed] and abs(found[name][2] - time) <= 1000, f'{name}: {found[name]}, not {wanted[name]}')
    expect(base.execute("SELECT ret, errno FROM calls WHERE path = '/missing' AND errno NOT NULL LIMIT 1").fetchone() == (-1, 'ENOENT'), 'the missing file')
    pipes = base.execute("SELECT sum(bytes * (name = 'write')), sum(bytes * (name = 'read')) FROM calls WHERE object LIKE 'pipe:%' GROUP BY object").fetchall()
    between = [(sent, received) for sent, received in pipes if sent and received]  # not those to this test
    expect(len(between) == 2 and all(sent == received for sent, received in between), f'went into pipes and came out: {pipes}')
    opened = base.execute("SELECT count(*) FROM fd_event JOIN object ON object.id = object WHERE what = 'open' AND name LIKE '/usr/share/doc/dpkg%'").fetchone()
    expect(opened[0] >= 1, 'no directory was opened')


@test
def the_data_base_knows_processes(place):
    base = base_of(place, '-f', *SHELL)
    rows = base.execute('SELECT child.name, child.status, child.signal, parent.name FROM process child LEFT JOIN process parent '
                        'ON parent.id = child.parent ORDER BY child.id').fetchall()
    expect(rows[0] == ('sh', 0, None, None) and len(rows) == 6, rows)
    expect(('sh', None, 'SIGKILL', 'sh') in rows and ('sh', 3, None, 'sh') in rows, rows)
    commands = [row[0] for row in base.execute('SELECT command FROM exec')]
    expect('env -u LC_ALL sleep 0' in commands and 'sleep 0' in commands, commands)


@test
def every_query_of_the_manual_works(place):
    manual = (pathlib.Path(__file__).resolve().parents[2] / 'man/tracer.1.in').read_text()
    queries = manual.split('.\\" queries')[1].split('\n', 1)[1].split('.\\" end of queries')[0].replace('\\-', '-').splitlines()
    expect(len(queries) == 10, f'{len(queries)} queries')
    base = base_of(place, '-f', 'sh', '-c', 'ls /missing; cat /etc/passwd')
    for query in queries:
        expect(base.execute(query).fetchall(), f'no rows: {query}')
    client = shutil.which('sqlite3')
    if client:
        done = subprocess.run([client, 'out.sqlite', queries[0]], cwd=place.path, capture_output=True, timeout=LIMIT)
        expect(done.returncode == 0 and b'openat|' in done.stdout, done.stderr)


@test
def duckdb_reads_the_data_base_and_json_lines(place):
    duckdb = peers.find('duckdb')
    if duckdb is None:
        raise Skipped('there is no duckdb')

    def ask(query):
        done = subprocess.run([duckdb, '-csv', '-noheader', '-c', query], cwd=place.path, capture_output=True, text=True, timeout=LIMIT)
        expect(done.returncode == 0, f'{query}: {done.stderr[-500:]}')
        return done.stdout.split()

    place.record('sh', '-c', 'ls -l /usr/share/doc/dpkg /missing | sort')
    wanted = table(place)
    counts = sorted(f'{name},{calls},{failed}' for name, (calls, failed, _) in wanted.items())
    place.export('json', '--replay=run.trace')
    read = "read_json('out.json', format='newline_delimited', union_by_name=true, maximum_object_size=100000000)"
    found = ask(f"SELECT name, count(*), count(errno) FROM {read} WHERE type = 'syscall' AND unfinished IS NULL GROUP BY name ORDER BY name")
    expect(sorted(found) == counts, f'{set(found) ^ set(counts)}')
    base_of(place, '--replay=run.trace').close()
    try:
        found = ask("ATTACH 'out.sqlite' AS base (TYPE sqlite); SELECT name, count(*), count(errno) FROM base.calls WHERE unfinished IS NULL GROUP BY name")
    except Failure as failure:
        if 'extension' not in str(failure).lower():
            raise
        print(f'  (not of the data base: this duckdb has no extension for SQLite: {str(failure)[-200:]!r})')
        return
    expect(sorted(found) == counts, f'{set(found) ^ set(counts)}')


@test
def hostile_names_are_values_in_the_data_base(place):
    base = base_of(place, '-f', place.program, 'hostile')
    paths = [row[0] for row in base.execute("SELECT path FROM calls WHERE name = 'openat'")]
    for name in ('new\\012line', '</script><b>', "'; DROP TABLE event; --", '\\377\\376 bytes'):
        expect(name in paths, f'{name!r}: {paths}')
    expect(base.execute('SELECT count(*) FROM process').fetchone() == (10,), 'processes')


# ---------------------------------------------------------------------------------------------- pcapng

WEB = """
import http.server, threading, urllib.request
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.send_header('Content-Length', '200000'); self.end_headers()
        self.wfile.write(b'x' * 200000)
    def log_message(self, *words): pass
server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
threading.Thread(target=server.handle_request).start()
print(server.server_port, flush=True)
assert len(urllib.request.urlopen(f'http://127.0.0.1:{server.server_port}/page?a=1').read()) == 200000
"""


def packets_of(data):
    """[(nanoseconds, addresses and ports, flags, sequence, payload, original length, comment)] of a pcapng file."""
    packets = []
    at = 0
    while at < len(data):
        kind, size = struct.unpack_from('<II', data, at)
        expect(size % 4 == 0 and struct.unpack_from('<I', data, at + size - 4) == (size,), 'a block has two sizes')
        body = data[at + 8:at + size - 4]
        at += size
        if kind == 0x0A0D0D0A:
            expect(body[:8] == bytes.fromhex('4d3c2b1a01000000'), 'the byte order')
        elif kind == 1:
            expect(body[:2] == b'\x65\0' and b'\x09\0\x01\0\x09' in body, 'the link type, the resolution')
        else:
            expect(kind == 6, f'block {kind}')
            _, high, low, captured, original = struct.unpack_from('<IIIII', body)
            packet = body[20:20 + captured]
            code, length = struct.unpack_from('<HH', body, 20 + (captured + 3) // 4 * 4)
            start = 24 + (captured + 3) // 4 * 4
            comment = body[start:start + length].decode()
            expect(code == 1, 'no comment')
            expect(packet[0] == 0x45 and struct.unpack_from('>H', packet, 2) == (original,), 'the IP header')
            words = struct.unpack_from('>10H', packet)
            total = sum(words)
            expect((total & 0xffff) + (total >> 16) in (0xffff, 0x1fffe), 'the checksum of the IP header')
            ports = struct.unpack_from('>HH', packet, 20)
            ends = (packet[12:16], ports[0], packet[16:20], ports[1])
            if packet[9] == 6:
                sequence, = struct.unpack_from('>I', packet, 24)
                packets.append(((high << 32) + low, ends, packet[33], sequence, packet[40:], original - 40, comment))
            else:
                packets.append(((high << 32) + low, ends, 0, 0, packet[28:], original - 28, comment))
    return packets


def streams_of(packets):
    """{ends: bytes} as the sequence numbers say."""
    streams = {}
    for _, ends, flags, sequence, payload, original, _ in packets:
        if flags & 2:
            streams[ends] = b''
        elif original:
            expect(sequence == len(streams[ends]) + 1, f'a gap or a repetition at {sequence}')
            expect(len(payload) == original, 'a part is missing')
            streams[ends] += payload
    return streams


@test
def packets_carry_what_a_web_server_said(place):
    expect(place.export('pcapng', '-f', sys.executable, '-c', WEB), 'nothing')
    packets = packets_of((place.path / 'out.pcapng').read_bytes())
    streams = streams_of([packet for packet in packets if packet[1][0] == b'\x7f\0\0\1' and packet[1][2] == b'\x7f\0\0\1'])
    expect(len(streams) == 2, f'{len(streams)} streams')
    asked, said = sorted(streams.values(), key=len)
    expect(asked.startswith(b'GET /page?a=1 HTTP/1.1\r\n') and said.startswith(b'HTTP/1.0 200 OK\r\n'), asked[:99])
    expect(said.endswith(b'\r\n\r\n' + b'x' * 200000), f'{len(said)} bytes')
    expect(all(re.fullmatch(r'.+ \d+ (send|recv)\w*|.+ \d+ (read|write)', packet[6]) for packet in packets), {packet[6] for packet in packets})
    expect([packet[0] for packet in packets] == sorted(packet[0] for packet in packets), 'times fall')


@test
def tshark_finds_the_request(place):
    tshark = need('tshark', 'tshark')
    done = place.run('--format=pcapng', '-o', 'out.pcapng', '-f', sys.executable, '-c', WEB)
    port = done.stdout.decode().strip()
    read = subprocess.run([tshark, '-r', 'out.pcapng', '-d', f'tcp.port=={port},http', '-Y', 'http', '-T', 'fields', '-e', 'http.request.uri', '-e', 'http.response.code'],
                          cwd=place.path, capture_output=True, timeout=LIMIT)
    expect(b'/page?a=1' in read.stdout and b'200' in read.stdout, f'{read.stdout} {read.stderr}')
    wrong = subprocess.run([tshark, '-r', 'out.pcapng', '-o', 'ip.check_checksum:TRUE', '-o', 'tcp.check_checksum:TRUE', '-Y',
                            'tcp.analysis.flags || ip.checksum.status == 0 || tcp.checksum.status == 0 || _ws.malformed'], cwd=place.path, capture_output=True, timeout=LIMIT)
    expect(wrong.returncode == 0 and not wrong.stdout.strip(), wrong.stdout[:500] + wrong.stderr[-200:])


TLS = """
import socket, ssl, threading
server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); server.load_cert_chain('cert.pem', 'key.pem')
client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT); client.check_hostname = False; client.verify_mode = ssl.CERT_NONE
a, b = socket.socketpair()
def serve():
    with server.wrap_socket(b, server_side=True) as tls:
        tls.recv(99); tls.sendall(b'HTTP/1.0 200 OK\\r\\nContent-Length: 6\\r\\n\\r\\nsecret')
thread = threading.Thread(target=serve); thread.start()
with client.wrap_socket(a) as tls:
    tls.sendall(b'GET /tls HTTP/1.0\\r\\n\\r\\n'); tls.recv(999)
thread.join()
"""


@test
def the_plaintext_of_tls_is_there_on_request(place):
    openssl = need('openssl', 'openssl')
    subprocess.run([openssl, 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'key.pem', '-out', 'cert.pem', '-subj', '/CN=x', '-days', '2'],
                   cwd=place.path, capture_output=True, timeout=LIMIT, check=True)
    done = place.run('--format=pcapng', '-o', 'out.pcapng', '-f', '-e', 'library=SSL_read+SSL_write+SSL_read_ex+SSL_write_ex', sys.executable, '-c', TLS)
    packets = packets_of((place.path / 'out.pcapng').read_bytes())
    streams = [b''.join(p[4] for p in packets if p[1] == ends and 80 in (ends[1], ends[3])) for ends in {p[1] for p in packets}]
    expect(done.returncode == 0 and not any(b'\x7f\0\0\0' in p[1] and 80 not in p[1] for p in packets), f'{done.stderr} {packets[-3:]}')
    if not any(streams):
        raise Skipped(f'calls of libssl are not traced here: {done.stderr[-200:]}')
    expect(any(stream.startswith(b'GET /tls HTTP/1.0') for stream in streams) and any(b'secret' in stream for stream in streams), streams)


@test
def unix_sockets_and_datagrams_are_packets(place):
    program = ("import socket; a, b = socket.socketpair(); a.sendall(b'to the other'); b.recv(99)\n"
               "u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.bind(('127.0.0.1', 0)); v = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
               "v.connect(u.getsockname()); v.send(b'one'); u.recv(9)")
    packets = packets_of(place.export('pcapng', sys.executable, '-c', program))
    expect(b'to the other' in streams_of([p for p in packets if p[2]]).values(), 'the pair')
    expect(b'one' in [p[4] for p in packets if p[2] == 0], 'the datagram')


@test
def a_call_carries_no_more_than_the_kernel_moves(place):
    program = ("import ctypes, socket; a, b = socket.socketpair(); a.sendall(b'x')\n"
               "ctypes.CDLL(None).recv(b.fileno(), ctypes.create_string_buffer(8), 8, 0)")
    place.run('--format=pcapng', '-o', 'out.pcapng', '-e', 'inject=recvfrom:retval=0x7fffffffffffffff', sys.executable, '-c', program,
              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (32 << 20, 32 << 20)))
    sizes = [packet[5] for packet in packets_of((place.path / 'out.pcapng').read_bytes()) if 'recvfrom' in packet[6]]
    expect(65000 in sizes and sum(sizes) <= 0x7ffff000, f'{len(sizes)} packets of {sum(sizes)} bytes')


# ---------------------------------------------------------------------------------------------- all of them

ALL = ('tree', 'dot', 'chrome', 'perfetto', 'sqlite', 'pcapng')


def content(place, kind, name):
    data = (place.path / name).read_bytes()
    return '\n'.join(sqlite3.connect(place.path / name).iterdump()) if kind == 'sqlite' else data


@test
def a_replay_exports_what_the_run_did(place):
    engines = ['ptrace'] + (['bpf'] if place.has_bpf() else [])
    for engine in engines:
        for kind in ALL:
            limit = ['-s', '65536'] if kind == 'pcapng' else []
            live = place.run(f'--engine={engine}', '--record=run.trace', *limit, '-f', f'--format={kind}', '-o', 'live', 'sh', '-c', 'ls / /missing | cat; kill -9 $$')
            expect(live.returncode == -9, f'{kind}: {live.returncode} {live.stderr[-300:]}')
            place.run('--replay=run.trace', f'--format={kind}', '-o', 'replayed')
            one, two = (content(place, kind, name) for name in ('live', 'replayed'))
            expect(one == two and one, f'{engine} {kind}: they differ')
    if len(engines) == 1:
        print('  (not with BPF, which does not work here)')


@test
def the_bpf_engine_exports_the_same_calls(place):
    if not place.has_bpf():
        raise Skipped('the BPF engine does not work here')
    words = ['-e', 'trace=openat,close,execve,exit_group', place.program, 'quiet']
    for kind in KINDS:
        one, two = (sorted((call.name, call.arguments.get('errno', '')) for call in timeline(place, kind, f'--engine={engine}', *words).calls())
                    for engine in ('ptrace', 'bpf'))
        expect(one == two and len(one) > 5, f'{kind}: {one} {two}')


@test
def an_interrupted_export_is_whole(place):
    for kind in ALL:
        with subprocess.Popen([place.program, 'waits'], stdout=subprocess.PIPE) as victim:
            victim.stdout.readline()
            with subprocess.Popen([place.tracer, '-f', f'--format={kind}', '-o', f'out.{kind}', '-p', str(victim.pid)], cwd=place.path, stderr=subprocess.PIPE) as tracer:
                deadline = time.monotonic() + LIMIT
                while 'TracerPid:\t0' in pathlib.Path(f'/proc/{victim.pid}/status').read_text():
                    expect(time.monotonic() < deadline and tracer.poll() is None, f'{kind}: it does not attach')
                    time.sleep(0.01)
                victim.send_signal(signal.SIGUSR1)  # which the tracer passes on, once it has seen the process
                expect(victim.stdout.readline() == b'again\n', 'the program does not answer')
                tracer.send_signal(signal.SIGINT)
                errors = tracer.communicate(timeout=LIMIT)[1]
            victim.kill()
        expect(not errors, f'{kind}: {errors}')
        data = (place.path / f'out.{kind}').read_bytes()
        if kind == 'chrome':
            timelines.read_chrome(data).check()
        elif kind == 'perfetto':
            timelines.read_perfetto(need('protoc', 'protobuf-compiler'), place.path / 'out.perfetto').check()
        elif kind == 'sqlite':
            expect(sqlite3.connect(place.path / 'out.sqlite').execute('SELECT count(*) FROM process').fetchone() == (1,), 'the data base')
        elif kind == 'pcapng':
            packets_of(data)
        else:
            expect(b'exported(' in data and (kind == 'tree' or data.endswith(b'}\n')), data)


@test
def a_full_disk_is_one_line_and_a_status(place):
    for kind in ALL:
        most = 300 if kind in ('tree', 'dot') else 40960
        words = ['-f', sys.executable, '-c', WEB] if kind == 'pcapng' else ['-f', '-v', '-s', '4096', 'sh', '-c', 'ls -lR /etc /usr/share/doc/dpkg >/dev/null 2>&1']
        if kind in ('tree', 'dot'):
            words = ['sh', '-c', 'for i in 1 2 3 4 5 6 7 8 9 0; do true | cat; done']
        done = place.run(f'--format={kind}', '-o', f'out.{kind}', *words, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
        expect(done.returncode == 1, f'{kind}: status {done.returncode}: {done.stderr[-300:]}')
        expect(done.stderr.count(b'\n') == 1 and f'out.{kind}'.encode() in done.stderr, f'{kind}: {done.stderr[-500:]}')


# ---------------------------------------------------------------------------------------------- main

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('tracer', type=pathlib.Path)
    parser.add_argument('program', type=pathlib.Path)
    parser.add_argument('names', nargs='*')
    arguments = parser.parse_args()
    failed = 0
    for one in TESTS:
        if arguments.names and not any(name in one.__name__ for name in arguments.names):
            continue
        with tempfile.TemporaryDirectory(prefix='exports.') as directory:
            try:
                one(Place(arguments.tracer.resolve(), arguments.program.resolve(), directory))
                print(f'ok: {one.__name__}', flush=True)
            except Skipped as skipped:
                print(f'skipped: {one.__name__}: {skipped}', flush=True)
            except (Failure, timelines.Wrong) as failure:
                failed += 1
                print(f'FAILED: {one.__name__}: {failure}', flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
