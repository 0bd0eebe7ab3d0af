// The selection that the three mechanisms share: the compact table with 16 bytes in each slot for whatever a mechanism keeps,
// and residual predicates tested by one direct call, so that nothing but the call of the body differs.
#pragma once

#include "twin.hpp"

namespace twin {

// `Target` is 16 bytes, with `fields()` and `call(packet)`.
template <class Target>
class Table {
    static_assert(sizeof(Target) == 16);

    struct Slot {
        Target target;
        std::uint16_t key = 0, candidates = 0;
        std::uint32_t begin = 0;
    };
    static_assert(sizeof(Slot) == 24);
    static constexpr std::uint16_t ONLY = 0xFFFF;

public:
    Table(const NanokataArmInput &input, const std::vector<Target> &targets) {
        const auto claimed = claims(input);
        slots_.resize(slots_for(claimed));
        for (const auto &[key, places] : claimed) {
            Slot &slot = slots_[key & (slots_.size() - 1)];
            slot.key = key;
            if (places.size() == 1 && input.handlers[places[0]].residual == NANOKATA_RESIDUAL_NONE) {
                slot.target = targets[places[0]];
                slot.candidates = ONLY;
                continue;
            }
            slot.begin = static_cast<std::uint32_t>(candidates_.size());
            slot.candidates = static_cast<std::uint16_t>(places.size());
            for (const std::size_t place : places) candidates_.push_back(targets[place]);
        }
    }

    Outcome operator()(const Packet &packet) const {
        const Slot &slot = slots_[packet.protocol & (slots_.size() - 1)];
        if (slot.key != packet.protocol) return UNSUPPORTED;
        if (slot.candidates == ONLY) return slot.target.call(packet);
        const Target *end = candidates_.data() + slot.begin + slot.candidates;
        for (const Target *target = candidates_.data() + slot.begin; target != end; ++target) {
            if (target->fields().holds(packet)) return target->call(packet);
        }
        return UNSUPPORTED;
    }

private:
    std::vector<Slot> slots_;
    std::vector<Target> candidates_;
};

}  // namespace twin
