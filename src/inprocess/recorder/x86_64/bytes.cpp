// What a compiler calls for bytes, where there is no library.
asm(R"(
  .text
  # Most copies are a few words, for which rep movsb takes longer to start than they take.
  .globl memcpy, memmove
memcpy:
  mov %rdi, %rax
  cmp $8, %rdx
  jb 5f
  cmp $64, %rdx
  ja 3f
  mov -8(%rsi,%rdx), %r8
  lea -8(%rdi,%rdx), %r9
1:
  cmp %r9, %rdi
  jae 2f
  mov (%rsi), %rcx
  mov %rcx, (%rdi)
  add $8, %rsi
  add $8, %rdi
  jmp 1b
2:
  mov %r8, (%r9)
  ret
memmove:
  mov %rdi, %rax
3:
  mov %rdx, %rcx
  rep movsb
  ret
4:
  mov -1(%rsi,%rdx), %cl
  mov %cl, -1(%rdi,%rdx)
  dec %rdx
5:
  test %edx, %edx
  jne 4b
  ret
  .globl memset
memset:
  mov %rdi, %r9
  mov %esi, %eax
  mov %rdx, %rcx
  rep stosb
  mov %r9, %rax
  ret
  .globl memcmp
memcmp:
  mov %rdx, %rcx
  xor %eax, %eax
  repe cmpsb
  je 1f
  movzbl -1(%rdi), %eax
  movzbl -1(%rsi), %ecx
  sub %ecx, %eax
1:
  ret
  .globl memchr
memchr:
  mov %esi, %eax
  mov %rdx, %rcx
  or $-1, %edx
  repne scasb
  mov $0, %eax
  jne 1f
  lea -1(%rdi), %rax
1:
  ret
)");
