"""Takes out of a trace what may differ between two runs of one program under one and the same tracer."""

import re

PID = re.compile(r'(?<![\w.])30\d{3}(?![\w.])')  # see FIRST_PID in inside.py
PID_PREFIX = re.compile(r'^(?:\[pid +(\d+)(?:<[^>]*>)?\]|(\d+)(?:<[^>]*>)?) +')
STRING = r'"(?:\\.|[^"\\])*"(?:\.\.\.)?'
FRAME = ' > '
UNFINISHED = ' <unfinished ...>'
RESUMED = re.compile(r'<\.\.\. \w+ resumed>')

# Clocks, randomness, names made from randomness, and numbers that the kernel hands out for the whole machine.
MASKS = [(re.compile(pattern), replacement) for pattern, replacement in [
    # How many bytes are shown counts.
    (r'getrandom\((?:' + STRING + r'|\[[^\]]*\])', lambda match: re.sub(r'\\x[0-9a-f]{2}', 'R', match[0])),
    (r'(/mnt/tmp/\w*?)[A-Za-z0-9]{6}(?=[."/>])', r'\1RANDOM'),
    (r'(\\x2f\\x6d\\x6e\\x74\\x2f\\x74\\x6d\\x70\\x2f)[^">]*', r'\1RANDOM'),
    (r'(st_[amc]time(?:_nsec)?=)-?\d+( /\* [^*]* \*/)?', r'\1TIME'),
    (r'(stx_[abmc]time=\{tv_sec=)[-+]?\d+, tv_nsec=\d+\}( /\* [^*]* \*/)?', r'\1TIME'),
    (r'(clock_gettime(?:64)?\(\w+(?: /\* \w+ \*/)?, \{tv_sec=)\d+( /\* [^*]* \*/)?, tv_nsec=\d+', r'\1TIME'),
    (r'(gettimeofday\(\{tv_sec=)\d+( /\* [^*]* \*/)?, tv_usec=\d+', r'\1TIME'),
    (r'(times\(\{).*\}\) += \d+', r'\1TIMES}) = TICKS'),
    (r'(times\(0x[0-9a-f]{3,}\) += )(?:0x)?[0-9a-f]+', r'\1TICKS'),
    (r'(si_[us]time=)\d+( /\* [^*]* \*/)?', r'\1TICKS'),
    (r'(ru_[us]time=\{tv_sec=)\d+( /\* [^*]* \*/)?, tv_usec=\d+', r'\1TIME'),
    (r'(ru_(?:maxrss|minflt|majflt|nvcsw|nivcsw|inblock|oublock)=)\d+', r'\1COUNT'),
    (r'(\b(?:time|uptime|loads|freeram|bufferram|sharedram|freeswap|procs)=)(?:\d+|\[[^\]]*\])', r'\1COUNT'),
    (r'(stx_mnt_id=)0x[0-9a-f]+', r'\1ID'),
    # The first execve is made in the tracer's own memory.
    (r'^\[[0-9a-f]{8,16}\] (?=execve\()', '[ADDRESS] '),
    (r'(execve\()0x[0-9a-f]+', r'\1ADDRESS'),
    (r'(execve\([^,]*, )0x[0-9a-f]+', r'\1ADDRESS'),
    (r'\b0x7[5-9][0-9a-f]{2}\b', 'PID'),  # a process id under -e raw
    (r'((?:shm|sem|msg)_[acdosr]?time=)\d{10}', r'\1TIME'),
    (r'(getcpu\(\[)\d+', r'\1CPU'),
    (r'(\bmm_cid=)\d+', r'\1CPU'),
    (r'(kcmp\(.*) [123]$', r'\1 ORDER'),  # the order of secret addresses
    (r'(f_(?:bfree|bavail|ffree|files)=)\d+', r'\1COUNT'),
    (r'(f_fsid=\{val=\[)[^\]]*', r'\1ID'),
    (r'((?:pipe|socket|anon_inode|net|mnt|pid|uts|ipc|user|cgroup|time):\[)\d+(?=\])', r'\1INODE'),
    (r'(st_ino=)\d+(?=, st_mode=S_IF(?:IFO|SOCK))', r'\1INODE'),
    (r'((?:TCP|UDP|RAW|RAWv6|PING|UNIX|UNIX-STREAM|UNIX-DGRAM|UNIX-SEQPACKET|NETLINK|TCPv6|UDPv6):\[)\d+(?:->\d+)?(?=[,\]])', r'\1INODE'),
    (r'(st_dev=makedev\(0, )0x[0-9a-f]+|(stx_dev_major=0, stx_dev_minor=)\d+', r'\1\2DEVICE'),
    (r'(sin6?_port=htons\()[3-6]\d{4}(?=\))', r'\1EPHEMERAL'),
    (r'(sin6?_port=)"\\x[89a-e][0-9a-f]\\x[0-9a-f]{2}"( /\* htons\(\d+\) \*/)?', r'\1EPHEMERAL'),
    (r'((?:127\.0\.0\.1|\[::1\]):)[3-6]\d{4}\b', r'\1EPHEMERAL'),
    (r'(\bleft \{tv_sec=)\d+, tv_[nu]sec=\d+', r'\1TIME'),
    (r'(nanosleep(?:_time64)?\(.*, \{tv_sec=)\d+, tv_nsec=\d+(?=\}\) += \? )', r'\1TIME'),
    (r'(LOOP_CTL_GET_FREE\) += )\d+', r'\1NUMBER'),
    (r'(\b(?:tstamp|reachable_time)=)\d+', r'\1TIME'),
    (r'<\{eventfd-count=\w+(?:, eventfd-\w+=\d+)*\}>', '<EVENTFD>'),  # a number that the kernel hands out
    (r'<signalfd:~?\[[^\]]*\]>', '<SIGNALFD>'),
]]

