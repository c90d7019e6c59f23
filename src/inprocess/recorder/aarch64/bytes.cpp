// What a compiler calls for bytes, where there is no library.
asm(R"(
  .text
  .globl memcpy, memmove
memcpy:
  mov x3, x0
1:
  cmp x2, #8
  b.lo 2f
  ldr x4, [x1], #8
  str x4, [x3], #8
  sub x2, x2, #8
  b 1b
2:
  cbz x2, 3f
  ldrb w4, [x1], #1
  strb w4, [x3], #1
  sub x2, x2, #1
  b 2b
3:
  ret
memmove:
  sub x3, x0, x1
  cmp x3, x2
  b.hs memcpy  // not within the source, from its start on
  add x3, x0, x2
  add x1, x1, x2
4:
  cbz x2, 5f
  ldrb w4, [x1, #-1]!
  strb w4, [x3, #-1]!
  sub x2, x2, #1
  b 4b
5:
  ret
  .globl memset
memset:
  mov x3, x0
6:
  cbz x2, 7f
  strb w1, [x3], #1
  sub x2, x2, #1
  b 6b
7:
  ret
  .globl memcmp
memcmp:
  mov x5, x0
  mov w0, #0
8:
  cbz x2, 9f
  ldrb w3, [x5], #1
  ldrb w4, [x1], #1
  sub x2, x2, #1
  subs w0, w3, w4
  b.eq 8b
9:
  ret
  .globl memchr
memchr:
  and w1, w1, #0xff
10:
  cbz x2, 11f
  ldrb w3, [x0], #1
  sub x2, x2, #1
  cmp w3, w1
  b.ne 10b
  sub x0, x0, #1
  ret
11:
  mov x0, #0
  ret
)");
