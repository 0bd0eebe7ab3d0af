/* Selection alone: who runs each packet. It doesn't say what the loop says: see README.md. */
#include <stdlib.h>

#include "nanokata_arm.h"

typedef struct Selection {
    NanokataArmInput input;
} Selection;

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

static void *create(const NanokataArmInput *input) {
    Selection *this = malloc(sizeof *this);
    if (this != NULL) {
        this->input = *input;
    }
    return this;
}

static void destroy(void *selection) {
    free(selection);
}

static void choose(void *selection, const NanokataPacket *packets, uint64_t count, uint16_t *places) {
    const Selection *this = selection;
    for (uint64_t at = 0; at < count; ++at) {
        for (uint64_t place = 0; place < this->input.handler_count; ++place) {
            const NanokataHandler *handler = &this->input.handlers[place];
            if (handler->key == packets[at].protocol && holds(handler, &packets[at])) {
                places[at] = (uint16_t)place;
            }
        }
    }
}

NANOKATA_ARM_EXPORT const NanokataSelectApi *nanokata_select(void) {
    static const NanokataSelectApi api = {sizeof(NanokataSelectApi), NANOKATA_ARM_ABI_VERSION, create, destroy, choose};
    return &api;
}