SUMMARY_TIMES = re.compile(r'^ *\d+\.\d\d +\d+\.\d{6} +\d+(?= )')
DURATION = re.compile(r' <\d+\.\d+>$')
CLOCKS = {  # option → what stands before the call
    '-t': re.compile(r'^\d\d:\d\d:\d\d '),
    '-tt': re.compile(r'^\d\d:\d\d:\d\d\.\d{6} '),
    '-ttt': re.compile(r'^\d{10}\.\d{6} '),
    '-r': re.compile(r'^ *\d+\.\d{6} '),
}


def ranked_pids(text):
    """Process ids become their rank: tracers use up different numbers of ids before the program starts."""
    return {pid: f'P{rank}' for rank, pid in enumerate(sorted(set(PID.findall(text))), 1)}


def without_times(line, options):
    """The line after its process id, clocks replaced by their names: a clock of a wrong shape stays and differs."""
    for option, pattern in CLOCKS.items():
        if option in options:
            match = pattern.match(line)
            if match:
                line = f'CLOCK{len(match[0])} ' + line[match.end():]
    if '-T' in options:
        line = DURATION.sub(' <TIME>', line)
    return line


def join_unfinished(lines):
    """`read(3,  <unfinished ...>` and `<... read resumed>"x", 1) = 1` of one thread become one line."""
    joined = []
    pending = None
    for line in lines:
        if line.endswith(UNFINISHED):
            pending = len(joined)
            line = line[:-len(UNFINISHED)]
        match = RESUMED.search(line)
        if match and pending is not None:
            # A signal or a fork's note may stand between the two parts.
            joined[pending] = joined[pending] + line[match.end():]
            pending = None
            continue
        joined.append(line)
    return joined


def without_padding(line):
    return re.sub(r'\) +=', ') =', line)


def masked(line, extra):
    """The line for comparison. An empty one is to be left out."""
    before = line
    for pattern, replacement in MASKS:
        line = pattern.sub(replacement, line)
    for pattern, replacement in extra:
        line = re.sub(pattern, replacement, line)
    return line if line == before else without_padding(line)


def masked_lines(lines, extra):
    """The lines for comparison. One that is left out takes the frames of its stack with it."""
    kept, left_out = [], False
    for line in lines:
        if left_out and line.startswith(FRAME):
            continue
        text = masked(line, extra)
        left_out = not text
        if text:
            kept.append(text)
    return kept


def summary(lines):
    """Rows without their times, in the order of their names: the order of the table is by time."""
    rows = []
    for line in lines:
        match = SUMMARY_TIMES.match(line)
        rows.append(f'TIMES{len(match[0])}' + line[match.end():] if match else line)
    return sorted(rows, key=lambda row: (row.split()[-1:], row))


def with_set_at_end(lines, pattern):
    """The lines, those that match as a set behind the others."""
    return [line for line in lines if not re.match(pattern, line)] + sorted({line for line in lines if re.match(pattern, line)})


def streams(trace, options, extra=(), unordered=''):
    """The trace as {thread: lines}. Of lines that match `unordered` counts only which there are."""
    ranks = ranked_pids(trace)
    lines = trace.split('\n')
    if lines and not lines[-1]:
        lines.pop()
    result = {}
    if '-c' in options or '-C' in options:
        start = next((number for number, line in enumerate(lines) if line.startswith('% time')), len(lines))
        result['summary'] = summary(lines[start:])
        del lines[start:]
    by_thread = {}
    for line in lines:
        prefix = PID_PREFIX.match(line) if '-f' in options else None
        thread = ''
        shape = ''
        if prefix:
            thread = ranks.get(prefix[1] or prefix[2], '?')
            shape = re.sub(r'\d+', 'PID', prefix[0])
            line = line[prefix.end():]
        by_thread.setdefault(thread, []).append((shape, without_times(line, options)))
    for thread, shaped in by_thread.items():
        found = [text for _, text in shaped]
        if '-f' in options:
            found = [re.sub(r'^CLOCK\d+ ', '', line) for line in found]
            found = join_unfinished(found)
        found = [PID.sub(lambda match: ranks[match[0]], text) for text in masked_lines(found, extra)]
        if '-f' in options:  # what was joined was padded by its second part alone
            found = [without_padding(line) for line in found]
        if unordered:
            found = with_set_at_end(found, unordered)
        found += sorted({f'prefix {shape!r}' for shape, _ in shaped if shape})
        result[thread] = found
    return result
