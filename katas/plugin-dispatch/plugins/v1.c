/* A plugin in C, built against the first edition of the header: no process_batch, and a struct that ends before it. */
#define NANOKATA_PLUGIN_LEVEL 1
#include "handlers.h"

#include <stdlib.h>

#define FIRST_KEY 2020

typedef struct Instance {
    uint64_t processed;
} Instance;

static uint32_t claimed_keys(NanokataClaim *claims, uint32_t capacity) {
    return claim_handlers(FIRST_KEY, claims, capacity);
}

static void *create(void) {
    return calloc(1, sizeof(Instance));
}

static void destroy(void *instance) {
    free(instance);
}

static int32_t process(void *instance, const NanokataPacketView *packet, NanokataResult *result) {
    ((Instance *)instance)->processed += 1;
    return run_handler(FIRST_KEY, packet, result);
}

const NanokataPluginApi *nanokata_plugin(void) {
    static const NanokataPluginApi api = {
        sizeof(NanokataPluginApi), NANOKATA_PLUGIN_ABI_VERSION, claimed_keys, create, destroy, process,
    };
    return &api;
}
