// Calls of functions of the C++ library.
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

int main(int argc, char**) {
  std::string text = "one";
  text.append(" and two");
  std::map<int, std::string> all;
  all[argc] = text;
  std::cout << "value " << 42 << ' ' << 2.5 << std::endl;
  try {
    throw std::runtime_error("thrown");
  } catch (const std::exception&) {
    return static_cast<int>(text.find("two", 1));
  }
}
