/* A plugin in C, built against the present header: with process_batch. */
#include "handlers.h"

#include <stdlib.h>

#define FIRST_KEY 2030

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

static int32_t process_batch(void *instance, const NanokataPacketView *packets, uint64_t count, NanokataResult *results) {
    ((Instance *)instance)->processed += count;
    for (uint64_t at = 0; at < count; ++at) {
        results[at].status = run_handler(FIRST_KEY, &packets[at], &results[at]);
    }
    return NANOKATA_OK;
}

const NanokataPluginApi *nanokata_plugin(void) {
    static const NanokataPluginApi api = {
        sizeof(NanokataPluginApi), NANOKATA_PLUGIN_ABI_VERSION, claimed_keys, create, destroy, process, process_batch,
    };
    return &api;
}
