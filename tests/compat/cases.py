"""Which programs are compared, and under which options."""

import dataclasses
import pathlib
import platform
import re
import shutil
import subprocess

from canonical import STRING

HERE = pathlib.Path(__file__).resolve().parent
COMPILER = shutil.which('gcc')
HAS_32_BITS = platform.machine() == 'x86_64'


READ = r'(read\(\d+(?:<[^>]*>+)?, )'  # up to the bytes
# How often a name for a temporary file is drawn depends on the random numbers.
DRAWS = [(r'^.*getrandom\(.*', '')]


@dataclasses.dataclass
class Program:
    name: str
    argv: list
    many: bool = False   # processes or threads: traced with -f, too …
    alone: bool = True   # … and without -f; False where what one process sees depends on the others' pace
    setup: str = ''      # shell, before the run, in the working directory
    server: list = ()    # runs beside, listening on `port`
    port: int = 0
    masks: list = ()     # (pattern, replacement) besides canonical.MASKS
    unordered: str = ''  # regular expression: lines about exits of children, whose order, place and number are chance
    group: str = 'everyday'  # shares are counted by group
    table: bool = False  # a sweep over all calls: only the options in TABLE
    options: list = ()   # each a list of options; these instead of the usual ones


def everyday():
    """Programs of every day."""
    git_setup = 'git init -q; git add data hello.c; git commit -q -m one; echo more >> hello.c'
    return [
        Program('ls', ['ls', '-l', 'data']),
        Program('cat', ['cat', 'data/text']),
        Program('true', ['true']),
        Program('not there', ['cat', 'missing']),
        Program('pipeline', ['sh', '-c', 'cat data/sub/bytes | sort -r | wc -l; exit 3'], many=True, alone=False,
                unordered=r'--- SIGCHLD |rt_sigreturn\(|wait4\(',
                masks=[(r'^wait4\(.*ERESTARTSYS.*', ''), (r'(si_pid=)30\d{3}', r'\1CHILD'), (r'(rt_sigreturn\(.*\)) += .*', r'\1 = ANY'),
                       (r'(wait4\(.*\)) += 30\d{3}', r'\1 = CHILD')]),
        Program('python', ['/usr/bin/python3', '-I', '-c', 'import json; print(json.dumps({"a": 1}))']),
        Program('perl', ['perl', '-e', 'use POSIX; printf "%s %d\\n", join(",", sort <data/*>), -s "data/text"'],
                masks=[(READ + STRING + r'(, 4\))', r'\1RANDOM\2'), (r'^ \| 00000  (?:[0-9a-f]{2} ){4} .*', 'SEED')]),
        Program('git', ['git', 'status', '--short'], setup=git_setup),
        Program('gcc', ['gcc', '-O1', '-o', 'hello', 'hello.c'], many=True, masks=DRAWS),
        Program('tar', ['tar', '-cf', 'out.tar', 'data']),
        Program('find', ['find', 'data', '-name', '*t*', '-size', '+1']),
        Program('sort', ['sort', '-S', '20k', '--parallel=1', 'data/large'], masks=DRAWS),
        Program('sqlite', ['sqlite3', 'db', 'create table t(a); insert into t values(1),(2); select sum(a) from t'],
                # The journal's nonce is random.
                masks=[(r'(pwrite64\(\d+(?:<[^>]*>+)?, )' + STRING, r'\1PAGE'), (READ + STRING + r'(, 44\))', r'\1RANDOM\2')]),
        Program('curl', ['curl', '-s', '--http1.0', 'http://127.0.0.1:8000/text'], many=True, port=8000,
                server=['/usr/bin/python3', str(HERE / 'http_server.py'), '8000', 'curl'],
                masks=[(r'(poll\(.*\], \d+, )\d+(?=\) )', r'\1REST'), (r'(poll\(0x.*, )0x[0-9a-f]+(?=\) )', r'\1REST')]),
        Program('ssh-keygen', ['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', 'key'],
                masks=[(r'(write\(\d+(?:<[^>]*>+)?, )' + STRING, r'\1KEY')]),
    ]


