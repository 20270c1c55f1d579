// What recorded_stacks opens and closes: it allocates in a function of its own.
#include <cstdlib>

namespace {

volatile int done;

__attribute__((noinline)) void plugin_leaf()
{
    std::free(std::malloc(48));
    done = done + 1;
}

}  // namespace

extern "C" void plugin_allocate(int count)
{
    for (int i = 0; i < count; ++i) {
        plugin_leaf();
    }
    done = done + 1;
}
