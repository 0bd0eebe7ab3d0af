/* What nanokata's tiny handlers compute, for plugins and arms that want to be held against them: two rounds over a payload
 * of 24 bytes, with constants of the handler's own that the compiler works out from its number. */
#ifndef NANOKATA_BODY_H
#define NANOKATA_BODY_H

#include <stdint.h>
#include <string.h>

#define NANOKATA_BODY_INLINE static inline __attribute__((always_inline))

/* SplitMix64's output function (Steele, Lea and Flood, OOPSLA 2014). */
NANOKATA_BODY_INLINE uint64_t nanokata_mix(uint64_t state) {
    uint64_t z = state * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* What round `round` of handler `number` adds to a word; tiny bodies are program 1, fat ones program 0. */
NANOKATA_BODY_INLINE uint64_t nanokata_addend(uint64_t program, uint64_t number, uint64_t round) {
    return nanokata_mix(program << 40 | number << 16 | round << 1 | 1);
}

/* What it multiplies by: odd, so that no information is lost. */
NANOKATA_BODY_INLINE uint64_t nanokata_factor(uint64_t program, uint64_t number, uint64_t round) {
    return nanokata_mix(program << 40 | number << 16 | round << 1 | UINT64_C(1) << 32) | 1;
}

/* Eight bytes of a payload as a number, least first. */
NANOKATA_BODY_INLINE uint64_t nanokata_word(const uint8_t *payload, unsigned at) {
    uint64_t word;
    memcpy(&word, payload + 8 * at, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* `bits` is never 0 where this is called. */
NANOKATA_BODY_INLINE uint64_t nanokata_rotate(uint64_t value, unsigned bits) {
    return value << bits | value >> (64 - bits);
}

/* One round of a chain. */
NANOKATA_BODY_INLINE uint64_t nanokata_round(uint64_t chain, uint64_t word, uint64_t next, uint64_t addend, uint64_t factor) {
    return nanokata_rotate((chain ^ (word + addend)) * factor, 27) + next;
}

/* What the tiny handler of that number makes of a payload. */
NANOKATA_BODY_INLINE uint64_t nanokata_tiny(uint64_t number, const uint8_t *payload) {
    const uint64_t a = nanokata_word(payload, 0), b = nanokata_word(payload, 1), c = nanokata_word(payload, 2);
    const uint64_t first = nanokata_round(0, a, b, nanokata_addend(1, number, 0), nanokata_factor(1, number, 0));
    const uint64_t second = nanokata_round(0, b, c, nanokata_addend(1, number, 1), nanokata_factor(1, number, 1));
    return first ^ nanokata_rotate(second, 16);
}

#endif
