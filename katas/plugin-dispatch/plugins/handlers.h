/* The four handlers that each of the example plugins in C and C++ consists of. */
#ifndef NANOKATA_EXAMPLE_HANDLERS_H
#define NANOKATA_EXAMPLE_HANDLERS_H

#include "../include/nanokata_body.h"
#include "../include/nanokata_plugin.h"

#define HANDLERS 4u
/* A payload is read to here. */
#define PAYLOAD_BYTES 24u

/* The keys from `first` on, of which the last is tested further. */
static uint32_t claim_handlers(uint16_t first, NanokataClaim *claims, uint32_t capacity) {
    for (uint32_t at = 0; at < HANDLERS && at < capacity; ++at) {
        claims[at].key = (uint16_t)(first + at);
        claims[at].flags = at == HANDLERS - 1 ? NANOKATA_CLAIM_RESIDUAL : 0;
    }
    return HANDLERS;
}

/* Handler `key - first`: what the host's own tiny handler of that number computes. */
static int32_t run_handler(uint16_t first, const NanokataPacketView *packet, NanokataResult *result) {
    const uint16_t claim = (uint16_t)(packet->protocol - first);
    uint64_t value;
    if (packet->payload_length < PAYLOAD_BYTES) {
        return NANOKATA_ERROR;
    }
    switch (claim) {
    case 0:
        value = nanokata_tiny(0, packet->payload);
        break;
    case 1:
        value = nanokata_tiny(1, packet->payload);
        break;
    case 2:
        value = nanokata_tiny(2, packet->payload);
        break;
    case 3:
        if ((packet->payload[0] & 3) != 3) {
            return NANOKATA_NOT_MINE;
        }
        value = nanokata_tiny(3, packet->payload);
        break;
    default:
        return NANOKATA_NOT_MINE;
    }
    result->value = value;
    result->claim = claim;
    result->reserved = 0;
    return NANOKATA_OK;
}

#endif
