/* A first plugin: two claims, one of them residual. */
#include <stdlib.h>

#include "nanokata_plugin.h"

/* All of its packets. */
#define KEY 3000
/* Those of its packets whose first payload byte is odd. */
#define RESIDUAL_KEY 3001

typedef struct Tally {
    uint64_t processed;
} Tally;

/* The sum of a payload's bytes. */
static uint64_t sum(const NanokataPacketView *packet) {
    uint64_t total = 0;
    for (uint32_t at = 0; at < packet->payload_length; ++at) {
        total += packet->payload[at];
    }
    return total;
}

static uint32_t claimed_keys(NanokataClaim *claims, uint32_t capacity) {
    const NanokataClaim mine[] = {{KEY, 0}, {RESIDUAL_KEY, NANOKATA_CLAIM_RESIDUAL}};
    for (uint32_t at = 0; at < 2 && at < capacity; ++at) {
        claims[at] = mine[at];
    }
    return 2;
}

static void *create(void) {
    return calloc(1, sizeof(Tally));
}

static void destroy(void *instance) {
    free(instance);
}

static int32_t process(void *instance, const NanokataPacketView *packet, NanokataResult *result) {
    ((Tally *)instance)->processed += 1;
    if (packet->protocol == RESIDUAL_KEY && (packet->payload_length == 0 || packet->payload[0] % 2 == 0)) {
        return NANOKATA_NOT_MINE;
    }
    result->value = sum(packet);
    result->claim = packet->protocol == RESIDUAL_KEY;
    result->reserved = 0;
    return NANOKATA_OK;
}

static int32_t process_batch(void *instance, const NanokataPacketView *packets, uint64_t count,
                             NanokataResult *results) {
    for (uint64_t at = 0; at < count; ++at) {
        results[at].status = process(instance, &packets[at], &results[at]);
    }
    return NANOKATA_OK;
}

const NanokataPluginApi *nanokata_plugin(void) {
    static const NanokataPluginApi api = {
        sizeof(NanokataPluginApi), NANOKATA_PLUGIN_ABI_VERSION, claimed_keys, create, destroy, process, process_batch,
    };
    return &api;
}
