// The same without a link step: opens the library for all to see, then the plugin, now or lazily bound, and calls it.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

int main(int count, char **arguments) {
    if (count != 4) return 2;
    if (!dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL)) return std::fprintf(stderr, "%s\n", dlerror()), 1;
    const int binding = std::strcmp(arguments[3], "lazy") == 0 ? RTLD_LAZY : RTLD_NOW;
    void *plugin = dlopen(arguments[2], binding | RTLD_LOCAL);
    if (!plugin) return std::printf("opened=no\nsaid=%s\n", dlerror()), 0;
    std::printf("opened=yes\n");
    std::fflush(stdout);
    auto use = reinterpret_cast<int (*)()>(dlsym(plugin, "use"));
    std::printf("returned=%d\n", use());
}
