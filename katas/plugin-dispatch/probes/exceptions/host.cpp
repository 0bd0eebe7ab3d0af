// Calls the plugin's function of that name, and catches by type and whatever comes.
#include <dlfcn.h>

#include <cstdio>
#include <stdexcept>

int main(int count, char **arguments) {
    if (count != 3) return 2;
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) return std::fprintf(stderr, "%s\n", dlerror()), 1;
    auto call = reinterpret_cast<int (*)()>(dlsym(library, arguments[2]));
    try {
        std::printf("status=%d\n", call());
    } catch (const std::runtime_error &) {
        std::printf("host_caught=by type\n");
    } catch (...) {
        std::printf("host_caught=by ... only\n");
    }
}
