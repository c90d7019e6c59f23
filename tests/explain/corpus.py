#!/usr/bin/python3
"""Ordinary programs that fail in ordinary ways. Each case is a line of a table: what is prepared, what is explained, a
regular expression that the first answer has to match, and one that no answer may match.

The figures that it prints say how often the first answer is right, and how often something innocent is blamed."""

import glob
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys

import corpus_clients
import corpus_environment
import corpus_everyday
import corpus_files
import corpus_further
import corpus_installed
import corpus_installed_more
import corpus_languages
import corpus_machine
import corpus_own
import corpus_own_more
import corpus_programs
import corpus_servers
import corpus_services
import corpus_utilities
from cause import NOBODY
from corpus_data import GOOD, OWN, Answered
from harness import TIME_LIMIT, Skipped, main


# Of the system's programs: what a user has put before them may itself stand where another user may not go.
PATH = ':'.join(['/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', *glob.glob('/usr/lib/postgresql/*/bin')])


# Cases whose answer is wrong as yet; they are run and counted apart.
WRONG_AS_YET = {'apt_cfg_vsftpd_word', 'apt_fs_lp', 'apt_cfg_wg', 'apt_cfg_venv', 'apt_net_snmp',
                'apt_lock_tmux_none', 'apt_cfg_vsftpd_missing', 'env_fpc_unit',
                'env_debootstrap'}

# A server that takes a port and answers nothing.
LISTENER = ("python3 -c 'import socket,time; s=socket.create_server((\"127.0.0.1\", PORT)); time.sleep(30)' >/dev/null 2>&1 & "
            'until ss -Hltn "sport = :PORT" | grep -q .; do sleep 0.05; done')


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as server:
        return str(server.getsockname()[1])


def outcome(answer):
    """What the first answer says, without the program's own words."""
    if not answer['answers']:
        return ''
    first = answer['answers'][0]
    return '\n'.join([first['cause'], *first['looked_at'], first['remedy']])


def needed_programs(command):
    """The program of a command, and the one that `env` runs; those that are to be missing have "such" in their names."""
    words = shlex.split(command)
    needed = words[:1]
    if words[0] == 'env':
        rest = iter(words[1:])
        for word in rest:
            if word == '-u':
                next(rest)
            elif word == '-S':
                break
            elif not word.startswith('-') and '=' not in word:
                needed.append(word)
                break
    return [word for word in needed if 'such' not in word]


# What no answer may advise, or leave unformatted.
DANGEROUS = r'rm -\w*[rf]|\b(user|group)add\b|chmod (-R|[0-7]*7{2,3}\b|\S*w\S* /(etc|usr|proc|sys|dev)?(/|$))|chmod \S+ /( |$)'
UNFORMATTED = r'\{\}|%[sd]'


def check_form(answer):
    for one in answer['answers']:
        assert one['cause'] and one['remedy'] and len(one['cause'] + one['remedy']) < 900, f'too little or too much: {one}'
        assert not re.search(DANGEROUS, one['remedy']), f'dangerous: {one["remedy"]}'
        assert not re.search(UNFORMATTED, one['cause'] + one['remedy']), f'unformatted: {one}'
    causes = [one['cause'] for one in answer['answers']]
    assert len(causes) == len(set(causes)), f'said twice: {causes}'


def unmount_below(folder):
    with open('/proc/self/mounts', encoding='ascii') as mounts:
        points = [line.split()[1] for line in mounts]
    for point in reversed([point for point in points if point.startswith(f'{folder}/')]):
        subprocess.run(['umount', '-l', point], check=False)


# What a command's own command, in a pipeline or behind `prlimit`, lacks on this machine.
MISSING = r'the command (\S+) is in none of the directories|the Python module (\S+) is not installed'


def skip_without_programs(command, said):
    for missing in re.findall(MISSING, said):
        name = ''.join(missing)
        if re.search(rf'(?<![\w/-]){re.escape(name)}(?![\w-])', command) and 'such' not in name and shutil.which(name, path=PATH) is None:
            raise Skipped(f'no {name}')


class MountsGone(AssertionError):
    """The kernel engine stops nobody: mounts of a process's own may be gone with it, and the answer says so."""


