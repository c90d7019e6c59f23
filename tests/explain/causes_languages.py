"""Errors that programs of some languages say nothing has caught; in the words of their run-time systems."""

import socket

from cause import cause, uncaught
from harness import Skipped


def saying(place, status, *lines):
    """A program that says these lines itself."""
    words = ' '.join("'" + line.replace("'", "'\\''") + "'" for line in lines)
    return [place.file('program', f"#!/bin/sh\nprintf '%s\\n' {words} >&2\nexit {status}\n", 0o755)]


GO = ('panic: runtime error: index out of range [5] with length 3', '', 'goroutine 1 [running]:', 'main.main()', '\t/app/main.go:7 +0x1d')
RUST = ('', "thread 'main' panicked at src/main.rs:4:5:", 'no fuel', 'note: run with `RUST_BACKTRACE=1`')


@uncaught('panic at /app/main.go, line 7', status=2)
def go_panic(place):
    return saying(place, 2, *GO)


@uncaught('panic at src/main.rs, line 4', status=101)
def rust_panic(place):
    return saying(place, 101, *RUST)


@uncaught('panic at src/main.rs, line 4')
def rust_panic_of_old(place):
    return saying(place, 101, "thread 'main' panicked at 'no fuel', src/main.rs:4:5")


@uncaught('java.lang.IllegalStateException at Main.java, line 9', status=1)
def java_exception(place):
    return saying(place, 1, 'Exception in thread "main" java.lang.RuntimeException: start', '\tat Main.main(Main.java:3)',
                  'Caused by: java.lang.IllegalStateException: no fuel', '\tat java.base/java.util.List.of(List.java:1)', '\tat Main.start(Main.java:9)', '\t... 1 more')


@uncaught('Error at /app/main.js, line 1', status=1)
def node_error(place):
    return saying(place, 1, '/app/main.js:1', "throw new Error('no fuel')", '^', '', 'Error: no fuel',
                  '    at Object.<anonymous> (/app/main.js:1:7)', '', 'Node.js v20.0.0')


@uncaught('ValueError at <string>, line 1', status=1)
def python_exception(place):
    return ['/usr/bin/python3', '-c', 'raise ValueError("no fuel")']


@uncaught('Failure', status=2)
def ocaml_exception(place):
    return saying(place, 2, 'Fatal error: exception Failure("no fuel")')


@cause('missing-file', 'no-such.toml')
def reason_of_a_panic(place):
    """What led to it says more than that it came."""
    return ['/usr/bin/python3', '-c', 'open("/etc/no-such.toml")']


@cause('missing-module', 'Java class no.such.Class', 'java -cp')
def java_class(place):
    return saying(place, 1, 'Exception in thread "main" java.lang.ClassNotFoundException: no.such.Class', '\tat Main')


@cause('missing-module', 'Java library fuel', 'java.library.path')
def java_library(place):
    return saying(place, 1, 'Exception in thread "main" java.lang.UnsatisfiedLinkError: no fuel in java.library.path: /x')


@cause('name-not-resolved', 'a host name does not exist')
def go_name(place):
    return saying(place, 1, 'dial tcp: lookup no-such-host.example on 192.0.2.1:53: no such host')


@cause('name-not-resolved', 'could not be resolved')
def java_name(place):
    return saying(place, 1, 'java.net.UnknownHostException: no-such-host.example')


@cause('connection-refused', 'nobody listens at 127.0.0.1:6379', 'Redis', 'no process on this machine')
def connection_by_a_socket_for_both_protocols(place):
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            probe.bind(('::ffff:127.0.0.1', 0))
    except OSError as error:
        raise Skipped(f'no IPv6: {error}') from error
    return ['/usr/bin/python3', '-c', 'import socket; socket.socket(socket.AF_INET6).connect(("::ffff:127.0.0.1", 6379))']


@cause('missing-module', 'the Lua module nosuch.part is not installed')
def lua_module(place):
    """Lua lists all places where it has looked."""
    return saying(place, 1, "lua: x.lua:1: module 'nosuch.part' not found:", "\tno field package.preload['nosuch.part']",
                  "\tno file './nosuch.so'")
