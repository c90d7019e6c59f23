#!/usr/bin/python3
"""Reports what the fact tables know of the kernel's interfaces and the descriptions do not show.

    coverage.py LIST_TABLES FACTS [--names]

FACTS holds syscalls.tsv, ioctls.tsv, syscall-args.tsv and constants.tsv: tables of names, numbers and layouts, one row a
line, tab-separated with a header line. Says how much is covered, and with --names what is not. Fails where less is covered
than has been before. With -DTRACER_FACTS=FACTS it is a test.
"""

import argparse
import collections
import csv
import pathlib
import re
import subprocess
import sys

# Groups of constants that calls take: what the names of a group begin with, where the names stand.
GROUPS = {
    'socket options': [('linux/tcp.h', 'TCP_'), ('asm/socket.h', 'SO_'), ('linux/in6.h', 'IPV6_')],
    'control messages': [('include/linux/socket.h', 'SCM_')],
    'address families': [('include/linux/socket.h', 'AF_')],
    'netlink protocols': [('linux/netlink.h', 'NETLINK_')],
    'route messages': [('linux/rtnetlink.h', 'RTM_')],
    'prctl': [('linux/prctl.h', 'PR_')],
    'fcntl': [('linux/fcntl.h', 'F_'), ('asm/fcntl.h', 'F_')],
    'bpf': [('linux/bpf.h', 'BPF_MAP_TYPE_'), ('linux/bpf.h', 'BPF_PROG_TYPE_'), ('linux/bpf.h', 'BPF_F_')],
    'io_uring': [('linux/io_uring.h', 'IORING_'), ('linux/io_uring.h', 'IOSQE_')],
    'keyctl': [('linux/keyctl.h', 'KEYCTL_')],
    'quotactl': [('linux/quota.h', 'Q_'), ('linux/dqblk_xfs.h', 'Q_X')],
    'perf': [('linux/perf_event.h', 'PERF_SAMPLE_'), ('linux/perf_event.h', 'PERF_FORMAT_')],
    'ptrace': [('linux/ptrace.h', 'PTRACE_')],
    'landlock': [('linux/landlock.h', 'LANDLOCK_')],
    'mounts': [('linux/mount.h', '')],
}


# Constants that no call takes or gives, though they are called as those are that it does.
NOT_IN_CALLS = {
    'ends and parts of other constants': r'.*_(MAX|LAST|MASK|MSK|SHIFT|BIT)|.*__(MASK|ATIME)|RTM_(BASE|MAX|NR_\w+)|AF_MAX|MS_MGC_\w+'
                                         r'|F_LINUX_SPECIFIC_BASE|TCP_\w*MAXKEYLEN|TCP_QUEUES_NR|\w+_SIZE_VER\d',
    'other names of numbers that have one': r'AF_(LOCAL|ROUTE)|NETLINK_INET_DIAG|SO_DETACH_BPF|SO_(RCV|SND)TIMEO'
                                            r'|SO_TIMESTAMP(ING|NS)?|PTRACE_(PEEK|POKE)USR|MS_VERBOSE'
                                            r'|BPF_MAP_TYPE_\w+_DEPRECATED|IPV6_RECVORIGDSTADDR|TCP_CM_INQ|MOUNT_ATTR_RELATIME',
    'fields of packets': r'TCP_(FLAG|RESERVED|DATA)_\w+|IPV6_(TLV|PRIORITY|FLOWINFO)_\w+',
    'arguments of helpers within a BPF program': r'BPF_F_(ADJ_ROOM|BPRM|BROADCAST|CURRENT|DONT|EXCLUDE|FAST|GET_BRANCH|HDR|INDEX'
                                                 r'|INGRESS|INVALIDATE|IPV6|MARK|NO_TUNNEL|PAD|PSEUDO|RECOMPUTE|REDIRECT|REUSE'
                                                 r'|SEQ|SKIP|SYSCTL|TIMER|TUNINFO|USER|ZERO_CSUM)\w*',
    'words in memory that a ring shares with the kernel': r'IORING_(CQE|CQ|SQ|NOTIF)_\w+',
}
# Requests of ioctls.tsv that the descriptions cannot say more of.
NO_REQUESTS = {'FD_RAW_STOP_IF_FAILURE': 'a flag of FDRAWCMD that looks like a request'}
NO_LAYOUT = {
    'UDF_GETEABLOCK': 'as many bytes as the file has extended attributes: no layout, and nothing that says how many',
    'UDF_GETVOLIDENT': 'a name as long as the volume has it: nothing says how many bytes',
    'VIDIOC_AM437X_CCDC_CFG': 'what the pointer points to is in no header',
}
# What is covered at least, in per cent: what has been reached. Raise it, never lower.
LEAST = {
    'numbers of calls': 100,
    'ioctls that have a name': 100,
    'ioctls whose argument is shown, of those that have a type': 100,
    'constants of fcntl': 100,
    'constants of socket options': 69.8,
    'constants of address families': 100,
    'constants of control messages': 100,
    'constants of bpf': 100,
    'constants of quotactl': 100,
    'constants of io_uring': 96,
    'constants of keyctl': 100,
    'constants of landlock': 100,
    'constants of mounts': 100,
    'constants of netlink protocols': 100,
    'constants of perf': 90,
    'constants of prctl': 97,
    'constants of ptrace': 81,
    'constants of route messages': 100,
    'calls with pointers of which none is a bare address': 83.8,
}


