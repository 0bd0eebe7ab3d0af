// Calls that function with a std::string as *its* flags lay one out.
#include <string>

std::size_t consume(const std::string &text);

extern "C" __attribute__((visibility("default"))) int use() { return static_cast<int>(consume(std::string("abc"))); }
