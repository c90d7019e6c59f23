// Functions that only their debugging information describes.
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

enum color { RED, GREEN = 2, BLUE = 7 };
enum access { CAN_READ = 1, CAN_WRITE = 2, CAN_RUN = 4 };
typedef struct point {
  int x;
  int y;
} point;
struct vector {
  double x, y;
};
struct floats {
  float a, b, c;
};
struct mixed {
  double number;
  char letter;
};
struct big {
  long values[3];
  char name[8];
};
union number {
  int whole;
  float part;
};
struct node {
  int value;
  struct node* next;
};
struct flags {
  unsigned low : 3;
  int negative : 5;
  unsigned : 8;
  unsigned high : 16;
};
struct nested {
  point from;
  union {
    int a;
    int b;
  };
  const char* text;
  int (*callback)(int);
  enum color color;
};
typedef int (*callback)(int);

int scalars(char letter, bool truth, short small, unsigned char byte, float single, double number, long double extended,
            unsigned long large);
enum color colors(enum color color, enum access access);
const char* texts(const char* in, char* out, const wchar_t* wide, void* address, const char* restrict none);
void pointers(const point* in, point* out, int* changed, const int* kept, char** end, struct node* list);
point by_value(point p, int after);
struct vector vectors(struct vector v, struct vector w);
struct floats in_three(struct floats f, double d);
struct mixed mixed(struct mixed m, struct mixed n, struct mixed o, struct mixed p, struct mixed q);
struct big big(struct big b, point p);
union number either(union number n);
int whole(const struct nested* nested, struct flags flags, callback called);
float _Complex turned(float _Complex f, int between, double _Complex d, long double _Complex l, float last);
double _Complex turned_twice(double _Complex d, float _Complex f);
long double _Complex turned_more(long double _Complex l, double after);
int say(const char* format, ...);
