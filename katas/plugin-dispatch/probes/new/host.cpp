// Compares the two sides' operator new; with -DREPLACED it has one of its own, which counts.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <new>

#ifdef REPLACED
static int counted = 0;
void *operator new(std::size_t bytes) {
    ++counted;
    if (void *room = std::malloc(bytes)) return room;
    throw std::bad_alloc();
}
void operator delete(void *room) noexcept { std::free(room); }
void operator delete(void *room, std::size_t) noexcept { std::free(room); }
#endif

int main(int count, char **arguments) {
    if (count != 2) return 2;
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) return std::fprintf(stderr, "%s\n", dlerror()), 1;
    auto new_at = reinterpret_cast<const void *(*)()>(dlsym(library, "new_at"));
    auto make = reinterpret_cast<void *(*)()>(dlsym(library, "make"));
    const void *own = reinterpret_cast<const void *>(static_cast<void *(*)(std::size_t)>(&::operator new));
    std::printf("host_new=%p\nplugin_new=%p\nsame=%s\n", own, new_at(), own == new_at() ? "true" : "false");
#ifdef REPLACED
    const int before = counted;
    make();
    std::printf("plugin_used_the_hosts=%s\n", counted > before ? "true" : "false");
#else
    make();
#endif
}
