/* Libraries that export something else than one function of the right name. */
#include "honest.h"

#define EXPORT __attribute__((visibility("default")))

#if defined(NO_SYMBOL)
EXPORT int another_plugin(void) {
    return 0;
}
#elif defined(NOTHING)
static int hidden;
int *nothing_to_see(void) {
    return &hidden;
}
#elif defined(MORE_SYMBOLS)
EXPORT int helper(void) {
    return 0;
}
EXPORT int table[4];
PLUGIN(honest_keys, honest_create, honest_destroy, honest_process, honest_batch)
#elif defined(UNDEFINED_SYMBOL)
int nobody_has_this(void);
static void *create(void) {
    return nobody_has_this() ? honest_create() : NULL;
}
PLUGIN(honest_keys, create, honest_destroy, honest_process, honest_batch)
#endif
