// Makes an object of the shared class, and says where its own type_info lies.
#include "shape.hpp"

extern "C" __attribute__((visibility("default"))) Base *make() { return new Derived; }
extern "C" __attribute__((visibility("default"))) const void *type_at() { return &typeid(Derived); }
