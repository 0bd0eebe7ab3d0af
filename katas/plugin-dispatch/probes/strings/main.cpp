// The same at link time.
#include <string>

std::size_t consume(const std::string &text);

int main() { return static_cast<int>(consume(std::string("abc"))); }
