"""Signals that a program brings upon itself."""

from cause import LIBRARY, USER, cause


@cause('illegal-instruction', 'instruction')
def illegal_instruction(place):
    return [place.fail, 'illegal']


@cause('crash-before-main', 'FOLDER/libanswer.so.1', 'before main')
def crash_before_main(place):
    source = LIBRARY + ' __attribute__((constructor)) static void begin(void) { *(volatile int *)0 = 1; }'
    name = place.cc('libanswer.so.1', source, '-shared', '-fPIC', '-Wl,-soname,libanswer.so.1')
    return [place.cc('program', USER, name, f'-Wl,-rpath,{place.folder}')]


@cause('segmentation-fault', 'null pointer')
def segmentation_fault(place):
    return [place.fail, 'segv']


@cause('stack-overflow', 'stack')
def stack_overflow(place):
    return [place.fail, 'stack']


@cause('stack-overflow', 'stack')
def stack_overflow_of_a_thread(place):
    return [place.fail, 'thread-stack']


@cause('aborted', "Assertion `fuel > 0' failed")
def aborted(place):
    return [place.fail, 'abort']
