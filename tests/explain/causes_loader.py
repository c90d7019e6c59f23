"""The loader does not find what a program needs."""

import shutil
import subprocess

from cause import LIBRARY, USER, cause
from harness import Skipped


def program_with_library(place, *options):
    (place.folder / 'build').mkdir(exist_ok=True)
    place.cc('build/libanswer.so', LIBRARY, '-shared', '-fPIC', '-Wl,-soname,libanswer.so.1')
    return place.cc('program', USER, str(place.folder / 'build/libanswer.so'), *options)


@cause('missing-library', 'libanswer.so.1', 'apt-file search', status=127)
def missing_library(place):
    return [program_with_library(place)]


@cause('missing-library', 'libanswer.so.1', 'LD_LIBRARY_PATH=FOLDER/lib')
def missing_library_that_is_elsewhere(place):
    program = program_with_library(place)
    (place.folder / 'lib').mkdir()
    shutil.copy(place.folder / 'build/libanswer.so', place.folder / 'lib/libanswer.so.1')
    return [program]


@cause('bad-run-path', '/opt/no/such/lib', 'RUNPATH')
def bad_run_path(place):
    return [program_with_library(place, '-Wl,-rpath,/opt/no/such/lib')]


@cause('symbol-version', 'ANSWER_2', 'ANSWER_1', status=1)
def symbol_version(place):
    place.file('v1.map', 'ANSWER_1 { global: answer; };')
    place.file('v2.map', 'ANSWER_1 { }; ANSWER_2 { global: answer; } ANSWER_1;')
    name = str(place.folder / 'libanswer.so.1')
    build = ['-shared', '-fPIC', '-Wl,-soname,libanswer.so.1']
    place.cc('libanswer.so.1', LIBRARY, *build, f'-Wl,--version-script={place.folder}/v2.map')
    program = place.cc('program', USER, name, f'-Wl,-rpath,{place.folder}')
    place.cc('libanswer.so.1', LIBRARY, *build, f'-Wl,--version-script={place.folder}/v1.map')
    return [program]


@cause('undefined-symbol', 'answer', status=127)
def undefined_symbol(place):
    name = str(place.folder / 'libanswer.so.1')
    build = ['-shared', '-fPIC', '-Wl,-soname,libanswer.so.1']
    place.cc('libanswer.so.1', LIBRARY, *build)
    program = place.cc('program', USER, name, f'-Wl,-rpath,{place.folder}', '-Wl,-z,now')
    place.cc('libanswer.so.1', 'int other;', *build)
    return [program]


@cause('wrong-elf-class', '32-bit', '64-bit')
def wrong_elf_class(place):
    program = program_with_library(place, f'-Wl,-rpath,{place.folder}')
    try:
        place.cc('libanswer.so.1', LIBRARY, '-m32', '-nostdlib', '-shared', '-fPIC', '-Wl,-soname,libanswer.so.1')
    except subprocess.CalledProcessError as error:
        raise Skipped('no 32-bit compiler') from error
    return [program]


@cause('missing-file', '/etc/no-such.conf')
def bad_preload_is_not_blamed(place):
    return {'command': [place.fail, 'open', '/etc/no-such.conf'], 'options': ['-E', 'LD_PRELOAD=/no/such.so']}
