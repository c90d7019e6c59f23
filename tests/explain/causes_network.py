"""Ports, servers and names of hosts."""

import os
import socket
import threading

from cause import as_nobody, cause
from harness import Skipped


@cause('port-in-use', 'python3 (pid', 'the port is taken')
def port_in_use(place):
    return [place.fail, 'bind', '127.0.0.1', place.listen()]


@cause('privileged-port', 'port 80', 'cap_net_bind_service')
def privileged_port(place):
    if open('/proc/sys/net/ipv4/ip_unprivileged_port_start').read().strip() != '1024':
        raise Skipped('low ports are not privileged here')
    return as_nobody(place, [place.fail, 'bind', '127.0.0.1', '80'])


@cause('wrong-address', '192.0.2.1')
def wrong_address(place):
    return [place.fail, 'bind', '192.0.2.1', '8080']


@cause('server-not-running', 'FOLDER/.s.PGSQL.5432', 'PostgreSQL', 'systemctl start postgresql')
def unix_socket_absent(place):
    return [place.fail, 'connect-unix', str(place.folder / '.s.PGSQL.5432')]


@cause('server-not-running', 'the X server (DISPLAY)', 'FOLDER/.X11-unix/X7')
def x_server_absent(place):
    return [place.fail, 'connect-unix', str(place.folder / '.X11-unix/X7')]


@cause('server-not-running', 'the D-Bus daemon', 'systemctl start dbus')
def system_bus_absent(place):
    return [place.fail, 'connect-unix', str(place.folder / 'dbus/system_bus_socket')]


@cause('server-not-running', "the session's D-Bus daemon", 'dbus-run-session')
def session_bus_absent(place):
    return [place.fail, 'connect-unix', str(place.folder / 'bus')]


@cause('no-display', 'DISPLAY', 'xvfb-run')
def display_not_set(place):
    return ['sh', '-c', 'echo "Error: cannot open display: " >&2; exit 1']


@cause('server-not-running', 'nobody listens')
def unix_socket_stale(place):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place.folder / 'socket'))
    return [place.fail, 'connect-unix', str(place.folder / 'socket')]


@cause('socket-file-exists', 'rm FOLDER/socket')
def unix_socket_left_behind(place):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place.folder / 'socket'))
    return [place.fail, 'bind-unix', str(place.folder / 'socket')]


@cause('connection-refused', '127.0.0.1:5432', 'PostgreSQL')
def connection_refused(place):
    return [place.fail, 'connect', '127.0.0.1', '5432']


@cause('connection-refused', '127.0.0.1:6379', 'Redis', 'SO_ERROR, ECONNREFUSED, 4) = 0')
def connection_refused_later(place):
    return [place.fail, 'connect-later', '127.0.0.1', '6379']


def with_name_server(place, server):
    """A mount namespace whose /etc/resolv.conf names a server; `hosts` and `dns` only. A server of ours has all the time
    that the machine may keep it from answering."""
    if os.geteuid() != 0:
        raise Skipped('needs root for a mount namespace')
    conf = place.file('resolv.conf', f'nameserver {server}\noptions timeout:30 attempts:1\n')
    switch = place.file('nsswitch.conf', 'hosts: dns\n')
    script = (f'mount --bind {conf} /etc/resolv.conf && mount --bind {switch} /etc/nsswitch.conf && '
              f'exec {place.fail} resolve no-such-host.example')
    place.run('unshare', '-m', 'true')
    return ['unshare', '-m', 'sh', '-c', script]


@cause('name-not-resolved', '127.0.0.9', 'resolv.conf')
def name_server_dead(place):
    return with_name_server(place, '127.0.0.9')


@cause('name-not-resolved', '127.0.0.8', 'does not exist')
def name_does_not_exist(place):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        server.bind(('127.0.0.8', 53))
    except OSError as error:
        raise Skipped(f'port 53: {error}') from error
    place.at_end(server.close)

    def answer():
        try:
            while True:
                query, sender = server.recvfrom(512)
                server.sendto(query[:2] + b'\x81\x83' + query[4:6] + b'\0' * 6 + query[12:], sender)
        except OSError:
            pass
    threading.Thread(target=answer, daemon=True).start()
    return with_name_server(place, '127.0.0.8')
