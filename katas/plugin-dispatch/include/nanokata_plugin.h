/* nanokata's plugin ABI, version 1: what a host and a packet handler that is loaded later agree on, in bytes.
 *
 * A plugin is a shared library that exports exactly one symbol, `nanokata_plugin`, a function that returns the address of a
 * NanokataPluginApi that lives as long as the library is loaded.
 *
 * The rules, and what each prevents, are in ABI.md beside this folder. In short: integers of a stated width; a buffer is
 * a pointer and a length; no bool, no size_t, no enum, nothing of any language's library; packets are lent for the call only;
 * results are written by value into room that the host owns; whoever allocates frees; nothing unwinds across.
 *
 * To build against the first edition of this header, define NANOKATA_PLUGIN_LEVEL as 1 before including it: the struct then
 * ends after `process`, and its size says so. */
#ifndef NANOKATA_PLUGIN_H
#define NANOKATA_PLUGIN_H

#include <stdint.h>

#ifndef NANOKATA_PLUGIN_LEVEL
#define NANOKATA_PLUGIN_LEVEL 2
#endif

/* What the functions mean. Appending a function doesn't change it; changing or removing one does. */
#define NANOKATA_PLUGIN_ABI_VERSION 1u

#if defined(__cplusplus)
#define NANOKATA_PLUGIN_C extern "C"
#else
#define NANOKATA_PLUGIN_C extern
#endif

/* The one symbol to export; build everything else with -fvisibility=hidden. */
#define NANOKATA_PLUGIN_EXPORT NANOKATA_PLUGIN_C __attribute__((visibility("default")))

/* What `process` returns and `status` holds. Any negative number is an error; no other positive one is defined. */
#define NANOKATA_OK 0
#define NANOKATA_NOT_MINE 1
#define NANOKATA_ERROR (-1)

/* Flags of a claim. A residual claim's packets are the plugin's only if `process` doesn't say NANOKATA_NOT_MINE. */
#define NANOKATA_CLAIM_RESIDUAL 1u

/* One packet, lent for the duration of the call: 24 bytes. */
typedef struct NanokataPacketView {
    const uint8_t *payload;  /* offset 0: its first bytes */
    uint32_t payload_length; /* offset 8: how many of them there are */
    uint32_t flow;           /* offset 12: the conversation that it belongs to */
    uint16_t protocol;       /* offset 16: the key */
    uint16_t length;         /* offset 18: bytes of the original packet */
    uint32_t reserved;       /* offset 20: zero */
} NanokataPacketView;

/* What became of one packet: 16 bytes, in the host's memory. */
typedef struct NanokataResult {
    uint64_t value;    /* offset 0: what was computed */
    uint16_t claim;    /* offset 8: which claim it fell under: its place in what claimed_keys wrote, from 0 */
    uint16_t reserved; /* offset 10: zero */
    int32_t status;    /* offset 12: written by process_batch, for each packet; `process` returns it instead */
} NanokataResult;

/* One key that the plugin handles: 4 bytes. */
typedef struct NanokataClaim {
    uint16_t key;
    uint16_t flags;
} NanokataClaim;

/* The functions, by C's calling convention: 40 bytes at level 1, 48 at level 2, with 8-byte pointers. */
typedef struct NanokataPluginApi {
    /* offset 0: sizeof(NanokataPluginApi) in the build that made it. Says how much of the struct there is. */
    uint32_t struct_size;
    /* offset 4: NANOKATA_PLUGIN_ABI_VERSION. Says what a size can't: what the functions mean. */
    uint32_t abi_version;
    /* offset 8: how many keys the plugin handles; writes the first `capacity` of them. Asked twice: with a null pointer and
     * 0, and then with room for what it said. It must say the same number each time. */
    uint32_t (*claimed_keys)(NanokataClaim *claims, uint32_t capacity);
    /* offset 16: a new instance, or null if there is none to be had. Freed by `destroy` alone. */
    void *(*create)(void);
    /* offset 24: ends an instance. */
    void (*destroy)(void *instance);
    /* offset 32: works on one packet whose key it claimed. An instance is never used by two threads at once. */
    int32_t (*process)(void *instance, const NanokataPacketView *packet, NanokataResult *result);
#if NANOKATA_PLUGIN_LEVEL >= 2
    /* offset 40: the same for `count` packets; each result's status is written. Returns NANOKATA_OK, or an error if none of
     * the results means anything. */
    int32_t (*process_batch)(void *instance, const NanokataPacketView *packets, uint64_t count, NanokataResult *results);
#endif
} NanokataPluginApi;

NANOKATA_PLUGIN_EXPORT const NanokataPluginApi *nanokata_plugin(void);

#endif
