/* What a plugin does with packets, done otherwise than it should be. */
#define _GNU_SOURCE
#include "honest.h"

#include <signal.h>
#include <unistd.h>

__attribute__((unused)) static volatile uint64_t calls;
__attribute__((unused)) static const NanokataPacketView *kept;
__attribute__((unused)) static volatile uint8_t sink;

#if defined(OVERFLOWS_STACK)
__attribute__((noinline)) static uint64_t deeper(volatile uint64_t *from) {
    volatile uint64_t room[512];
    room[0] = *from + 1;
    return deeper(room) + room[0];
}
#endif

static int32_t process(void *instance, const NanokataPacketView *packet, NanokataResult *result) {
#if defined(VALUE_UNWRITTEN) || defined(CLAIM_UNWRITTEN)
    static NanokataResult elsewhere;
    int32_t status = honest_process(instance, packet, &elsewhere);
#else
    int32_t status = honest_process(instance, packet, result);
#endif
    const int mine = status == NANOKATA_OK;
#if defined(RETURNS_ERROR)
    status = mine ? -7 : status;
#elif defined(UNKNOWN_CLAIM)
    result->claim = 77;
#elif defined(WRONG_CLAIM)
    result->claim = 1;
#elif defined(CLAIM_UNWRITTEN)
    result->value = elsewhere.value;
#elif defined(VALUE_UNWRITTEN)
    result->claim = elsewhere.claim;
#elif defined(NOT_MINE_PLAIN)
    status = packet->protocol == FIRST_KEY ? NANOKATA_NOT_MINE : status;
#elif defined(UNDEFINED_STATUS)
    status = mine ? 9 : status;
#elif defined(UNDEFINED_FOR_OTHERS)
    status = packet->protocol - FIRST_KEY >= KEYS ? 5 : status;
#elif defined(CRASHES_ON_OTHERS)
    if ((uint32_t)(packet->protocol - FIRST_KEY) >= KEYS) {
        raise(SIGSEGV);
    }
#elif defined(RESERVED_WRITTEN)
    result->reserved = 3;
#elif defined(NONDETERMINISTIC)
    result->value += ++calls;
#elif defined(WRITES_PACKET)
    ((uint8_t *)packet->payload)[5] ^= 0xFF;
#elif defined(WRITES_VIEW)
    ((NanokataPacketView *)packet)->reserved = 1;
#elif defined(WRITES_PAST_RESULT)
    if (mine) {
        ((uint8_t *)result)[sizeof *result + 3] = 1;
    }
#elif defined(READS_PAST_PAYLOAD)
    sink = packet->payload[packet->payload_length + 8];
#elif defined(KEEPS_PACKET)
    if (kept != NULL) {
        sink = kept->payload[0];
    }
    kept = packet;
#elif defined(ABORTS)
    abort();
#elif defined(SEGFAULTS)
    *(volatile int *)8 = 1;
#elif defined(DIVIDES)
    raise(SIGFPE);
#elif defined(EXITS)
    exit(3);
#elif defined(EXITS_0)
    exit(0);
#elif defined(LOOPS)
    for (;;) {
        calls += 1;
    }
#elif defined(STOPS)
    raise(SIGSTOP);
#elif defined(KILLS_ITSELF)
    raise(SIGKILL);
#elif defined(OVERFLOWS_STACK)
    result->value += deeper(&calls);
#elif defined(SHARES_STATE)
    /* Knows only its last instance. */
    static void *last;
    if (last != instance && last != NULL) {
        result->value += 1;
    }
    last = instance;
#endif
    (void)mine;
    return status;
}

static int32_t batch(void *instance, const NanokataPacketView *packets, uint64_t count, NanokataResult *results) {
#if defined(BATCH_ERROR)
    (void)instance, (void)packets, (void)results;
    return count > 0 ? -1 : NANOKATA_OK;
#elif defined(BATCH_DISAGREES)
    honest_batch(instance, packets, count, results);
    for (uint64_t at = 0; at < count; ++at) {
        results[at].value ^= 1;
    }
    return NANOKATA_OK;
#elif defined(BATCH_NO_STATUS)
    for (uint64_t at = 0; at < count; ++at) {
        process(instance, &packets[at], &results[at]);
    }
    return NANOKATA_OK;
#elif defined(BATCH_ONE_MORE)
    return honest_batch(instance, packets, count + 1, results);
#else
    for (uint64_t at = 0; at < count; ++at) {
        results[at].status = process(instance, &packets[at], &results[at]);
    }
    return NANOKATA_OK;
#endif
}

PLUGIN(honest_keys, honest_create, honest_destroy, process, batch)
