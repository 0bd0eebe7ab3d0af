// What all twins share: what is known of a handler, memory that is laid out by the block's seed, and the struct to export.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "bodies.hpp"
#include "nanokata_arm.h"

namespace twin {

using Packet = NanokataPacket;
using Outcome = NanokataOutcome;

// Handlers that a twin has code for: those of the kata.
constexpr std::size_t HANDLERS = 100;

// What an object holds, as the host's do: key, number, and the predicate behind them.
struct Fields {
    std::uint16_t key, number;
    std::uint8_t residual, offset, first, second;
    std::uint64_t active;

    explicit Fields(const NanokataHandler &handler)
        : key(handler.key), number(handler.number), residual(handler.residual), offset(handler.offset),
          first(handler.first), second(handler.second), active(handler.active) {}

    // Out of line, as the host's: one copy, reached only where there is something to test.
    __attribute__((noinline)) bool holds(const Packet &packet) const {
        switch (residual) {
        case NANOKATA_RESIDUAL_NONE: return true;
        case NANOKATA_RESIDUAL_MASK: return (packet.payload[offset] & first) == second;
        case NANOKATA_RESIDUAL_RANGE: return first <= packet.payload[offset] && packet.payload[offset] <= second;
        default: return active >> (packet.flow & 63) & 1;
        }
    }
};

// Objects one after another, with gaps that the seed draws: another layout in each block, as the host's own.
class Arena {
public:
    Arena(std::uint64_t seed, std::size_t bytes) : state_(seed | 1), memory_(new std::byte[bytes]), size_(bytes) {}

    template <class T, class... Arguments>
    T *make(Arguments &&...arguments) {
        // SplitMix64's increment.
        state_ += 0x9e3779b97f4a7c15;
        used_ += 16 * (mix(state_) % 5);
        used_ = (used_ + alignof(T) - 1) / alignof(T) * alignof(T);
        if (used_ + sizeof(T) > size_) throw std::bad_alloc();
        T *made = new (memory_.get() + used_) T(std::forward<Arguments>(arguments)...);
        used_ += sizeof(T);
        return made;
    }

    // Room for as many objects, gaps included.
    template <class T>
    static std::size_t room(std::size_t count) {
        return count * (sizeof(T) + alignof(T) + 64) + alignof(std::max_align_t);
    }

private:
    std::uint64_t state_;
    std::unique_ptr<std::byte[]> memory_;
    std::size_t size_, used_ = 0;
};

// Who claims each key: places of those that can run, in registration order, up to the first without a residual predicate.
inline std::map<std::uint16_t, std::vector<std::size_t>> claims(const NanokataArmInput &input) {
    std::map<std::uint16_t, std::vector<std::size_t>> claimed;
    for (std::size_t place = 0; place < input.handler_count; ++place) {
        auto &places = claimed[input.handlers[place].key];
        const bool ended = !places.empty() && input.handlers[places.back()].residual == NANOKATA_RESIDUAL_NONE;
        if (!ended) places.push_back(place);
    }
    return claimed;
}

// The least power of two from 1,024 on that keeps claimed keys apart.
template <class Map>
std::size_t slots_for(const Map &claimed) {
    for (std::size_t length = 1024;; length *= 2) {
        std::vector<bool> taken(length);
        bool apart = true;
        for (const auto &claim : claimed) {
            apart = apart && !taken[claim.first & (length - 1)];
            taken[claim.first & (length - 1)] = true;
        }
        if (apart) return length;
    }
}

// The loop of every twin.
template <class Dispatch>
std::uint64_t replay(const Dispatch &dispatch, const Packet *packets, std::uint64_t count) {
    std::uint64_t checksum = NANOKATA_CHECKSUM_EMPTY;
    for (const Packet *packet = packets; packet != packets + count; ++packet) {
        const Outcome outcome = dispatch(*packet);
        checksum = nanokata_fold(checksum, outcome.value, outcome.handler);
    }
    return checksum;
}

constexpr Outcome UNSUPPORTED = {0, NANOKATA_NO_HANDLER};

// Whether a twin has code for these handlers.
inline bool known(const NanokataArmInput &input) {
    if (input.struct_size < sizeof input || input.handler_count > HANDLERS) return false;
    for (std::size_t place = 0; place < input.handler_count; ++place) {
        if (input.handlers[place].number >= HANDLERS) return false;
    }
    return input.body == NANOKATA_BODY_FAT || input.body == NANOKATA_BODY_TINY;
}

// Exports `Arm<Body>`, which is made of an input and has `run(packets, count)`.
template <template <std::uint32_t> class Arm>
struct Exported {
    struct Made {
        virtual ~Made() = default;
        virtual std::uint64_t run(std::uint64_t first, std::uint64_t count) = 0;
    };

    template <std::uint32_t Body>
    struct Of final : Made {
        explicit Of(const NanokataArmInput &input) : packets(input.packets), arm(input) {}
        // Breaks the result on purpose where a test asks for it.
        std::uint64_t run(std::uint64_t first, std::uint64_t count) override {
#ifdef TWIN_BROKEN
            count -= count > 1;
#endif
            return arm.run(packets + first, count);
        }
        const Packet *packets;
        Arm<Body> arm;
    };

    // Nothing may unwind into the host.
    static void *create(const NanokataArmInput *input) noexcept {
        try {
            if (!known(*input)) return nullptr;
            Made *made = nullptr;
#ifdef TWIN_BODY
            // One kind of bodies is compiled in half of the time.
            if (input->body == TWIN_BODY) made = new Of<TWIN_BODY>(*input);
#else
            if (input->body == NANOKATA_BODY_FAT) made = new Of<NANOKATA_BODY_FAT>(*input);
            else made = new Of<NANOKATA_BODY_TINY>(*input);
#endif
            return made;
        } catch (...) {
            return nullptr;
        }
    }
    static void destroy(void *arm) noexcept { delete static_cast<Made *>(arm); }
    static std::uint64_t run(void *arm, std::uint64_t first, std::uint64_t count) noexcept {
        return static_cast<Made *>(arm)->run(first, count);
    }
    static constexpr NanokataArmApi API = {sizeof(NanokataArmApi), NANOKATA_ARM_ABI_VERSION, create, destroy, run};
};

}  // namespace twin

#define TWIN_EXPORT(ARM) \
    NANOKATA_ARM_EXPORT const NanokataArmApi *nanokata_arm(void) { return &twin::Exported<ARM>::API; }
