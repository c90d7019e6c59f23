// Values of every kind that ltrace_values.conf describes: with -DLIBRARY the functions, else the program.
#include <string.h>

struct S {
  int a;
  char b;
  double c;
};
struct Node {
  int value;
  struct Node* next;
};

#ifdef LIBRARY

int func_array(int* p, int n) {
  return n;
}
void func_struct(struct S* s) {}
void func_enum(int e) {}
void func_bits(unsigned short x) {}
void func_bytes(const unsigned char* set) {}
void func_bool(int x) {}
void func_list(struct Node* n) {}
void func_list_by_value(struct Node n) {}
void func_hide(int a, int b) {}
int func_string(const char* s, int n) {
  return 1;
}
int func_upto(const char* s, int n) {
  return 2;
}
int func_out(int* p, char* s, int n) {
  *p = 77;
  strcpy(s, "fil");
  return 3;
}
void func_hex(double d, int i) {}
long func_pointer(long* p) {
  return p ? *p : -1;
}
void func_strings(char** p) {}
void func_octal(int x, unsigned y) {}
char func_char(char c, char* p) {
  return c;
}
float func_float(float f, double d) {
  return f;
}
double func_double(double d) {
  return d;
}
void func_vector(void* p) {}
short func_short(long a, unsigned long b, short c, unsigned short d) {
  return c;
}
void func_format(const char* f, ...) {}
char* func_text(char* s) {
  return s;
}
void func_wide(const int* s) {}
void func_nested(void* p) {}
struct named {
  char name[6];
  float size;
};
struct pair {
  float part;
  char a, b;
};
struct pair func_by_value(int n, struct named s, double d) {
  struct pair r = {s.size + (float)d - n, 'x', 'y'};
  return r;
}
struct pair3 {
  long a, b, c;
} func_big(struct pair3 p, int n) {
  p.b = n;
  return p;
}
void* func_address(void* p) {
  return p;
}
int func_guess(long a, long b, long c, long d) {
  return a;
}

#else

float func_float(float, double);
double func_double(double);
void func_hex(double, int);
long func_pointer(long*);
short func_short(long, unsigned long, short, unsigned short);
char* func_text(char*);
struct named {
  char name[6];
  float size;
};
struct pair {
  float part;
  char a, b;
} func_by_value(int, struct named, double);
struct pair3 {
  long a, b, c;
} func_big(struct pair3, int);
void* func_address(void*);
void func_format(const char*, ...);

int main(void) {
  int a[6] = {1, 2, 3, 4, 5, 6};
  func_array(a, 6);
  func_array(a, 3);
  func_array(a, 0);
  struct S s = {-3, 'x', 2.5};
  func_struct(&s);
  func_struct(0);
  func_enum(2);
  func_enum(9);
  func_bits(0x102);
  func_bits(0xfffe);
  func_bits(0xffff);
  func_bits(0);
  func_bits(0x38);
  unsigned char set[4] = {0x81, 1, 0, 0xf0};
  func_bytes(set);
  func_bool(0);
  func_bool(5);
  struct Node n3 = {7, 0}, n2 = {8, &n3}, n1 = {9, &n2};
  func_list(&n1);
  func_list_by_value(n1);
  n3.next = &n1;
  func_list(&n1);
  func_hide(1, 2);
  func_string("0123456", 4);
  func_string(
      "01\0"
      "3456",
      5);
  func_upto(
      "01\0"
      "3456",
      5);
  int o;
  char b[9];
  func_out(&o, b, 8);
  func_hex(1.5, 255);
  long l = 99;
  func_pointer(&l);
  func_pointer(0);
  char* text = "hello";
  func_strings(&text);
  func_octal(8, 0);
  func_char('z', "q");
  func_char('\n', "\\");
  func_char(-1, "\1");
  func_float(1.5f, -2.5);
  func_double(1e10);
  struct {
    unsigned long n;
    int* p;
  } vector = {3, a};
  func_vector(&vector);
  func_short(-1, 99999999999, -2, 65535);
  func_format("%s=%d %5.2f %c %p %lld %hhd %x %% %.3s %*d\n", "k", 42, 3.25, 'c', (void*)16, 1099511627776, 300, 255,
              "abcdef", 4, 5);
  func_text("a\"b\\c\a\b\t\n\v\f\r\033\377'");
  func_text("0123456789012345678901234567890123456789");
  func_text(0);
  func_wide(L"wide");
  struct {
    struct S s;
    int a[2];
    char name[4];
  } nested = {{1, '\0', 0.5}, {-1, 70000}, "abc"};
  func_nested(&nested);
  struct named named = {"abcde", 2.5F};
  func_by_value(1, named, 9.5);
  struct pair3 three = {1, 2, 3};
  func_big(three, 7);
  func_address(0);
  func_address((void*)0x12345678);
  func_guess(10000, 10001, -10000, -10001);
  func_guess(-10001, 1, 2, 3);
  return 5;
}

#endif
