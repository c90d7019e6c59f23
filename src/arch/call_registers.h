// A program's registers at a call, as the code that runs inside the program (src/inprocess/recorder) stores them, and
// what that code needs of the processor. Headers alone: that code is linked with nothing of this room.
//
// Each file below has these:
//   CallRegisters      plain data, as the recorder's assembly stores it: `general`, of which the first six are the
//                      call's arguments, `flags`, `stack_pointer` and `behind_call`, and what else the assembly keeps
//   EntryLabels        addresses in the assembly that leads into the recorder and out of it
//   FunctionScratch    what CallRegisters lacks of the registers at the entry and the exit of a function
//   FunctionLabels     addresses in the assembly that leads functions into the recorder and out of it
//   clock_ticks        the processor's clock, in ticks of its own; all processors agree
// and where there is a recorder:
//   StoredRegisters    a register set NT_PRSTATUS
//   registers_at_call  makes one: behind the call instruction of a call of this number, before its result
//   address_end        behind a program's addresses
//   fetch_for_writing  has a line of the cache come
//   function_arguments the words of a function's arguments that are in registers; function_results: those of its result
//   own_thread_pointer of the thread that asks
//   stop_for_tracer    raises SIGTRAP
#pragma once

#if defined(__x86_64__)
#include "arch/x86_64/call_registers.h"
#elif defined(__aarch64__)
#include "arch/aarch64/call_registers.h"
#endif
