/* Arms of your own, version 1: a whole way of dispatching, in any language, that joins a race beside the built-in ones.
 *
 * Two forms, each by a symbol of its own; a library may export either or both.
 *   nanokata_arm      a whole arm: finds the handler, calls it, and folds every result into a checksum.
 *   nanokata_select   selection alone: says which handler runs for each packet of a window. Races among its like only.
 *
 * Both are told the handlers and get the packets from the host; both must do what the plain loop does: of the handlers in
 * the order given, the first whose key is the packet's protocol and whose residual holds. What computes something else is
 * refused, however fast it is. The rules of nanokata_plugin.h hold here too. */
#ifndef NANOKATA_ARM_H
#define NANOKATA_ARM_H

#include <stdint.h>

#define NANOKATA_ARM_ABI_VERSION 1u

#if defined(__cplusplus)
#define NANOKATA_ARM_C extern "C"
#else
#define NANOKATA_ARM_C extern
#endif

/* The symbols to export; build everything else with -fvisibility=hidden. */
#define NANOKATA_ARM_EXPORT NANOKATA_ARM_C __attribute__((visibility("default")))

/* What select writes where nobody runs, and what a whole arm folds there, with a value of 0. */
#define NANOKATA_NO_HANDLER 0xFFFFu

/* One packet: 32 bytes. */
typedef struct NanokataPacket {
    uint16_t protocol;   /* offset 0: the key */
    uint16_t length;     /* offset 2: bytes of the original packet */
    uint32_t flow;       /* offset 4: the conversation that it belongs to */
    uint8_t payload[24]; /* offset 8: its first bytes */
} NanokataPacket;

/* What a handler's work comes to: 16 bytes, returned in two registers. */
typedef struct NanokataOutcome {
    uint64_t value;   /* offset 0: what was computed */
    uint16_t handler; /* offset 8: the number of the handler that computed it */
} NanokataOutcome;

/* What a packet with the right key must satisfy besides. */
#define NANOKATA_RESIDUAL_NONE 0u  /* nothing */
#define NANOKATA_RESIDUAL_MASK 1u  /* (payload[offset] & first) == second */
#define NANOKATA_RESIDUAL_RANGE 2u /* first <= payload[offset] && payload[offset] <= second */
#define NANOKATA_RESIDUAL_FLOW 3u  /* bit (flow & 63) of active is set */

/* One handler: 32 bytes. */
typedef struct NanokataHandler {
    uint16_t key;     /* offset 0: the protocol that it wants */
    uint16_t number;  /* offset 2: what its results are signed with, whatever its place in the order */
    uint8_t residual; /* offset 4: one of NANOKATA_RESIDUAL_… */
    uint8_t offset;   /* offset 5: below 24 */
    uint8_t first;    /* offset 6 */
    uint8_t second;   /* offset 7 */
    uint64_t active;  /* offset 8: for NANOKATA_RESIDUAL_FLOW */
    const void *object; /* offset 16: to be handed to `process` */
    /* offset 24: its work, the very code that the built-in arms call */
    NanokataOutcome (*process)(const void *object, const NanokataPacket *packet);
} NanokataHandler;

/* What the handlers' bodies are, for arms that bring bodies of their own: those of nanokata_body.h under their numbers. */
#define NANOKATA_BODY_FAT 0u
#define NANOKATA_BODY_TINY 1u
#define NANOKATA_BODY_IDENTICAL 2u /* every handler computes what fat handler 0 does */

/* What an arm is made for. Everything that is pointed to lives until the arm is destroyed, and is never written. */
typedef struct NanokataArmInput {
    uint32_t struct_size;             /* offset 0: sizeof(NanokataArmInput) in the host */
    uint32_t body;                    /* offset 4: one of NANOKATA_BODY_… */
    const NanokataPacket *packets;    /* offset 8: the pool, aligned to a cache line; null for nanokata_select */
    uint64_t packet_count;            /* offset 16 */
    const NanokataHandler *handlers;  /* offset 24: in registration order */
    uint64_t handler_count;           /* offset 32: 1 to 1024 */
    uint64_t placement_seed;          /* offset 40: another in each block; lay out your tables by it, if you can */
} NanokataArmInput;

/* A whole arm: 32 bytes. */
typedef struct NanokataArmApi {
    uint32_t struct_size; /* offset 0: sizeof(NanokataArmApi) */
    uint32_t abi_version; /* offset 4: NANOKATA_ARM_ABI_VERSION */
    /* offset 8: builds the arm, or returns null if it can't be built for this input. Not timed. */
    void *(*create)(const NanokataArmInput *input);
    /* offset 16: frees it. */
    void (*destroy)(void *arm);
    /* offset 24: dispatches packets first … first + count - 1 and returns the fold of their outcomes, begun from
     * NANOKATA_CHECKSUM_EMPTY. This is what is timed. */
    uint64_t (*run)(void *arm, uint64_t first, uint64_t count);
} NanokataArmApi;

NANOKATA_ARM_EXPORT const NanokataArmApi *nanokata_arm(void);

/* Selection alone: 32 bytes. */
typedef struct NanokataSelectApi {
    uint32_t struct_size; /* offset 0: sizeof(NanokataSelectApi) */
    uint32_t abi_version; /* offset 4: NANOKATA_ARM_ABI_VERSION */
    /* offset 8: as of a whole arm; there are no packets yet. */
    void *(*create)(const NanokataArmInput *input);
    /* offset 16: frees it. */
    void (*destroy)(void *selection);
    /* offset 24: for each of `count` packets, writes the place in `handlers` of the one that runs, from 0, or
     * NANOKATA_NO_HANDLER. This is what is timed. */
    void (*select)(void *selection, const NanokataPacket *packets, uint64_t count, uint16_t *places);
} NanokataSelectApi;

NANOKATA_ARM_EXPORT const NanokataSelectApi *nanokata_select(void);

/* The fold of no outcome: FNV-1a's 64-bit offset basis (Fowler, Noll and Vo). */
#define NANOKATA_CHECKSUM_EMPTY UINT64_C(0xcbf29ce484222325)

/* Folds one more outcome: its value, and at the top the number of who computed it. */
static inline uint64_t nanokata_fold(uint64_t checksum, uint64_t value, uint16_t handler) {
    const uint64_t mixed = (checksum ^ value ^ (uint64_t)handler << 48) * UINT64_C(0x00000100000001b3);
    return mixed << 23 | mixed >> 41;
}

#endif
