// A plugin in C++, built against the present header: with process_batch.
#include "handlers.h"

#include "contained.hpp"

#include <cstdint>
#include <new>

namespace {

constexpr std::uint16_t FIRST_KEY = 2050;

struct Instance {
    std::uint64_t processed = 0;
};

std::uint32_t claimed_keys(NanokataClaim *claims, std::uint32_t capacity) noexcept {
    return claim_handlers(FIRST_KEY, claims, capacity);
}

// The plugin's own operator new; only the plugin's own operator delete may free it.
void *create() noexcept {
    return new (std::nothrow) Instance;
}

void destroy(void *instance) noexcept {
    delete static_cast<Instance *>(instance);
}

std::int32_t process(void *instance, const NanokataPacketView *packet, NanokataResult *result) noexcept {
    return contained([=] {
        static_cast<Instance *>(instance)->processed += 1;
        return run_handler(FIRST_KEY, packet, result);
    });
}

std::int32_t process_batch(void *instance, const NanokataPacketView *packets, std::uint64_t count,
                           NanokataResult *results) noexcept {
    return contained([=] {
        static_cast<Instance *>(instance)->processed += count;
        for (std::uint64_t at = 0; at < count; ++at) {
            results[at].status = run_handler(FIRST_KEY, &packets[at], &results[at]);
        }
        return NANOKATA_OK;
    });
}

} // namespace

const NanokataPluginApi *nanokata_plugin(void) {
    static const NanokataPluginApi api = {
        sizeof(NanokataPluginApi), NANOKATA_PLUGIN_ABI_VERSION, claimed_keys, create, destroy, process, process_batch,
    };
    return &api;
}
