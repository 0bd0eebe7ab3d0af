// What nanokata's handlers compute, by templates: the same values as the host's, in machine code of the twin's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "nanokata_arm.h"

namespace twin {

// SplitMix64's output function (Steele, Lea and Flood, OOPSLA 2014).
constexpr std::uint64_t mix(std::uint64_t state) {
    std::uint64_t z = state * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

constexpr std::uint64_t addend(std::uint64_t program, std::uint64_t number, std::uint64_t round) {
    return mix(program << 40 | number << 16 | round << 1 | 1);
}

constexpr std::uint64_t factor(std::uint64_t program, std::uint64_t number, std::uint64_t round) {
    return mix(program << 40 | number << 16 | round << 1 | std::uint64_t{1} << 32) | 1;
}

inline std::uint64_t rotated(std::uint64_t value, unsigned bits) {
    return bits == 0 ? value : value << bits | value >> (64 - bits);
}

template <std::uint64_t Program, std::uint64_t Number, std::size_t Round>
inline void round(std::uint64_t (&chains)[4], const std::uint64_t (&words)[3]) {
    // Worked out by the compiler, so that they are part of the code.
    constexpr std::uint64_t add = addend(Program, Number, Round), times = factor(Program, Number, Round);
    std::uint64_t &chain = chains[Round % 4];
    chain = rotated((chain ^ (words[Round % 3] + add)) * times, 27) + words[(Round + 1) % 3];
}

template <std::uint64_t Program, std::uint64_t Number, std::size_t... Round>
inline std::uint64_t rounds(const std::uint8_t *payload, std::index_sequence<Round...>) {
    std::uint64_t words[3], chains[4] = {};
    std::memcpy(words, payload, sizeof words);
    (round<Program, Number, Round>(chains, words), ...);
    return chains[0] ^ rotated(chains[1], 16) ^ rotated(chains[2], 32) ^ rotated(chains[3], 48);
}

// Fat bodies are program 0, of 48 rounds; tiny ones program 1, of 2.
template <std::uint32_t Body, std::uint64_t Number>
inline std::uint64_t value(const std::uint8_t *payload) {
    if constexpr (Body == NANOKATA_BODY_FAT) {
        return rounds<0, Number>(payload, std::make_index_sequence<48>{});
    } else {
        return rounds<1, Number>(payload, std::make_index_sequence<2>{});
    }
}

}  // namespace twin
