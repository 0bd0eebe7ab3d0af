// What keeps an exception inside a plugin: it becomes the error that the ABI has anyway.
#pragma once

#include "../include/nanokata_plugin.h"

#include <cstdint>

// Contains unwinding and nothing else: a plugin that has damaged memory is no safer for it.
template <class Work>
std::int32_t contained(Work work) noexcept {
    try {
        return work();
    } catch (...) {
        return NANOKATA_ERROR;
    }
}
