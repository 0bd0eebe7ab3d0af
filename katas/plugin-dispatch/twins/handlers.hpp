// Handlers as C++ objects: an interface with two virtual functions, and a class of its own for each number.
#pragma once

#include <array>

#include "twin.hpp"

namespace twin {

struct Handler {
    explicit Handler(const NanokataHandler &handler) : fields(handler) {}
    virtual bool matches(const Packet &packet) const = 0;
    virtual Outcome process(const Packet &packet) const = 0;
    Fields fields;

protected:
    ~Handler() = default;
};

template <std::uint32_t Body, std::uint64_t Number>
struct Generated final : Handler {
    // The key is salted by the number, as in the host, so that no two are the same code.
    static constexpr auto SALT = static_cast<std::uint16_t>((2 * Number + Body + 1) * 0x9e37);

    explicit Generated(const NanokataHandler &handler) : Handler(handler) { fields.key ^= SALT; }

    __attribute__((noinline)) bool matches(const Packet &packet) const override {
        return (packet.protocol ^ SALT) == fields.key &&
               (fields.residual == NANOKATA_RESIDUAL_NONE || fields.holds(packet));
    }

    __attribute__((noinline)) Outcome process(const Packet &packet) const override {
        return {value<Body, Number>(packet.payload), fields.number};
    }
};

using Maker = const Handler *(*)(Arena &, const NanokataHandler &);

template <std::uint32_t Body, std::uint64_t Number>
const Handler *made(Arena &arena, const NanokataHandler &handler) {
    return arena.make<Generated<Body, Number>>(handler);
}

template <std::uint32_t Body, std::size_t... Number>
constexpr std::array<Maker, sizeof...(Number)> makers(std::index_sequence<Number...>) {
    return {made<Body, Number>...};
}

// The handlers of an input as objects, in registration order.
template <std::uint32_t Body>
class Objects {
public:
    explicit Objects(const NanokataArmInput &input)
        : arena_(input.placement_seed, Arena::room<Generated<Body, 0>>(input.handler_count)) {
        constexpr auto make = makers<Body>(std::make_index_sequence<HANDLERS>{});
        for (std::size_t place = 0; place < input.handler_count; ++place) {
            const NanokataHandler &handler = input.handlers[place];
            list.push_back(make[handler.number](arena_, handler));
        }
    }

    std::vector<const Handler *> list;

private:
    Arena arena_;
};

}  // namespace twin
