/* What a plugin does before, behind and beside its work. */
#define _GNU_SOURCE
#include "honest.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#if defined(CONSTRUCTOR_CRASHES)
__attribute__((constructor)) static void begin(void) {
    abort();
}
#elif defined(CONSTRUCTOR_HANGS)
__attribute__((constructor)) static void begin(void) {
    for (;;) {
        pause();
    }
}
#elif defined(CONSTRUCTOR_EXITS)
__attribute__((constructor)) static void begin(void) {
    _exit(0);
}
#elif defined(DESTRUCTOR_CRASHES)
__attribute__((destructor)) static void end(void) {
    abort();
}
#elif defined(DESTRUCTOR_HANGS)
__attribute__((destructor)) static void end(void) {
    for (;;) {
        pause();
    }
}
#endif

#if defined(SPAWNS_THREADS)
static void *rest(void *nothing) {
    for (;;) {
        pause();
    }
    return nothing;
}
#elif defined(SEGV_HANDLER)
static void swallow(int number) {
    (void)number;
}
#endif

static void *create(void) {
#if defined(CREATE_NULL)
    return NULL;
#elif defined(ONE_INSTANCE)
    static int made;
    return made++ ? NULL : honest_create();
#elif defined(SPAWNS_THREADS)
    pthread_t thread;
    if (pthread_create(&thread, NULL, rest, NULL) != 0) {
        return NULL;
    }
#elif defined(PRINTS)
    for (int line = 0; line < 100000; ++line) {
        puts("a plugin has nothing to say here");
    }
#elif defined(CLOSES_STDIN)
    close(0);
#elif defined(CLOSES_ALL)
    for (int descriptor = 3; descriptor < 256; ++descriptor) {
        close(descriptor);
    }
#elif defined(WRITES_TO_ALL)
    for (int descriptor = 3; descriptor < 64; ++descriptor) {
        if (write(descriptor, "hello\n", 6) < 0) {
            continue;
        }
    }
#elif defined(SEGV_HANDLER)
    signal(SIGSEGV, swallow);
#elif defined(FORKS)
    if (fork() == 0) {
        for (;;) {
            pause();
        }
    }
#elif defined(EATS_MEMORY)
    return malloc((size_t)16 << 30);
#endif
    return honest_create();
}

static void destroy(void *instance) {
    honest_destroy(instance);
#if defined(DESTROY_CRASHES)
    raise(SIGSEGV);
#elif defined(DESTROY_FREES_TWICE)
    honest_destroy(instance);
#endif
}

PLUGIN(honest_keys, create, destroy, honest_process, honest_batch)
