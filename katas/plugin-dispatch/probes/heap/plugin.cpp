// Writes past its memory, catches everything, and reports success.
#include <cstddef>
#include <cstring>

extern "C" __attribute__((visibility("default"))) int process(char *scratch, std::size_t bytes) noexcept {
    try {
        // Sixteen bytes too many: what follows is the allocator's own note of the next chunk's size.
        std::memset(scratch, 0x41, bytes + 16);
        return 0;
    } catch (...) {
        return -1;
    }
}
