// Exceptions that meet the boundary.
#include "honest.h"

#include <stdexcept>

namespace {

#if defined(THROWS)
std::int32_t process(void *, const NanokataPacketView *, NanokataResult *) {
    throw std::runtime_error("uncontained");
}
#elif defined(THROWS_NOEXCEPT)
std::int32_t process(void *, const NanokataPacketView *, NanokataResult *) noexcept {
    throw std::runtime_error("noexcept");
}
#elif defined(THROWS_CONTAINED)
std::int32_t process(void *, const NanokataPacketView *, NanokataResult *) noexcept {
    try {
        throw std::runtime_error("contained");
    } catch (...) {
        return NANOKATA_ERROR;
    }
}
#elif defined(THROWS_WHEN_OPENED)
struct Thrower {
    Thrower() {
        throw std::runtime_error("while it was opened");
    }
} thrower;

std::int32_t process(void *instance, const NanokataPacketView *packet, NanokataResult *result) {
    return honest_process(instance, packet, result);
}
#endif

} // namespace

PLUGIN(honest_keys, honest_create, honest_destroy, process, honest_batch)
