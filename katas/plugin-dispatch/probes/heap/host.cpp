// Lends a plugin some memory, hears that all is well, and goes on with its own affairs.
#include <dlfcn.h>
#include <malloc.h>

#include <cstdio>
#include <cstdlib>

int main(int count, char **arguments) {
    if (count != 2) return 2;
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) return std::fprintf(stderr, "%s\n", dlerror()), 1;
    auto process = reinterpret_cast<int (*)(char *, std::size_t)>(dlsym(library, "process"));
    // Large enough to be cut one after the other from what is free.
    char *lent = static_cast<char *>(std::malloc(5000)), *own = static_cast<char *>(std::malloc(5000));
    // glibc keeps a chunk's size in the word before it.
    const volatile std::size_t *note = reinterpret_cast<const std::size_t *>(own) - 1;
    std::printf("note_before=%#zx\n", *note);
    std::printf("status=%d\n", process(lent, malloc_usable_size(lent)));
    std::printf("note_after=%#zx\n", *note);
    std::fflush(stdout);
    std::free(own);
    std::free(lent);
    std::printf("host_went_on=true\n");
}
