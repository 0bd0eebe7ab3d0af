/* A plugin as somebody writes it first. It compiles, and each field is a bug: see README.md. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

/* All of its packets. */
#define KEY 3000
/* Those of its packets whose first payload byte is odd. */
#define RESIDUAL_KEY 3001

/* How much it can do. */
enum Level { ONE, BATCHES };

/* What the host gets. */
typedef struct PluginApi {
    const wchar_t *name;
    unsigned long keys[2];
    bool enabled;
    size_t version;
    enum Level level;
    uint32_t residual : 1;
    long double weight;
    uint64_t (*sum)(const uint8_t *payload, size_t length);
} PluginApi;

static uint64_t sum(const uint8_t *payload, size_t length) {
    uint64_t total = 0;
    for (size_t at = 0; at < length; ++at) {
        total += payload[at];
    }
    return total;
}

__attribute__((visibility("default"))) const PluginApi *nanokata_plugin(void) {
    static const PluginApi api = {L"tally", {KEY, RESIDUAL_KEY}, true, 1, BATCHES, 1, 1.0L, sum};
    return &api;
}
