/* A plugin that keeps its word, of which each hostile one changes one thing. */
#include "nanokata_plugin.h"

#include <stdlib.h>
#include <string.h>

#define KEYS 3u
#define FIRST_KEY 100u

typedef struct Instance {
    uint64_t processed;
} Instance;

static inline uint32_t honest_keys(NanokataClaim *claims, uint32_t capacity) {
    for (uint32_t at = 0; at < KEYS && at < capacity; ++at) {
        claims[at].key = (uint16_t)(FIRST_KEY + at);
        claims[at].flags = at == KEYS - 1 ? NANOKATA_CLAIM_RESIDUAL : 0;
    }
    return KEYS;
}

static inline void *honest_create(void) {
    return calloc(1, sizeof(Instance));
}

static inline void honest_destroy(void *instance) {
    free(instance);
}

static inline int32_t honest_process(void *instance, const NanokataPacketView *packet, NanokataResult *result) {
    const uint16_t claim = (uint16_t)(packet->protocol - FIRST_KEY);
    uint64_t value = packet->flow;
    if (claim >= KEYS || (claim == KEYS - 1 && (packet->payload[0] & 1))) {
        return NANOKATA_NOT_MINE;
    }
    ((Instance *)instance)->processed += 1;
    for (uint32_t at = 0; at < packet->payload_length; ++at) {
        value = value * 31 + packet->payload[at];
    }
    result->value = value;
    result->claim = claim;
    result->reserved = 0;
    return NANOKATA_OK;
}

static inline int32_t honest_batch(void *instance, const NanokataPacketView *packets, uint64_t count,
                                   NanokataResult *results) {
    for (uint64_t at = 0; at < count; ++at) {
        results[at].status = honest_process(instance, &packets[at], &results[at]);
    }
    return NANOKATA_OK;
}

#define PLUGIN_OF(size, version, keys, create, destroy, process, batch)                                                \
    const NanokataPluginApi *nanokata_plugin(void) {                                                                   \
        static const NanokataPluginApi api = {size, version, keys, create, destroy, process, batch};                   \
        return &api;                                                                                                   \
    }
#define PLUGIN(keys, create, destroy, process, batch)                                                                  \
    PLUGIN_OF(sizeof(NanokataPluginApi), NANOKATA_PLUGIN_ABI_VERSION, keys, create, destroy, process, batch)
