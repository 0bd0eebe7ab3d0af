// Defines a function of a std::string, as the library's compiler flags lay one out.
#include <string>

__attribute__((visibility("default"))) std::size_t consume(const std::string &text) { return text.size(); }
