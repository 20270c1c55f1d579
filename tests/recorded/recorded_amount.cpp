// Allocates COUNT blocks of BYTES each, frees them but for the last KEPT, and prints WORD: recorded_amount COUNT BYTES
// KEPT WORD.
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int count, char** words)
{
    if (count != 5) {
        return 2;
    }
    const auto number = [&](int i) { return std::strtoul(words[i], nullptr, 10); };
    const unsigned long blocks = number(1);
    std::vector<void*> held;
    held.reserve(blocks);
    for (unsigned long i = 0; i < blocks; ++i) {
        held.push_back(std::malloc(number(2)));
    }
    for (unsigned long i = number(3); i < blocks; ++i) {
        std::free(held[i]);
    }
    std::puts(words[4]);
}
