// Static probes whose notes are written by hand: operands in all forms that assemblers know.
#ifdef __x86_64__
#define WORD ".8byte "
#else
#define WORD ".4byte "
#endif
#define PROBE(name, arguments)                               \
  "990: nop\n"                                               \
  ".pushsection .note.stapsdt, \"\", \"note\"\n"             \
  ".balign 4\n"                                              \
  ".4byte 992f-991f, 994f-993f, 3\n"                         \
  "991: .asciz \"stapsdt\"\n"                                \
  "992: .balign 4\n"                                         \
  "993: " WORD "990b\n" WORD "_.stapsdt.base\n" WORD         \
  "0\n"                                                      \
  ".asciz \"odd\"\n.asciz \"" name "\"\n.asciz \"" arguments \
  "\"\n"                                                     \
  "994: .balign 4\n"                                         \
  ".popsection\n"

__asm__(
    ".section .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
    ".weak _.stapsdt.base\n"
    ".hidden _.stapsdt.base\n"
    "_.stapsdt.base: .space 1\n"
    ".size _.stapsdt.base, 1\n"
    ".previous\n");

static __thread int of_thread = -9;

long words[4] = {11, 22, 33, 44};
int ints[4] = {1, 2, -3, 4};

int main(void) {
#ifdef __x86_64__
#define SEGMENT "%%fs"
#define WIDE "r"
#else
#define SEGMENT "%%gs"
#define WIDE "e"
#endif
  char* thread;
  __asm__("mov " SEGMENT ":0, %0" : "=r"(thread));  // a thread's own variables begin with where they are
  __asm__ volatile(PROBE("thread", "-4@" SEGMENT ":(%%" WIDE "dx)")::"d"((char*)&of_thread - thread));
#ifdef __x86_64__
  __asm__ volatile(
      "push $77\n" PROBE("registers", "8@%%rax 4@%%eax 2@%%ax 1@%%al 1@%%ah -1@%%bl -2@%%bx -4@%%ebx -8@%%rbx")
          PROBE("numbers", "-8@$-5 -4@$-5 4@$5 1@$255 -1@$-1 8@$0x10 -8@$9223372036854775807")
              PROBE("memory",
                    "8@(%%rsp) 8@0(%%rsp) 8@words(%%rip) 8@words+8(%%rip) -4@ints+8(%%rip) 8@words-8+16(%%rip) "
                    "8@(%%rdx,%%rcx,8) 8@8(%%rdx,%%rcx,8) 8@-8(%%rdx,%%rcx,8) -4@(%%rsi,%%rcx,4)")
                  PROBE("strange", "%%rcx $7 (%%rsp) 8@nosuch(%%rip) 3@%%rax @ nonsense 8@") "pop %%rdi\n" ::"a"(
                      0x1122334455667788),
      "b"(-2L), "c"(2L), "d"(words), "S"(ints)
      : "rdi", "memory");
#else
  __asm__ volatile(
      "push $77\n" PROBE("registers", "4@%%eax 2@%%ax 1@%%al 1@%%ah -1@%%bl -2@%%bx -4@%%ebx")
          PROBE("numbers", "4@$-5 -4@$-5 1@$255 -1@$-1") PROBE(
              "memory",
              "4@(%%esp) -4@(%%esi,%%ecx,4) -4@4(%%esi,%%ecx,4) 4@-4(%%esi,%%ecx,4)") "pop %%edi\n" ::"a"(0x55667788),
      "b"(-2), "c"(2), "S"(ints)
      : "edi", "memory");
#endif
  return 3;
}
