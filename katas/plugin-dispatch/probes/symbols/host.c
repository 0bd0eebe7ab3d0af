/* Opens two libraries, the first one locally or globally, and asks each which helper it calls. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **arguments) {
    if (count != 4) return 2;
    const int scope = strcmp(arguments[1], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
    for (int at = 2; at < 4; ++at) {
        void *library = dlopen(arguments[at], RTLD_NOW | scope);
        if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
        int (*ask)(void) = (int (*)(void))dlsym(library, "ask");
        printf("library_%d=%d\n", at - 1, ask());
    }
    return 0;
}
