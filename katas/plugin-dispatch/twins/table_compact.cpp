// The compact table in C++: the key's low bits lead to a slot with the key to verify, residual candidates are asked through a
// virtual `matches`. The twin of `table_compact`.
#include "handlers.hpp"

namespace {

template <std::uint32_t Body>
class TableCompact {
    struct Slot {
        // The handler, or null where candidates are to be asked.
        const twin::Handler *only = nullptr;
        std::uint32_t begin = 0, count = 0;
        std::uint16_t key = 0;
    };
    static_assert(sizeof(Slot) == 24);

public:
    explicit TableCompact(const NanokataArmInput &input) : objects_(input) {
        const auto claimed = twin::claims(input);
        slots_.resize(twin::slots_for(claimed));
        for (const auto &[key, places] : claimed) {
            Slot &slot = slots_[key & (slots_.size() - 1)];
            slot.key = key;
            if (places.size() == 1 && input.handlers[places[0]].residual == NANOKATA_RESIDUAL_NONE) {
                slot.only = objects_.list[places[0]];
                continue;
            }
            slot.begin = static_cast<std::uint32_t>(candidates_.size());
            slot.count = static_cast<std::uint32_t>(places.size());
            for (const std::size_t place : places) candidates_.push_back(objects_.list[place]);
        }
    }

    __attribute__((noinline)) std::uint64_t run(const twin::Packet *packets, std::uint64_t count) const {
        const auto dispatch = [this](const twin::Packet &packet) {
            const Slot &slot = slots_[packet.protocol & (slots_.size() - 1)];
            if (slot.key != packet.protocol) return twin::UNSUPPORTED;
            if (slot.only != nullptr) return slot.only->process(packet);
            for (std::uint32_t at = slot.begin; at < slot.begin + slot.count; ++at) {
                if (candidates_[at]->matches(packet)) return candidates_[at]->process(packet);
            }
            return twin::UNSUPPORTED;
        };
        return twin::replay(dispatch, packets, count);
    }

private:
    twin::Objects<Body> objects_;
    std::vector<Slot> slots_;
    std::vector<const twin::Handler *> candidates_;
};

}  // namespace

TWIN_EXPORT(TableCompact)
