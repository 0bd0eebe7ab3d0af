/* The brief's own loop as an arm, over whole handlers. It computes something else than the loop: see README.md. */
#include <stdlib.h>

#include "nanokata_arm.h"

typedef struct Order {
    NanokataArmInput input;
} Order;

/* Whether a packet with the right key satisfies what else its handler asks for. */
static int holds(const NanokataHandler *handler, const NanokataPacket *packet) {
    switch (handler->residual) {
    case NANOKATA_RESIDUAL_NONE:
        return 1;
    case NANOKATA_RESIDUAL_MASK:
        return (packet->payload[handler->offset] & handler->first) == handler->second;
    case NANOKATA_RESIDUAL_RANGE:
        return handler->first <= packet->payload[handler->offset] &&
               packet->payload[handler->offset] <= handler->second;
    default:
        return handler->active >> (packet->flow & 63) & 1;
    }
}

/* The handler that runs, or null. */
static const NanokataHandler *find(const Order *this, const NanokataPacket *packet) {
    for (uint64_t place = this->input.handler_count; place-- > 0;) {
        const NanokataHandler *handler = &this->input.handlers[place];
        if (handler->key == packet->protocol && holds(handler, packet)) {
            return handler;
        }
    }
    return NULL;
}

static void *create(const NanokataArmInput *input) {
    Order *this = malloc(sizeof *this);
    if (this != NULL) {
        this->input = *input;
    }
    return this;
}

static void destroy(void *arm) {
    free(arm);
}

static uint64_t run(void *arm, uint64_t first, uint64_t count) {
    const Order *this = arm;
    uint64_t checksum = NANOKATA_CHECKSUM_EMPTY;
    for (uint64_t at = first; at < first + count; ++at) {
        const NanokataPacket *packet = &this->input.packets[at];
        const NanokataHandler *handler = find(this, packet);
        if (handler == NULL) {
            checksum = nanokata_fold(checksum, 0, NANOKATA_NO_HANDLER);
            continue;
        }
        const NanokataOutcome outcome = handler->process(handler->object, packet);
        checksum = nanokata_fold(checksum, outcome.value, outcome.handler);
    }
    return checksum;
}

NANOKATA_ARM_EXPORT const NanokataArmApi *nanokata_arm(void) {
    static const NanokataArmApi api = {sizeof(NanokataArmApi), NANOKATA_ARM_ABI_VERSION, create, destroy, run};
    return &api;
}
