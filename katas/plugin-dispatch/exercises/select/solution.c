/* Selection alone, by chains: from each key to the first handler that wants it, from each handler to the next. */
#include <stdlib.h>

#include "nanokata_arm.h"

#define KEYS 65536u

typedef struct Selection {
    NanokataArmInput input;
    uint16_t *next;       /* by place: the next handler with the same key, or NANOKATA_NO_HANDLER */
    uint16_t first[KEYS]; /* by key: the first handler that wants it, or NANOKATA_NO_HANDLER */
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

static void destroy(void *selection) {
    Selection *this = selection;
    free(this->next);
    free(this);
}

static void *create(const NanokataArmInput *input) {
    Selection *this = malloc(sizeof *this);
    if (this == NULL) {
        return NULL;
    }
    this->input = *input;
    this->next = malloc(input->handler_count * sizeof *this->next);
    if (this->next == NULL) {
        destroy(this);
        return NULL;
    }
    for (uint64_t key = 0; key < KEYS; ++key) {
        this->first[key] = NANOKATA_NO_HANDLER;
    }
    /* From the last to the first, each put in front: so that chains stand in registration order. */
    for (uint64_t place = input->handler_count; place-- > 0;) {
        uint16_t *first = &this->first[input->handlers[place].key];
        this->next[place] = *first;
        *first = (uint16_t)place;
    }
    return this;
}

static void choose(void *selection, const NanokataPacket *packets, uint64_t count, uint16_t *places) {
    const Selection *this = selection;
    for (uint64_t at = 0; at < count; ++at) {
        uint16_t place = this->first[packets[at].protocol];
        while (place != NANOKATA_NO_HANDLER && !holds(&this->input.handlers[place], &packets[at])) {
            place = this->next[place];
        }
        places[at] = place;
    }
}

NANOKATA_ARM_EXPORT const NanokataSelectApi *nanokata_select(void) {
    static const NanokataSelectApi api = {sizeof(NanokataSelectApi), NANOKATA_ARM_ABI_VERSION, create, destroy, choose};
    return &api;
}
