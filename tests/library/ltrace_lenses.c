// Lenses of ltrace 0.7.91 that ltrace_lenses/ describes: with -DLIBRARY the functions, else the program.
#ifdef LIBRARY
int lens_hex(unsigned* p) {
  return 0;
}
int lens_octal(unsigned* p) {
  return 0;
}
int lens_truth(int* p) {
  return 0;
}
int lens_binary(int n, int* p) {
  return 0;
}
int lens_all_hex(int* p) {
  return 0;
}
int lens_wide(unsigned* one, unsigned* two, int count, unsigned short* three) {
  return 0;
}
int lens_character(unsigned c) {
  return 0;
}
int lens_format(unsigned* format, ...) {
  return 0;
}
int lens_empty(void* p, void* q) {
  return 0;
}
int lens_many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k, int l, int m, int n, int o,
              int p, int q, int r, int s, int t, int u, int v, int w, int x, int y, int z) {
  return z;
}
void* lens_address(void* p) {
  return p;
}
int lens_later(void* p) {
  return 0;
}
int lens_rows(void* p) {
  return 0;
}
int lens_imported(int n) {
  return 0;
}
int lens_up_to(long* p, int* q, int n) {
  return 0;
}
int lens_crowd(int* p) {
  return 0;
}
int lens_nameless(char c, short s) {
  return 0;
}
int lens_ring(void* p) {
  return 0;
}
float lens_set(void* pair, float number, long word, void* rows) {
  return number;
}
int lens_hidden(void) {
  return 7;
}
struct pair {
  int one;
  int other;
};
struct pair lens_pairs(struct pair a, struct pair* b, struct pair c, struct pair d) {
  return a;
}
int lens_names(int a, int b, int c, int d, void* ring) {
  return 0;
}
int lens_elements(short* narrow, long* wide, char* text) {
  return 0;
}
int lens_of_text(char* a, char* b, char* c, char** d, short* e) {
  return 0;
}
int lens_newer(const char* format, ...) {
  return 0;
}
#else
float lens_set(void* pair, float number, long word, void* rows);
struct pair {
  int one;
  int other;
} lens_pairs(struct pair a, struct pair* b, struct pair c, struct pair d);
int main() {
  unsigned word = 255;
  int numbers[6] = {10, 20, 30, 40, 50, 60};
  unsigned wide[] = {0x414, 0x427, 't', 'o', 0};
  unsigned format[] = {'%', 'd', 0x416, '%', 's', 0};
  unsigned short narrow[] = {'a', 'b', 0};
  struct {
    const char* text;
    unsigned long size;
  } piece = {"abcdef", 3};
  lens_hex(&word);
  lens_hex(0);
  lens_octal(&word);
  lens_truth(numbers);
  lens_binary(5, numbers);
  lens_binary(0, numbers);
  lens_all_hex(numbers);
  lens_wide(wide, wide, 3, narrow);
  lens_character(0x416);
  lens_character('a');
  lens_format(format, 3, "x");
  lens_empty(numbers, 0);
  lens_many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26);
  lens_address(0);
  lens_later(&piece);
  lens_rows(numbers);
  lens_imported(1);
  long ending[] = {7, 0, 8};
  int crowd[50] = {1, 2, 3, 4, 5};
  struct ring {
    int number;
    struct ring *next, *previous;
  } ring[4] = {{9, ring + 1, 0}, {8, ring + 2, ring}, {7, ring + 3, ring + 1}, {6, 0, ring + 2}};
  lens_up_to(ending, numbers, 2);
  lens_crowd(crowd);
  lens_nameless(-1, -1);
  lens_nameless('b', 3);
  lens_ring(ring);
  int pair[2] = {0x40102, -0x80000000};
  lens_set(pair, 2.5F, -1, &(char[4]){1, 2, 4, 0});
  lens_hidden();
  struct pair other = {5, -2};
  lens_pairs(other, &other, other, other);
  struct ring single = {9, 0, &single};
  lens_names(1, 0, 7, -1, &single);
  short few[] = {'a', 0x416, 'c', 'd'};
  long many[] = {'a', 0x416, 'c', 0};
  lens_elements(few, many, "text");
  char* texts[] = {"fg"};
  short letters[] = {'h', 0};
  lens_of_text("ab", "cde", "e", texts, letters);
  lens_newer("%b %w16d %w64d %d", 5, -2, 1L << 40, 7);
  return 0;
}
#endif
