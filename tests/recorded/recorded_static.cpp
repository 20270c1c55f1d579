// Nothing can be preloaded into a program without a dynamic linker.
#include <cstdio>

int main()
{
    std::puts("static");
}
