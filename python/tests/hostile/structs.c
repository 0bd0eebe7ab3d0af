/* Structs that say something else than they should. */
#include "honest.h"

#define OF_SIZE(size)                                                                                                  \
    PLUGIN_OF(size, NANOKATA_PLUGIN_ABI_VERSION, honest_keys, honest_create, honest_destroy, honest_process, honest_batch)
#define OF_VERSION(version)                                                                                            \
    PLUGIN_OF(sizeof(NanokataPluginApi), version, honest_keys, honest_create, honest_destroy, honest_process, honest_batch)

#if defined(SIZE)
OF_SIZE(SIZE)
#elif defined(VERSION)
OF_VERSION(VERSION)
#elif defined(NULL_STRUCT)
const NanokataPluginApi *nanokata_plugin(void) {
    return NULL;
}
#elif defined(MISALIGNED_STRUCT)
const NanokataPluginApi *nanokata_plugin(void) {
    static char room[64] __attribute__((aligned(16)));
    return (const NanokataPluginApi *)(room + 4);
}
#elif defined(WILD_STRUCT)
const NanokataPluginApi *nanokata_plugin(void) {
    return (const NanokataPluginApi *)16;
}
#elif defined(NULL_CLAIMED_KEYS)
PLUGIN(NULL, honest_create, honest_destroy, honest_process, honest_batch)
#elif defined(NULL_CREATE)
PLUGIN(honest_keys, NULL, honest_destroy, honest_process, honest_batch)
#elif defined(NULL_DESTROY)
PLUGIN(honest_keys, honest_create, NULL, honest_process, honest_batch)
#elif defined(NULL_PROCESS)
PLUGIN(honest_keys, honest_create, honest_destroy, NULL, honest_batch)
#elif defined(NULL_BATCH)
PLUGIN(honest_keys, honest_create, honest_destroy, honest_process, NULL)
#elif defined(HONEST)
PLUGIN(honest_keys, honest_create, honest_destroy, honest_process, honest_batch)
#endif
