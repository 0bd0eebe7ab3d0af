// Casts what the plugin made to the class of the same name.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "shape.hpp"

int main(int count, char **arguments) {
    if (count != 3) return 2;
    const int scope = std::strcmp(arguments[1], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
    void *library = dlopen(arguments[2], RTLD_NOW | scope);
    if (!library) return std::fprintf(stderr, "%s\n", dlerror()), 1;
    auto make = reinterpret_cast<Base *(*)()>(dlsym(library, "make"));
    auto type_at = reinterpret_cast<const void *(*)()>(dlsym(library, "type_at"));
    const Base *made = make();
    std::printf("cast=%s\n", dynamic_cast<const Derived *>(made) ? "ok" : "null");
    std::printf("typeid_equal=%s\n", typeid(*made) == typeid(Derived) ? "true" : "false");
    // What an implementation that compares by address alone would say.
    std::printf("address_equal=%s\n", type_at() == static_cast<const void *>(&typeid(Derived)) ? "true" : "false");
    std::printf("host_type_info=%p\nplugin_type_info=%p\n", static_cast<const void *>(&typeid(Derived)), type_at());
#ifdef __GXX_MERGED_TYPEINFO_NAMES
    std::printf("merged_typeinfo_names=%d\n", __GXX_MERGED_TYPEINFO_NAMES);
#endif
}
