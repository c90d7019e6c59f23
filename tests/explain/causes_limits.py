"""Limits of processes, memory and time; and who ends what exceeds them."""

import os
import subprocess

from cause import as_nobody, cause
from harness import Skipped


@cause('open-file-limit', 'ulimit -n', ': 20')
def open_file_limit(place):
    return [place.fail, 'files']


@cause('kernel-limit', 'user nobody (65534) has as many inotify instances', 'sysctl fs.inotify.max_user_instances=')
def limit_of_a_kind_of_files(place):
    """Not every EMFILE speaks of descriptors."""
    return as_nobody(place, [place.fail, 'watchers'])


@cause('kernel-limit', 'under watch by inotify', 'sysctl fs.inotify.max_user_watches=')
def limit_that_looks_like_a_full_disk(place):
    return [place.fail, 'watch']


@cause('process-limit', 'ulimit -u')
def process_limit(place):
    return as_nobody(place, [place.fail, 'processes'])


@cause('memory-limit', '64 MiB', 'ulimit -v')
def memory_limit(place):
    return [place.fail, 'memory']


@cause('locked-memory-limit', '4 KiB', 'ulimit -l')
def locked_memory_limit(place):
    return as_nobody(place, [place.fail, 'mlock'])


@cause('processor-time-limit', '1 s')
def processor_time_limit(place):
    return [place.fail, 'cpu']


@cause('out-of-memory', 'control group', '16 MiB')
def out_of_memory(place):
    """In a control group of its own with little memory; of version 2 or of version 1, as the machine has it."""
    name = 'explain.' + place.folder.name
    two = os.path.exists('/sys/fs/cgroup/cgroup.controllers')
    group = f'/sys/fs/cgroup/{name}' if two else f'/sys/fs/cgroup/memory/{name}'
    limits = {'memory.max': '16M', 'memory.swap.max': '0'} if two else {'memory.limit_in_bytes': '16M'}
    try:
        os.mkdir(group)
        place.at_end(lambda: os.rmdir(group))
        for file, limit in limits.items():
            if os.path.exists(f'{group}/{file}') or file != 'memory.swap.max':
                with open(f'{group}/{file}', 'w', encoding='ascii') as out:
                    out.write(limit)
    except OSError as error:
        raise Skipped(f'no control group for memory: {error}') from error
    return ['sh', '-c', f'echo $$ >{group}/cgroup.procs && exec {place.fail} eat']


@cause('missing-file', '/etc/no-such.conf')
def program_of_32_bits(place):
    """Static and 32-bit: other call numbers, other layouts."""
    source = '#include <fcntl.h>\nint main(void) { return open("/etc/no-such.conf", O_RDONLY) < 0; }'
    try:
        return [place.cc('program', source, '-m32', '-static')]
    except subprocess.CalledProcessError as error:
        raise Skipped('no 32-bit C library') from error


@cause('killed-by-process', 'SIGKILL')
def killed_by_process(place):
    return [place.fail, 'killed-by-child']


@cause('killed-from-outside', 'SIGKILL', 'dmesg')
def killed_from_outside(place):
    named = place.folder / 'pid'
    place.start('sh', '-c', f'until [ -s {named} ]; do sleep 0.1; done; kill -9 $(cat {named})')
    return ['sh', '-c', f'echo $$ >{named}; exec {place.fail} sleep']
