#!/usr/bin/python3
"""Serves data/text to each client that asks, whatever it asks for: http_server.py PORT CLIENT

The answer is one segment, sent when the program CLIENT sleeps in a call: what the client then does hangs neither on how
fast the server was nor on where the answer was cut in two. The client closes the connection first, for the same reason.
"""

import pathlib
import socket
import sys
import time


def sleeps(name):
    """Whether a process of that name waits in a call. A stop for a tracer is another state."""
    for status in pathlib.Path('/proc').glob('[0-9]*/stat'):
        try:
            _, found, rest = status.read_text().replace('(', ')').split(')')
        except OSError:
            continue  # it has ended
        if found == name and rest.split()[0] == 'S':
            return True
    return False


def main():
    port, client = int(sys.argv[1]), sys.argv[2]
    text = pathlib.Path('data/text').read_bytes()
    answer = b'HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n' % len(text) + text
    with socket.create_server(('127.0.0.1', port)) as server:
        while True:
            connection, _ = server.accept()
            with connection:
                if connection.recv(65536):
                    while not sleeps(client):
                        time.sleep(0.001)
                    connection.sendall(answer)
                    connection.recv(1)


main()
