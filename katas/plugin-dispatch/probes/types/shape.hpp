// A class that host and plugin both define, as a header makes them. With INTERNAL it lies in an unnamed namespace.
#pragma once
#include <typeinfo>

struct Base {
    virtual ~Base() = default;
};

#ifdef INTERNAL
namespace {
#endif
struct Derived : Base {
    int value = 7;
};
#ifdef INTERNAL
}
#endif
