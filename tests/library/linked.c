// Structures that lead to others and to themselves, as debugging information describes them.
struct node {
  struct node* next;
  int value;
};

struct owner {
  struct owned* first;
  const char* name;
  int* count;
};

struct owned {
  struct owner* of;
  long size;
};

__attribute__((noinline)) int show_node(struct node* node) {
  return node->value;
}

__attribute__((noinline)) int show_value(struct node node) {
  return node.value;
}

__attribute__((noinline)) int show_owner(struct owner* owner) {
  return owner->name[0];
}

__attribute__((noinline)) int change(struct node* node, int* number) {
  node->value = 77;
  *number = 78;
  return 1;
}

__attribute__((noinline)) struct node* find(struct node* node) {
  return node;
}

__attribute__((noinline)) int show_handler(void (*handler)(int)) {
  return handler == 0;
}

int main(void) {
  struct node last = {0, 5};
  struct node first = {&last, 6};
  show_node(&last);
  show_node(&first);
  show_value(first);
  find(&first);
  last.next = &first;
  show_node(&first);
  first.next = &first;
  show_node(&first);
  int count = 3;
  struct owner owner = {0, "it", &count};
  struct owned owned = {&owner, 4};
  owner.first = &owned;
  show_owner(&owner);
  last.next = 0;
  change(&last, &count);
  show_handler(0);
  return 0;
}