def check_case(case, place):
    name, prepare, command, expected, forbidden = (*case, '')[:5]
    if re.search('PORT|LISTEN', f'{prepare}{command}'):
        port = free_port()
        prepare = re.sub(r'(?<![-A-Z])LISTEN\b', lambda _: LISTENER, prepare)
        prepare, command, expected = (re.sub(r'(?<![A-Z])PORT\b', port, part) if isinstance(part, str) else part
                                      for part in (prepare, command, expected))
    program = command.split()[0]
    as_nobody = program == 'NOBODY'
    if as_nobody:
        if os.geteuid() != 0:
            raise Skipped('needs root to become another user')
        command = command.split(None, 1)[1]
        os.chmod(place.folder, 0o777)
        program = command.split()[0]
    for needed in needed_programs(command):
        if shutil.which(needed, path=PATH) is None and not needed.startswith('.'):
            raise Skipped(f'no {needed}')
    if os.geteuid() != 0 and re.match(r'unshare -m |mount |chroot |memcached |postgres ', command):
        raise Skipped('needs root')
    if 'chattr' in prepare and shutil.which('chattr'):
        place.at_end(lambda: subprocess.run(['chattr', '-R', '-i', '-a', str(place.folder)], check=False))
    if 'mount ' in prepare:
        place.at_end(lambda: unmount_below(place.folder))
    if prepare:
        done = subprocess.run(['sh', '-ec', prepare], cwd=place.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=TIME_LIMIT, check=False)
        if done.returncode != 0:
            raise Skipped(f'{name} cannot be prepared: {done.stderr.decode(errors="replace").strip()}')
    environment = {**os.environ, 'PATH': PATH, 'HOME': str(place.folder), 'LC_ALL': 'C.UTF-8'}
    words = subprocess.run(['bash', '-c', f'printf "%s\\0" {command}'], cwd=place.folder, capture_output=True,
                           env=environment, timeout=TIME_LIMIT, check=True).stdout.decode().split('\0')[:-1]
    answer, _ = place.explain(*(NOBODY + ['--inh-caps=-all'] if as_nobody else []), *words, env=environment)
    check_form(answer)
    if expected is GOOD:
        assert answer['outcome'] == 'good' and not answer['answers'], answer['headline']
        return
    if isinstance(expected, Answered):
        assert answer['outcome'] == 'good' and expected.words in answer['headline'], answer['headline']
        return
    assert answer['outcome'] == 'failed', f'{answer["outcome"]}: {answer["headline"]}'
    said = outcome(answer)
    if expected is OWN or not re.search(expected, said):
        skip_without_programs(command, said)
    if expected is OWN:
        assert not said, f'blamed for what it decided itself: {said}'
    elif not re.search(expected, said):
        gone = place.in_kernel and any('gone with it' in fact for fact in answer['not_looked_at'])
        raise (MountsGone if gone else AssertionError)(f'no {expected!r} in {said!r}')
    if forbidden:
        everything = '\n'.join(one['cause'] for one in answer['answers'])
        assert not re.search(forbidden, everything), f'{forbidden!r} in {everything!r}'


def test_of(case):
    def check(place):
        try:
            check_case(case, place)
        except MountsGone as error:
            raise Skipped(f'the tracer says that it was too late to look at the mounts: {error}') from error
        except AssertionError as error:
            if case[0] in WRONG_AS_YET:
                raise Skipped(f'wrong as yet: {error}') from error
            raise
    check.__name__ = case[0]
    return check


FAMILIES = {'files': corpus_files.CASES, 'programs': corpus_programs.CASES, 'machine': corpus_machine.CASES,
            'servers': corpus_servers.CASES, 'clients': corpus_clients.CASES, 'utilities': corpus_utilities.CASES,
            'languages': corpus_languages.CASES, 'environment': corpus_environment.CASES,
            'everyday': corpus_everyday.CASES, 'further': corpus_further.CASES, 'services': corpus_services.CASES,
            'installed': corpus_installed.CASES, 'installed_more': corpus_installed_more.CASES, 'own': corpus_own.CASES,
            'own_more': corpus_own_more.CASES}
CASES = [case for cases in FAMILIES.values() for case in cases]

if __name__ == '__main__':
    twice = {case[0] for case in CASES if sum(other[0] == case[0] for other in CASES) > 1}
    if twice:
        sys.exit(f'names that stand twice: {twice}')
    chosen = {name: value for name, _, value in (word.partition('=') for word in sys.argv) if name in ('--families', '--every')}
    sys.argv = [word for word in sys.argv if word.split('=')[0] not in chosen]
    names = chosen['--families'].split(',') if '--families' in chosen else FAMILIES
    main([test_of(case) for name in names for case in FAMILIES[name]][::int(chosen.get('--every', 1))])
