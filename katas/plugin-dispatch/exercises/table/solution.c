/* A table from key to the handlers that want it, in registration order: mostly one, asked at once. */
#include <stdlib.h>

#include "nanokata_arm.h"

#define PAGE 256u

/* Where a key's handlers begin in the list, and how many there are. */
typedef struct Slot {
    uint16_t first;
    uint16_t count;
} Slot;

/* Pages of 256 keys; those without handlers share page 0, so that the table is as large as its keys are spread. */
typedef struct Table {
    NanokataArmInput input;
    uint16_t page_of[PAGE];
    Slot (*pages)[PAGE];
    const NanokataHandler **list;
} Table;

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

static Slot *slot_of(const Table *this, uint16_t key) {
    return &this->pages[this->page_of[key / PAGE]][key % PAGE];
}

/* The handler that runs, or null. */
static const NanokataHandler *find(const Table *this, const NanokataPacket *packet) {
    const Slot slot = *slot_of(this, packet->protocol);
    for (uint64_t at = slot.first; at < (uint64_t)slot.first + slot.count; ++at) {
        if (holds(this->list[at], packet)) {
            return this->list[at];
        }
    }
    return NULL;
}

static void destroy(void *arm) {
    Table *this = arm;
    free(this->pages);
    free(this->list);
    free(this);
}

/* Gives every key's page a number from 1 on; returns how many pages there are, page 0 included. */
static uint64_t number_pages(Table *this) {
    uint16_t pages = 1;
    for (uint64_t place = 0; place < this->input.handler_count; ++place) {
        uint16_t *page = &this->page_of[this->input.handlers[place].key / PAGE];
        if (*page == 0) {
            *page = pages++;
        }
    }
    return pages;
}

/* Fills the list key by key; within a key the order of registration decides. */
static void fill(Table *this) {
    const NanokataArmInput *input = &this->input;
    uint16_t filled = 0;
    for (uint64_t place = 0; place < input->handler_count; ++place) {
        Slot *slot = slot_of(this, input->handlers[place].key);
        if (slot->count != 0) {
            continue;
        }
        slot->first = filled;
        for (uint64_t other = place; other < input->handler_count; ++other) {
            if (input->handlers[other].key == input->handlers[place].key) {
                this->list[filled++] = &input->handlers[other];
            }
        }
        slot->count = (uint16_t)(filled - slot->first);
    }
}

static void *create(const NanokataArmInput *input) {
    Table *this = calloc(1, sizeof *this);
    if (this == NULL) {
        return NULL;
    }
    this->input = *input;
    this->pages = calloc(number_pages(this), sizeof *this->pages);
    this->list = malloc(input->handler_count * sizeof *this->list);
    if (this->pages == NULL || this->list == NULL) {
        destroy(this);
        return NULL;
    }
    fill(this);
    return this;
}

static uint64_t run(void *arm, uint64_t first, uint64_t count) {
    const Table *this = arm;
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
