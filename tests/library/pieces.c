// Functions with other things on the stack than where they return to: a piece of one that stands elsewhere, as
// compilers put what seldom runs, and one that is jumped to. What is on the stack is the address of a number, which
// must stay as it is.
int number = 7;

__asm__(
    ".text\n"
    ".type whole, @function\n"
    "whole:\n"
    "  lea number(%rip), %rax\n"
    "  push %rax\n"
    "  jmp whole.cold\n"
    ".type whole.cold, @function\n"
    "whole.cold:\n"
    "  pop %rax\n"
    "  mov (%rax), %eax\n"
    "  ret\n"
    ".type jumps, @function\n"
    "jumps:\n"
    "  lea number(%rip), %rax\n"
    "  push %rax\n"
    "  jmp jumped_to\n"
    ".type jumped_to, @function\n"
    "jumped_to:\n"
    "  pop %rax\n"
    "  mov (%rax), %eax\n"
    "  ret\n");

int whole(void);
int jumps(void);

int main(void) {
  const int one = whole();
  const int other = jumps();
  return one + other + number;
}