def tampering():
    """A shell whose calls are tampered with, each time in another way."""
    four = 'cd /1; cd /2; cd /3; cd /4; :'
    chdir = ['error=EPERM', 'error=2000:when=2', 'error=ERESTARTSYS:when=3', 'error=EIO:when=2..4+2', 'retval=5:when=2+',
             'retval=-5000', 'signal=CONT:when=2', 'error=EPERM:signal=CHLD:when=3', 'delay_enter=1ms:when=2',
             'delay_exit=0:error=EIO:when=1', 'syscall=getpid:retval=9:when=3', 'syscall=getpid:signal=CONT',
             'poke_enter=@arg1=2f00:when=3', 'poke_enter=@arg1=2f00:error=EIO', 'poke_exit=@arg1=41:retval=3']
    exit_group = ['retval=5:when=1', 'error=EIO:when=1', 'delay_enter=1ms']
    each = [['-e', 'trace=chdir', '-e', f'inject=chdir:{how}'] for how in chdir]
    each += [['-e', 'trace=exit_group', '-e', f'inject=exit_group:{how}'] for how in exit_group]
    each += [['-c', '-e', 'trace=chdir', '-e', 'fault=chdir:when=2'], ['-z', '-e', 'inject=chdir:retval=0'],
             ['-e', 'trace=none', '-e', 'fault=chdir'], ['-P', '/2', '-e', 'fault=chdir:error=EIO'],
             ['-e', 'trace=chdir', '-e', 'fault=chdir:error=EIO', '-e', 'fault=%file:error=EPERM:when=2']]
    forked = [['-f', '-e', 'trace=chdir,execve', '-e', 'fault=chdir,execve:error=EBUSY:when=2']]
    return [Program('tampering', ['sh', '-c', four], options=each),
            Program('tampering in children', ['sh', '-c', '(cd /1; cd /2); (cd /1; cd /2); cd /3; cd /4'], options=forked),
            Program('tampering with outputs', ['cat', 'data/text'],
                    options=[['-e', 'inject=read:retval=3:when=1'], ['-e', 'fault=read:error=EIO:when=2']])]


def stacks():
    """Stack traces: frames, names and offsets."""
    # Where a shell is when its child ends is chance.
    trees = [['-k', '-f', '-e', 'trace=write,execve,exit_group', '-e', 'signal=!SIGCHLD']]
    return [Program('stacks of echo', ['/bin/echo', 'hi'], options=[['-k'], ['-k', '-i', '-T', '-e', 'trace=%file']], group='stacks'),
            Program('stacks of sort', ['sort', '-S', '20k', '--parallel=1', 'data/text'], options=[['-k', '-e', 'read=3']], masks=DRAWS, group='stacks'),
            Program('stacks of gcc', ['gcc', '--version'], options=[['-k', '-e', 'trace=%process,%desc']], masks=DRAWS, group='stacks'),
            Program('stacks of git', ['git', '--version'], options=[['-k']], masks=DRAWS, group='stacks'),
            Program('stacks of a tree', ['sh', '-c', 'echo a; /bin/echo b; kill -CONT $$; exit 3'], options=trees, group='stacks')]


def compile_program(source, build, name, *flags):
    compiler = 'g++' if source.suffix == '.cpp' else 'gcc'
    binary = build / name
    newest = max(file.stat().st_mtime for file in [source, *source.parent.glob('*.h')])
    if not binary.exists() or binary.stat().st_mtime < newest:
        # -idirafter: where the 32-bit compiler finds asm/*.h without the package that conflicts with cross compilers.
        subprocess.run([compiler, '-O1', '-D_GNU_SOURCE', '-pthread', '-w',
                        '-Werror=implicit-function-declaration', *flags, '-o', binary, source,
                        '-idirafter', '/usr/include/x86_64-linux-gnu'], check=True)
    return str(binary)


# What the kernel draws for a key.
KEY_SERIALS = (r'(keyctl\(KEYCTL_\w+, |(?:keyctl|add_key)\(.* = )\d{6,10}', r'\1KEY')


