/* The plain loop as a whole arm and as a selection; with -DFAULT=… wrong in one way. */
#include <stdlib.h>

#include "nanokata_arm.h"

#ifndef FAULT
#define FAULT 0
#endif
enum { NONE, FORGETS_RESIDUALS, LAST_MATCH_WINS, UNSIGNED, SKIPS_ONE, NO_ARM, LAZY, SHORT, FUTURE, NO_RUN };

typedef struct Plain {
    NanokataArmInput input;
} Plain;

static int takes(const NanokataHandler *handler, const NanokataPacket *packet) {
    if (handler->key != packet->protocol) return 0;
    if (FAULT == FORGETS_RESIDUALS) return 1;
    switch (handler->residual) {
    case NANOKATA_RESIDUAL_NONE: return 1;
    case NANOKATA_RESIDUAL_MASK: return (packet->payload[handler->offset] & handler->first) == handler->second;
    case NANOKATA_RESIDUAL_RANGE:
        return handler->first <= packet->payload[handler->offset] && packet->payload[handler->offset] <= handler->second;
    default: return handler->active >> (packet->flow & 63) & 1;
    }
}

static uint16_t find(const Plain *plain, const NanokataPacket *packet) {
    uint16_t found = NANOKATA_NO_HANDLER;
    for (uint64_t place = 0; place < plain->input.handler_count; ++place) {
        if (takes(&plain->input.handlers[place], packet)) {
            found = (uint16_t)place;
            if (FAULT != LAST_MATCH_WINS) break;
        }
    }
    return found;
}

static void *create(const NanokataArmInput *input) {
    if (FAULT == NO_ARM || input->struct_size < sizeof *input) return NULL;
    Plain *plain = malloc(sizeof *plain);
    if (plain) plain->input = *input;
    return plain;
}

static void destroy(void *plain) { free(plain); }

static uint64_t run(void *arm, uint64_t first, uint64_t count) {
    const Plain *plain = arm;
    uint64_t checksum = NANOKATA_CHECKSUM_EMPTY;
    for (uint64_t at = first; at < first + count - (FAULT == SKIPS_ONE); ++at) {
        const NanokataPacket *packet = &plain->input.packets[at];
        const uint16_t place = find(plain, packet);
        if (place == NANOKATA_NO_HANDLER) {
            checksum = nanokata_fold(checksum, 0, NANOKATA_NO_HANDLER);
            continue;
        }
        const NanokataHandler *handler = &plain->input.handlers[place];
        const NanokataOutcome outcome = handler->process(handler->object, packet);
        checksum = nanokata_fold(checksum, outcome.value, FAULT == UNSIGNED ? 0 : outcome.handler);
    }
    return checksum;
}

static void choose(void *selection, const NanokataPacket *packets, uint64_t count, uint16_t *places) {
    for (uint64_t at = 0; at < count; ++at) {
        if (FAULT == LAZY && at % 7 == 3) continue;
        places[at] = find(selection, &packets[at]);
    }
}

static const NanokataArmApi ARM = {
    FAULT == SHORT ? 24 : sizeof(NanokataArmApi), FAULT == FUTURE ? 2 : NANOKATA_ARM_ABI_VERSION,
    create, destroy, FAULT == NO_RUN ? NULL : run,
};
static const NanokataSelectApi SELECT = {
    FAULT == SHORT ? 24 : sizeof(NanokataSelectApi), FAULT == FUTURE ? 2 : NANOKATA_ARM_ABI_VERSION,
    create, destroy, FAULT == NO_RUN ? NULL : choose,
};

NANOKATA_ARM_EXPORT const NanokataArmApi *nanokata_arm(void) { return &ARM; }
NANOKATA_ARM_EXPORT const NanokataSelectApi *nanokata_select(void) { return &SELECT; }
