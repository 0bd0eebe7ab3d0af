/* A library with a helper of a name that another one has too; -DWHO=… says who answers. */
#ifdef HIDDEN
__attribute__((visibility("hidden")))
#endif
__attribute__((noinline)) int shared_helper(void) {
    return WHO;
}

int ask(void) { return shared_helper(); }
