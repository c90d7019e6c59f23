"""A FUSE server that serves one file and never answers one kind of request about it, as a hostile one may."""

import ctypes
import os
import signal
import struct

LOOKUP, GETATTR, OPEN, READ, RELEASE, FLUSH, INIT, OPENDIR = 1, 3, 14, 15, 18, 25, 26, 27
ROOT, FILE, FOLDER = 1, 2, 3  # node ids
SIZE = 8192
ENOSYS, EINTR, ENOENT = 38, 4, 2


def attributes(node):
    mode = 0o100755 if node == FILE else 0o40755
    return struct.pack('<6Q10I', node, SIZE, 16, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


ANSWERS = {
    INIT: struct.pack('<4I2H2I2HI28x', 7, 31, 65536, 0, 12, 9, 65536, 1, 0, 0, 0),
    OPEN: struct.pack('<Q2I', 7, 0, 0),
    OPENDIR: struct.pack('<Q2I', 7, 0, 0),
    READ: b'/' * 4096,
    RELEASE: b'',
    FLUSH: b'',
}


class SilentServer:
    """Serves `folder`/file and `folder`/folder in a process of its own until it is stopped. It answers all requests but
    those of the kind `never` about the file; after hush(), none. Raises OSError where it may not mount."""

    def __init__(self, folder, never):
        self.folder = folder
        self.path = os.path.join(folder, 'file')
        self.kernel = os.open('/dev/fuse', os.O_RDWR)
        libc = ctypes.CDLL(None, use_errno=True)
        self.umount = libc.umount2
        options = f'fd={self.kernel},rootmode=40000,user_id={os.getuid()},group_id=0,allow_other'
        if libc.mount(b'silent', folder.encode(), b'fuse', 0, options.encode()) != 0:
            number = ctypes.get_errno()
            os.close(self.kernel)
            raise OSError(number, os.strerror(number))
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self._serve(never)
            finally:
                os._exit(0)
        os.close(self.kernel)

    def _serve(self, never):
        hushed = []
        signal.signal(signal.SIGUSR1, lambda *_: hushed.append(True))
        while True:
            try:
                request = os.read(self.kernel, 1 << 17)
            except OSError as error:
                if error.errno in (EINTR, ENOENT):  # ENOENT: it was taken back
                    continue
                return
            _, kind, number, node = struct.unpack_from('<2I2Q', request)
            if hushed or (kind == never and node == FILE):
                continue
            if kind == GETATTR:
                answer = struct.pack('<Q2I', 0, 0, 0) + attributes(node)
            elif kind == LOOKUP:
                found = FOLDER if request[40:].startswith(b'folder\0') else FILE
                answer = struct.pack('<4Q2I', found, 0, 0, 0, 0, 0) + attributes(found)
            else:
                answer = ANSWERS.get(kind)
            if answer is None:
                os.write(self.kernel, struct.pack('<IiQ', 16, -ENOSYS, number))
            else:
                os.write(self.kernel, struct.pack('<IiQ', 16 + len(answer), 0, number) + answer)

    def hush(self):
        os.kill(self.pid, signal.SIGUSR1)

    def stop(self):
        """Everybody who waits for an answer gets an error now."""
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        self.umount(self.folder.encode(), 2)