def probes(build):
    """programs/*: each calls a family of system calls with good and with bad arguments."""
    build.mkdir(parents=True, exist_ok=True)
    found = []
    for source in sorted((HERE / 'programs').iterdir()):
        if source.suffix not in ('.c', '.cpp'):
            continue
        many = 'MANY' in source.read_text().split('\n', 1)[0]
        for suffix, flags in (('', []), ('-32', ['-m32'])) if HAS_32_BITS else (('', []),):
            name = source.stem + suffix
            if COMPILER is None and not (build / name).exists():
                continue  # in a guest, whose programs were compiled beforehand
            binary = compile_program(source, build, name, *flags)
            for arguments in ARGUMENTS.get(source.stem, ['']):
                found.append(Program(f'{name} {arguments}'.rstrip(), [binary, *arguments.split()], group='sweep' if arguments else GROUPS.get(source.stem, 'probes'),
                                     many=many, alone=not many, table=bool(arguments), options=OPTIONS.get(source.stem, []),
                                     masks=[(r'(parent_tid=\[)(?:0|30\d{3})\]', r'\1TID]'), KEY_SERIALS,
                                            *MASKS.get(source.stem, [])]))
    return found


# What else may differ between two runs of a program, besides canonical.MASKS.
MASKS = {
    # Whoever joins a thread that has already ended does not wait.
    'threads': [(r'^futex\(.*, FUTEX_WAIT(?:_BITSET)?\b.*', '')],
    # The serials of keys are chosen at random: a few of them have but five digits, as nothing else of these calls has.
    'ipc_and_keys': [(r'(?<![\w.])\d{6,10}(?![\w.])', 'KEY'),
                   (r'((?:add_key|request_key|keyctl)\(.*?[ ,(])\d{5}(?![\w.])', r'\1KEY')],
    'watches_and_rings': [(r'(stx_ino=)\d+', r'\1INODE'), (r'(f_handle=)"[^"]*"', r'\1HANDLE'), (r'(\}, \[)\d+(?=\], AT_)', r'\1MOUNT'),
                 (r'(read\(\d+(?:<[^>]*>)?, "\\1\\0\\0\\0@\\0\\0@)' + r'.*?(\\0\\20\\0\\0\\0)', r'\1COOKIE\2'),
                 (r'(IORING_REGISTER_IOWQ_MAX_WORKERS, .*=> ).*(\], 2\))', r'\1WORKERS\2')],
    'process_attributes': [(r'(adjtime(?:64)?x?\(.*time=\{tv_sec=)\d+, tv_[un]sec=\d+', r'\1TIME')],
    'mounts': [(r'(lo_device=makedev\(0, )0x[0-9a-f]+', r'\1DEVICE'), (r'(/dev/loop|LOOP_CTL_GET_FREE\) += |lo_number=)\d+', r'\1NUMBER')],
    'seccomp_bpf_perf': [(r'(\bid=|NOTIF_ID_VALID, \[|PERF_EVENT_IOC_ID, \[)(?:0x[0-9a-f]+|\d+)', r'\1ID')],
}

# Per cent of equal lines that a group must have. Below 100 stands what has been reached so far: raise it, never lower.
THRESHOLDS = {'everyday': 99.9, 'stacks': 99.5, 'probes': 99.8, 'decoration': 99.4, 'multiplexed': 100.0, 'sweep': 98}

# Between our two engines. What is missing: stops of job control, and calls that restart because a tracer came, as only
# a stop can see them; that PTRACE_TRACEME fails under a tracer; memory that a rare choice of a call points to.
OF_BPF = {'everyday': 99.0, 'probes': 99.0, 'decoration': 99.0, 'multiplexed': 100.0, 'sweep': 99.5}
NOT_BY_BPF = re.compile(r'-k|(?:inject|fault|read|write)=.*')
NOT_INSIDE = re.compile(r'-[bcCDnS]|-c.*|--syscall-limit=.*|-I1|(?:inject|fault|read|write)=.*')  # and all without -f

