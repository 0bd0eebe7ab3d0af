/* A table from key to handler, built before the first packet. It computes something else than the loop:
 * see README.md. */
#include <stdlib.h>

#include "nanokata_arm.h"

#define PAGE 256u

/* Pages of 256 keys; those without handlers share page 0, so that the table is as large as its keys are spread. */
typedef struct Table {
    NanokataArmInput input;
    uint16_t page_of[PAGE];
    uint16_t (*pages)[PAGE]; /* the place of the handler for each key, or NANOKATA_NO_HANDLER */
} Table;

/* The handler that runs, or null. */
static const NanokataHandler *find(const Table *this, const NanokataPacket *packet) {
    const uint16_t place = this->pages[this->page_of[packet->protocol / PAGE]][packet->protocol % PAGE];
    return place == NANOKATA_NO_HANDLER ? NULL : &this->input.handlers[place];
}

static void destroy(void *arm) {
    Table *this = arm;
    free(this->pages);
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

static void *create(const NanokataArmInput *input) {
    Table *this = calloc(1, sizeof *this);
    if (this == NULL) {
        return NULL;
    }
    this->input = *input;
    const uint64_t pages = number_pages(this);
    this->pages = malloc(pages * sizeof *this->pages);
    if (this->pages == NULL) {
        destroy(this);
        return NULL;
    }
    for (uint64_t slot = 0; slot < pages * PAGE; ++slot) {
        this->pages[slot / PAGE][slot % PAGE] = NANOKATA_NO_HANDLER;
    }
    for (uint64_t place = 0; place < input->handler_count; ++place) {
        const uint16_t key = input->handlers[place].key;
        this->pages[this->page_of[key / PAGE]][key % PAGE] = (uint16_t)place;
    }
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
