// The brief's loop in C++: ask each handler in turn through a virtual `matches`, then call its virtual `process`. The twin of
// `scan`.
#include "handlers.hpp"

namespace {

template <std::uint32_t Body>
class Scan {
public:
    explicit Scan(const NanokataArmInput &input) : objects_(input) {}
    __attribute__((noinline)) std::uint64_t run(const twin::Packet *packets, std::uint64_t count) const {
        const auto dispatch = [this](const twin::Packet &packet) {
            for (const twin::Handler *handler : objects_.list) {
                if (handler->matches(packet)) return handler->process(packet);
            }
            return twin::UNSUPPORTED;
        };
        return twin::replay(dispatch, packets, count);
    }

private:
    twin::Objects<Body> objects_;
};

}  // namespace

TWIN_EXPORT(Scan)
