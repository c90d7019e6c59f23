#include "described.h"

int scalars(char letter, bool truth, short small, unsigned char byte, float single, double number, long double extended,
            unsigned long large) {
  return letter + truth + small + byte + (int)(single + number + (double)extended) + (int)large;
}
enum color colors(enum color color, enum access access) {
  return access == CAN_READ ? RED : color;
}
const char* texts(const char* in, char* out, const wchar_t* wide, void* address, const char* restrict none) {
  out[0] = in[0];
  out[1] = 0;
  return wide && address && !none ? in : out;
}
void pointers(const point* in, point* out, int* changed, const int* kept, char** end, struct node* list) {
  out->x = in->y;
  out->y = in->x;
  *changed += *kept;
  *end = "the end";
  list->value++;
}
point by_value(point p, int after) {
  point r = {p.y, p.x + after};
  return r;
}
struct vector vectors(struct vector v, struct vector w) {
  struct vector r = {v.x + w.x, v.y + w.y};
  return r;
}
struct floats in_three(struct floats f, double d) {
  struct floats r = {f.c, f.b, f.a + (float)d};
  return r;
}
struct mixed mixed(struct mixed m, struct mixed n, struct mixed o, struct mixed p, struct mixed q) {
  struct mixed r = {m.number + n.number + o.number + p.number, q.letter};
  return r;
}
struct big big(struct big b, point p) {
  b.values[1] = p.x;
  b.name[5] = b.name[6] = b.name[7] = '!';  // no NUL is left
  return b;
}
union number either(union number n) {
  n.whole++;
  return n;
}
int whole(const struct nested* nested, struct flags flags, callback called) {
  return called(nested->from.x) + flags.negative;
}
float _Complex turned(float _Complex f, int between, double _Complex d, long double _Complex l, float last) {
  return f * 1.0iF;
}
double _Complex turned_twice(double _Complex d, float _Complex f) {
  return -d;
}
long double _Complex turned_more(long double _Complex l, double after) {
  return l * -1.0iF;
}
int say(const char* format, ...) {
  return format[0];
}
