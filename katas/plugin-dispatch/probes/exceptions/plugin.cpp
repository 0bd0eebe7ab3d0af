// Functions that throw, each met in another way.
#include <stdexcept>

#define EXPORTED extern "C" __attribute__((visibility("default")))

static void trouble() { throw std::runtime_error("trouble in the plugin"); }

// noexcept alone: the process ends.
EXPORTED int noexcept_alone() noexcept {
    trouble();
    return 0;
}

// And caught: a status.
EXPORTED int contained() noexcept {
    try {
        trouble();
        return 0;
    } catch (...) {
        return -1;
    }
}

// Neither: it goes where it will.
EXPORTED int crossing() {
    trouble();
    return 0;
}
