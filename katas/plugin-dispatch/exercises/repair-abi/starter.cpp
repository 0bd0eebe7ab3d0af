// A plugin as somebody writes it first. It compiles, and each field is a bug: see README.md.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

// All of its packets.
constexpr std::uint16_t KEY = 3000;
// Those of its packets whose first payload byte is odd.
constexpr std::uint16_t RESIDUAL_KEY = 3001;

// How much it can do.
enum Level { ONE, BATCHES };

// What it does.
struct Handler {
    virtual ~Handler() = default;
    virtual std::uint64_t sum(const std::vector<std::uint8_t> &payload) const {
        return std::accumulate(payload.begin(), payload.end(), std::uint64_t{0});
    }
};

// What the host gets.
struct PluginApi {
    std::string name;
    std::vector<std::uint16_t> keys;
    bool enabled;
    std::size_t version;
    Level level;
    std::shared_ptr<Handler> handler;
};

extern "C" __attribute__((visibility("default"))) const PluginApi *nanokata_plugin() {
    static const PluginApi api{"tally", {KEY, RESIDUAL_KEY}, true, 1, BATCHES, std::make_shared<Handler>()};
    return &api;
}
