"""A virtual processor that executes one instruction, hlt. Ends with 77 where there is no KVM."""

import ctypes
import fcntl
import mmap
import os
import struct
import sys

KVM_CREATE_VM, KVM_GET_VCPU_MMAP_SIZE, KVM_CREATE_VCPU = 0xae01, 0xae04, 0xae41
KVM_SET_USER_MEMORY_REGION, KVM_RUN = 0x4020ae46, 0xae80
LAST_PAGE, RESET = 0xfffff000, 0xff0  # an x86 processor starts 16 bytes below 4 GiB

try:
    kvm = os.open('/dev/kvm', os.O_RDWR)
    vm = fcntl.ioctl(kvm, KVM_CREATE_VM, 0)
    memory = mmap.mmap(-1, mmap.PAGESIZE)
    memory[RESET] = 0xf4
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    fcntl.ioctl(vm, KVM_SET_USER_MEMORY_REGION, struct.pack('IIQQQ', 0, 0, LAST_PAGE, mmap.PAGESIZE, address))
    vcpu = fcntl.ioctl(vm, KVM_CREATE_VCPU, 0)
    area = mmap.mmap(vcpu, fcntl.ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0))
    fcntl.ioctl(vcpu, KVM_RUN, 0)
except OSError as error:
    print(error, file=sys.stderr)
    sys.exit(77)
