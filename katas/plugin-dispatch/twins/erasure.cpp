// Type erasure by hand: the function's address lies beside the object's. The twin of `erased`.
#include "mechanism.hpp"

#include <array>

namespace {

using Function = twin::Outcome (*)(const twin::Fields &, const twin::Packet &);

struct Erased {
    const twin::Fields *object;
    Function process;

    const twin::Fields &fields() const { return *object; }
    twin::Outcome call(const twin::Packet &packet) const { return process(*object, packet); }
};

template <std::uint32_t Body, std::uint64_t Number>
__attribute__((noinline)) twin::Outcome process(const twin::Fields &fields, const twin::Packet &packet) {
    return {twin::value<Body, Number>(packet.payload), fields.number};
}

template <std::uint32_t Body, std::size_t... Number>
constexpr std::array<Function, sizeof...(Number)> functions(std::index_sequence<Number...>) {
    return {process<Body, Number>...};
}

template <std::uint32_t Body>
class Erasure {
public:
    explicit Erasure(const NanokataArmInput &input)
        : arena_(input.placement_seed, twin::Arena::room<twin::Fields>(input.handler_count)),
          table_(input, targets(input, arena_)) {}
    __attribute__((noinline)) std::uint64_t run(const twin::Packet *packets, std::uint64_t count) const {
        return twin::replay(table_, packets, count);
    }

private:
    static std::vector<Erased> targets(const NanokataArmInput &input, twin::Arena &arena) {
        constexpr auto process = functions<Body>(std::make_index_sequence<twin::HANDLERS>{});
        std::vector<Erased> all;
        for (std::size_t place = 0; place < input.handler_count; ++place) {
            const NanokataHandler &handler = input.handlers[place];
            all.push_back({arena.make<twin::Fields>(handler), process[handler.number]});
        }
        return all;
    }

    twin::Arena arena_;
    twin::Table<Erased> table_;
};

}  // namespace

TWIN_EXPORT(Erasure)
