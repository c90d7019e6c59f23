"""A program cannot be executed."""

import os
import shutil

from cause import as_nobody, cause


@cause('elf-interpreter-missing', '/lib/ld-musl-absent.so.1', 'musl')
def missing_elf_interpreter(place):
    return [place.cc('program', 'int main(void) { return 0; }', '-Wl,--dynamic-linker=/lib/ld-musl-absent.so.1')]


@cause('script-interpreter-missing', '/no/such/interpreter')
def missing_script_interpreter(place):
    return [place.file('script', '#!/no/such/interpreter\n', 0o755)]


@cause('script-with-carriage-returns', "sed -i 's/\\r$//' FOLDER/script")
def script_with_carriage_returns(place):
    return [place.file('script', '#!/bin/sh\r\necho hello\r\n', 0o755)]


@cause('script-with-carriage-returns', 'the command "python3', "sed -i 's/\\r$//' FOLDER/script", status=127)
def script_of_env_with_carriage_returns(place):
    return [place.file('script', '#!/usr/bin/env python3\r\nprint("hello")\r\n', 0o755)]


@cause('command-not-found', 'no-such-command', 'PATH', status=127)
def env_command_missing(place):
    return [place.file('script', '#!/usr/bin/env no-such-command\n', 0o755)]


@cause('command-not-found', 'no-such-command', 'PATH', status=127)
def command_missing(place):
    return ['no-such-command']


@cause('command-not-found', 'no-such-command', status=127)
def command_missing_in_shell(place):
    return ['sh', '-c', 'echo start; no-such-command --now']


@cause('program-missing', 'FOLDER/programm', 'FOLDER holds program')
def program_missing(place):
    place.file('program', '', 0o755)
    return [str(place.folder / 'programm')]


@cause('empty-program', 'empty')
def empty_program(place):
    return [place.file('program', '', 0o755)]


@cause('no-interpreter-line', '#!/bin/sh')
def no_interpreter_line(place):
    return [place.file('program', 'echo hello\n', 0o755)]


@cause('wrong-machine', 'AArch64')
def wrong_machine(place):
    program = bytearray(open(place.fail, 'rb').read())
    program[18:20] = (183).to_bytes(2, 'little')  # EM_AARCH64
    return [place.file('program', bytes(program), 0o755)]


@cause('truncated-program|elf-unsupported', 'FOLDER/program')
def truncated_program(place):
    program = open(place.fail, 'rb').read()
    return [place.file('program', program[:100], 0o755)]


@cause('not-executable', 'chmod +x FOLDER/program')
def not_executable(place):
    return ['sh', '-c', place.copy_of_fail('program', 0o644)]


@cause('noexec-mount', 'noexec')
def noexec_mount(place):
    point = place.mount('noexec')
    shutil.copy(place.file('script', '#!/bin/sh\n', 0o755), point / 'program')
    return [str(point / 'program')]


@cause('exec-of-a-folder', 'is a directory')
def exec_of_a_folder(place):
    return [str(place.folder)]


@cause('folder-not-enterable', 'FOLDER/closed')
def folder_not_enterable(place):
    program = place.copy_of_fail('closed/program')
    os.chmod(place.folder / 'closed', 0o700)
    return as_nobody(place, ['sh', '-c', f'exec {program} status 0'])


@cause('program-being-written', 'is open for writing')
def program_being_written(place):
    program = place.copy_of_fail('program')
    writer = open(program, 'ab')
    place.at_end(writer.close)
    return [program, 'status', '0']


@cause('arguments-too-long', 'too long')
def arguments_too_long(place):
    return ['/usr/bin/python3', '-c', 'import os; os.execv("/bin/true", ["true", "x" * 200000])']