def rows(path):
    with open(path, encoding='ascii', newline='') as file:
        return list(csv.DictReader(file, delimiter='\t', quoting=csv.QUOTE_NONE))


def read_tables(program):
    """What the descriptions have: names of constants, parameters shown raw, calls as (ABI, number, name), and the requests
    of ioctl that are named and that are shown: Requests by ABI."""
    constants, calls, raw = set(), set(), collections.defaultdict(set)
    requests = {'named': collections.defaultdict(Requests), 'shown': collections.defaultdict(Requests)}
    for line in subprocess.run([program, 'coverage'], capture_output=True, text=True, check=True).stdout.splitlines():
        kind, *words = line.split(' ')
        if kind == 'constant':
            constants.add(words[0].removeprefix('1<<'))
        elif kind == 'call':
            calls.add((words[0], int(words[1]), words[2]))
        elif kind == 'request':
            requests[words[3]][words[0]].add(int(words[1]), int(words[2]))
        elif kind == 'raw':
            raw[words[0]].add(words[1])
    return constants, raw, calls, requests


class Requests:
    """Numbers of one ABI, some with bits that may be any."""

    def __init__(self):
        self.numbers, self.ranges = set(), set()

    def add(self, number, bits):
        (self.ranges if bits else self.numbers).add((number & 0xffffffff, bits))

    def have(self, number):
        return (number, 0) in self.numbers or any(number & ~bits == start for start, bits in self.ranges)


def missing_requests(rows, requests):
    """Names of requests whose number on some ABI is not among these, with the ABIs."""
    missing = collections.defaultdict(list)
    for row in rows:
        for abi in ('x86_64', 'i386', 'aarch64', 'arm'):
            if row[abi] != '-' and not requests[abi].have(int(row[abi], 0)):
                missing[row['name'].split('(')[0]].append(abi)
    return {f'{name} {",".join(abis)}' for name, abis in missing.items()}


def report(title, total, missing, with_names):
    """Prints it; whether it is as much as it has to be."""
    print(f'{title}: {total - len(missing)} of {total}')
    if with_names:
        for name in sorted(missing):
            print(f'    {name}')
    enough = 100 * (total - len(missing)) >= LEAST.get(title, 0) * total
    if not enough:
        print(f'FAILED: less than {LEAST[title]} %')
    return enough


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('list_tables')
    parser.add_argument('facts', type=pathlib.Path)
    parser.add_argument('--names', action='store_true', help='what is missing, one a line')
    arguments = parser.parse_args()
    constants, raw, calls, requests = read_tables(arguments.list_tables)
    numbered = {(row['abi'], int(row['number'], 0), row['name']) for row in rows(arguments.facts / 'syscalls.tsv')}
    ioctls = [row for row in rows(arguments.facts / 'ioctls.tsv') if row['name'] not in NO_REQUESTS]
    names = {row['name'].split('(')[0] for row in ioctls}
    enough = [report('numbers of calls', len(numbered), {' '.join(map(str, call)) for call in numbered ^ calls},
                     arguments.names)]
    enough.append(report('ioctls that have a name', len(names), missing_requests(ioctls, requests['named']),
                         arguments.names))
    typed = [row for row in ioctls if row['arg_type'] not in ('', '-') and row['name'] not in NO_LAYOUT]
    enough.append(report('ioctls whose argument is shown, of those that have a type',
                         len({row['name'].split('(')[0] for row in typed}), missing_requests(typed, requests['shown']),
                         arguments.names))
    values = collections.defaultdict(set)
    elsewhere = re.compile('|'.join(NOT_IN_CALLS.values()))
    for row in rows(arguments.facts / 'constants.tsv'):
        for group, places in GROUPS.items():
            if any(row['header'] == header and row['name'].startswith(prefix) for header, prefix in places) and (
                    row['name'] in constants or not elsewhere.fullmatch(row['name'])):
                values[group].add(row['name'])
    for group, members in values.items():
        enough.append(report(f'constants of {group}', len(members), members - constants, arguments.names))
    pointers = collections.defaultdict(set)
    for row in rows(arguments.facts / 'syscall-args.tsv'):
        if '*' in row['type']:
            pointers[row['name']].add(row['arg'])
    blind = {f'{call}: {" ".join(sorted(raw[call]))}' for call in pointers if raw[call]}
    enough.append(report('calls with pointers of which none is a bare address', len(pointers), blind, arguments.names))
    sys.exit(0 if all(enough) else 1)


main()
