/* What a plugin claims, told otherwise than it should be. */
#include "honest.h"

static uint32_t keys(NanokataClaim *claims, uint32_t capacity) {
#if defined(WRITES_FEWER)
    honest_keys(claims, capacity);
    return KEYS + 1;
#elif defined(OVERRUNS)
    if (claims != NULL) {
        honest_keys(claims, KEYS);
        claims[KEYS].key = 900;
        claims[KEYS].flags = 0;
    }
    return KEYS;
#elif defined(OVERRUNS_FAR)
    if (claims != NULL) {
        memset(claims, 1, 1u << 24);
    }
    return KEYS;
#elif defined(CLAIMS_65536)
    honest_keys(claims, capacity);
    return 65536;
#elif defined(CHANGES_COUNT)
    honest_keys(claims, capacity);
    return capacity == 0 ? KEYS : KEYS - 1;
#elif defined(CHANGES_KEYS)
    static uint16_t calls;
    honest_keys(claims, capacity);
    calls += 1;
    if (capacity > 0) {
        claims[0].key = (uint16_t)(200 + calls);
    }
    return KEYS;
#elif defined(DUPLICATE_KEY)
    honest_keys(claims, capacity);
    if (capacity > 1) {
        claims[1].key = claims[0].key;
    }
    return KEYS;
#elif defined(KEY_65535)
    honest_keys(claims, capacity);
    if (capacity > 0) {
        claims[0].key = 65535;
    }
    return KEYS;
#elif defined(UNKNOWN_FLAGS)
    honest_keys(claims, capacity);
    if (capacity > 0) {
        claims[0].flags = 6;
    }
    return KEYS;
#elif defined(NO_KEYS)
    (void)claims, (void)capacity;
    return 0;
#elif defined(IGNORES_CAPACITY)
    if (capacity > 0) {
        honest_keys(claims, KEYS);
    }
    return KEYS;
#elif defined(KEYS_SEGFAULT)
    (void)capacity;
    claims->key = 1;
    return KEYS;
#endif
}

PLUGIN(keys, honest_create, honest_destroy, honest_process, honest_batch)