# Probing programs whose lines are counted by themselves.
GROUPS = {'descriptor_names': 'decoration', 'multiplexed': 'multiplexed'}

# Options that a probing program was written for, instead of the usual ones.
OPTIONS = {
    'clone_and_wait': [['-f'], ['-f', '-yy', '-Y']],
    'descriptor_names': [['-f', '-y'], ['-f', '-yy', '--decode-pids=comm', '-v'], ['-f', '--decode-fds=socket,dev', '--decode-pids=pidns'],
                         ['-f', '-yy', '-X', 'raw']],
    'path_filter': [['-P', 'data/text'], ['-y', '-P', 'data/text'], ['-P', 'data/../data/text']],
    # By what is really called: names, classes and numbers, tampering and counts.
    'multiplexed': [*(['-e', f'trace={calls}'] for calls in (
                        'all', '%network', '!%network', '%desc', 'listen,accept,recv', '!semop', '%ipc,%memory', '117',
                        '/^(send|sem)')),
                    ['-e', 'raw=listen'], ['-e', 'verbose=%network'], ['-e', 'inject=listen:error=EIO'],
                    *([['-e', 'trace=socketcall'], ['-e', 'inject=socketcall:error=EIO']] if HAS_32_BITS else []),
                    ['-C', '-e', 'trace=%network,%ipc']],
    'namespaces': [['-f', '-Y'], ['-f', '--pidns-translation'], ['-f', '-Y', '--pidns-translation']],
}

# The arguments that a probing program is run with, one after the other.
ARGUMENTS = {'every_call': [f'{answer} {choice}' for answer in ('error', 'success')
                       for choice in ('zero', 'minus', 'small', 'pointer', 'mixed', 'swapped')]}

# Options for every program (quick: the first ones only), and for programs with several threads.
QUICK = [[], ['-v', '-s', '64']]
FULL = QUICK + [
    ['-y'], ['-yy'], ['-x'], ['-T', '-tt'], ['-r'], ['-ttt'], ['-t'], ['-c'], ['-e', 'trace=%file'],
    ['-e', 'trace=%network'], ['-e', 'trace=%desc'], ['-e', 'trace=!%memory'], ['-P', 'data/text'], ['-P', '/etc/passwd'],
    ['-X', 'raw'], ['-X', 'verbose'], ['-n'], ['-i'], ['-xx', '-s', '8'], ['-a', '20'], ['-z'], ['-Z'],
    ['-e', 'raw=all'], ['-e', 'read=3', '-e', 'write=1'], ['-e', 'signal=none'], ['-e', 'abbrev=none'], ['-e', 'verbose=none'],
    ['-C', '-e', 'trace=/^get'], ['-Y'], ['stderr'],
]
MANY = [['-f'], ['-f', '-y', '-T', '-tt'], ['-f', '-e', 'trace=%process'], ['-f', '-v', '-s', '200'], ['-f', '-Y', '-yy']]


TABLE = [[], ['-v'], ['-X', 'raw'], ['-X', 'verbose'], ['-yy'], ['-e', 'raw=all'], ['-e', 'verbose=none'], ['-xx'], ['-n']]


def options_of(program, full):
    if program.options:
        return list(program.options)
    if program.table:
        # What -v adds is mostly what a call has filled in, which those that fail have not.
        return TABLE if full else TABLE[:1] if ' error ' in program.name else TABLE[:2]
    if full:
        return (FULL if program.alone else []) + (MANY if program.many else [])
    if program.name == 'ls':  # the cheapest of them stands for all where it is the option that counts
        return FULL
    if program.many:
        return MANY[:1]
    return QUICK[:1] if program.group == 'everyday' else QUICK


def pairs(build, full, lacking=None):
    """(program, options) in the order in which they are run, without options that match `lacking`: what an engine lacks."""
    programs = everyday() + tampering() + stacks() + probes(build)
    return [(program, options) for program in programs for options in options_of(program, full)
            if not (lacking and any(lacking.fullmatch(option) for option in options))
            and (lacking is not NOT_INSIDE or '-f' in options)]
