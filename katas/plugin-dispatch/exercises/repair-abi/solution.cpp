// The same plugin behind integers and functions.
#include "nanokata_plugin.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace {

// All of its packets.
constexpr std::uint16_t KEY = 3000;
// Those of its packets whose first payload byte is odd.
constexpr std::uint16_t RESIDUAL_KEY = 3001;
// How many sums are kept.
constexpr std::size_t KEPT = 64;

// The host sees its address alone: what is in here is nobody else's, and may be of any type.
struct Tally {
    bool enabled = true;
    std::vector<std::uint64_t> sums;
};

std::uint32_t claimed_keys(NanokataClaim *claims, std::uint32_t capacity) noexcept {
    const NanokataClaim mine[] = {{KEY, 0}, {RESIDUAL_KEY, NANOKATA_CLAIM_RESIDUAL}};
    for (std::uint32_t at = 0; at < 2 && at < capacity; ++at) {
        claims[at] = mine[at];
    }
    return 2;
}

// Nothing unwinds across: what can't be made is null, which the host understands.
void *create() noexcept {
    try {
        return new Tally;
    } catch (...) {
        return nullptr;
    }
}

void destroy(void *instance) noexcept {
    delete static_cast<Tally *>(instance);
}

std::int32_t process(void *instance, const NanokataPacketView *packet, NanokataResult *result) noexcept {
    auto &tally = *static_cast<Tally *>(instance);
    const std::uint8_t *payload = packet->payload;
    if (packet->protocol == RESIDUAL_KEY && (packet->payload_length == 0 || payload[0] % 2 == 0)) {
        return NANOKATA_NOT_MINE;
    }
    result->value = std::accumulate(payload, payload + packet->payload_length, std::uint64_t{0});
    result->claim = packet->protocol == RESIDUAL_KEY;
    result->reserved = 0;
    try {
        if (tally.enabled && tally.sums.size() < KEPT) {
            tally.sums.push_back(result->value);
        }
    } catch (...) {
        return NANOKATA_ERROR;
    }
    return NANOKATA_OK;
}

std::int32_t process_batch(void *instance, const NanokataPacketView *packets, std::uint64_t count,
                           NanokataResult *results) noexcept {
    for (std::uint64_t at = 0; at < count; ++at) {
        results[at].status = process(instance, &packets[at], &results[at]);
    }
    return NANOKATA_OK;
}

} // namespace

const NanokataPluginApi *nanokata_plugin(void) {
    static const NanokataPluginApi api = {
        sizeof(NanokataPluginApi), NANOKATA_PLUGIN_ABI_VERSION, claimed_keys, create, destroy, process, process_batch,
    };
    return &api;
}
