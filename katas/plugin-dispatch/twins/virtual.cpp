// Calls through a virtual function: slot, object, vtable, function. The twin of `thin`, and in purpose of `dyn_trait`, which
// keeps the vtable's address in the slot.
#include "handlers.hpp"
#include "mechanism.hpp"

namespace {

struct Pointer {
    const twin::Handler *object;
    // Slots as large as those of the others, which need both words.
    std::uintptr_t room;

    const twin::Fields &fields() const { return object->fields; }
    twin::Outcome call(const twin::Packet &packet) const { return object->process(packet); }
};

template <std::uint32_t Body>
class Virtual {
public:
    explicit Virtual(const NanokataArmInput &input) : objects_(input), table_(input, targets(objects_)) {}
    __attribute__((noinline)) std::uint64_t run(const twin::Packet *packets, std::uint64_t count) const {
        return twin::replay(table_, packets, count);
    }

private:
    static std::vector<Pointer> targets(const twin::Objects<Body> &objects) {
        std::vector<Pointer> all;
        for (const twin::Handler *object : objects.list) all.push_back({object, 0});
        return all;
    }

    twin::Objects<Body> objects_;
    twin::Table<Pointer> table_;
};

}  // namespace

TWIN_EXPORT(Virtual)
