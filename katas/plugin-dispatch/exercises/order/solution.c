/* The loop over an array of keys in registration order: two bytes a handler instead of thirty-two. */
#include <stdlib.h>

#include "nanokata_arm.h"

typedef struct Order {
    NanokataArmInput input;
    uint16_t *keys;
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
    for (uint64_t place = 0; place < this->input.handler_count; ++place) {
        /* A handler is touched only once its key fits: what the loop walks over is keys alone. */
        if (this->keys[place] == packet->protocol && holds(&this->input.handlers[place], packet)) {
            return &this->input.handlers[place];
        }
    }
    return NULL;
}

static void destroy(void *arm) {
    Order *this = arm;
    free(this->keys);
    free(this);
}

static void *create(const NanokataArmInput *input) {
    Order *this = malloc(sizeof *this);
    if (this == NULL) {
        return NULL;
    }
    this->input = *input;
    this->keys = malloc(input->handler_count * sizeof *this->keys);
    if (this->keys == NULL) {
        destroy(this);
        return NULL;
    }
    for (uint64_t place = 0; place < input->handler_count; ++place) {
        this->keys[place] = input->handlers[place].key;
    }
    return this;
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
