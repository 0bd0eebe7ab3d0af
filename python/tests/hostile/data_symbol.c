/* A variable where a function should be. The header declares the function, so that it can't be included here. */
__attribute__((visibility("default"))) int nanokata_plugin[12] = {48, 1};
