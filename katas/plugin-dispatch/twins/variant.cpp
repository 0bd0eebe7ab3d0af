// A closed sum, std::variant, and std::visit over it. The twin of `enum_match`.
#include "mechanism.hpp"

#include <array>
#include <variant>

namespace {

template <std::uint32_t Body, std::uint64_t Number>
struct Alternative {
    twin::Fields fields;

    __attribute__((noinline)) twin::Outcome process(const twin::Packet &packet) const {
        return {twin::value<Body, Number>(packet.payload), fields.number};
    }
};

template <std::uint32_t Body, class Numbers>
struct Sum;
template <std::uint32_t Body, std::size_t... Number>
struct Sum<Body, std::index_sequence<Number...>> {
    using Type = std::variant<Alternative<Body, Number>...>;
    using Maker = Type *(*)(twin::Arena &, const NanokataHandler &);

    template <std::size_t One>
    static Type *made(twin::Arena &arena, const NanokataHandler &handler) {
        return arena.make<Type>(std::in_place_index<One>, Alternative<Body, One>{twin::Fields(handler)});
    }
    static constexpr std::array<Maker, sizeof...(Number)> MAKERS = {made<Number>...};
};

template <std::uint32_t Body>
using Closed = Sum<Body, std::make_index_sequence<twin::HANDLERS>>;

template <std::uint32_t Body>
struct Visited {
    const typename Closed<Body>::Type *sum;
    // What every alternative holds: by its address, since to ask the sum for it would be a visit of its own.
    const twin::Fields *held;

    const twin::Fields &fields() const { return *held; }
    twin::Outcome call(const twin::Packet &packet) const {
        return std::visit([&packet](const auto &alternative) { return alternative.process(packet); }, *sum);
    }
};

template <std::uint32_t Body>
class Variant {
public:
    explicit Variant(const NanokataArmInput &input)
        : arena_(input.placement_seed, twin::Arena::room<typename Closed<Body>::Type>(input.handler_count)),
          table_(input, targets(input, arena_)) {}
    __attribute__((noinline)) std::uint64_t run(const twin::Packet *packets, std::uint64_t count) const {
        return twin::replay(table_, packets, count);
    }

private:
    static std::vector<Visited<Body>> targets(const NanokataArmInput &input, twin::Arena &arena) {
        std::vector<Visited<Body>> all;
        for (std::size_t place = 0; place < input.handler_count; ++place) {
            const NanokataHandler &handler = input.handlers[place];
            const auto *sum = Closed<Body>::MAKERS[handler.number](arena, handler);
            all.push_back({sum, std::visit([](const auto &alternative) { return &alternative.fields; }, *sum)});
        }
        return all;
    }

    twin::Arena arena_;
    twin::Table<Visited<Body>> table_;
};

}  // namespace

TWIN_EXPORT(Variant)
