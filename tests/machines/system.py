"""The packages of a guest's root, and what this machine needs to run one."""

import os
import shutil

import packages

# Libraries that programs are built against.
DEVELOPMENT = ['libc6-dev', 'libelf-dev', 'libdw-dev', 'libunwind-dev', 'libfmt-dev', 'libbpf-dev', 'zlib1g-dev',
               'libbz2-dev', 'liblzma-dev', 'libzstd-dev', 'libsqlite3-dev', 'libselinux1-dev', 'libncurses-dev',
               'libiberty-dev', 'libjansson-dev', 'catch2', 'systemtap-sdt-dev']
# A system to test on: what the tests start, and the tracer that ours is compared with.
RUNTIME = ['base-files', 'base-passwd', 'bash', 'binutils', 'bsdutils', 'busybox-static', 'coreutils', 'curl', 'dash',
           'diffutils', 'findutils', 'g++', 'git', 'grep', 'libbpf1', 'libdw1', 'libfmt9', 'libjansson4', 'libstdc++6',
           'libunwind8', 'libzydis4.0', 'mount', 'ncurses-base', 'openssh-client', 'perl', 'procps', 'python3', 'sed',
           'sqlite3', 'strace', 'tar', 'tmux', 'util-linux', 'xz-utils']
ROOT = DEVELOPMENT + RUNTIME


def require(*programs, list_name):
    """Says what is missing on this machine, and which list of packages.mk has it."""
    path = os.environ['PATH'] + ':/usr/sbin:/sbin'
    missing = [program for program in programs if not shutil.which(program, path=path)]
    if missing:
        raise packages.Unavailable(f'not installed: {", ".join(missing)} (packages.mk: {list_name})')
