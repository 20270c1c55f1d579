// The mixed loop that recording is held to: 1000 slots, each time a random one that is freed if it holds a block and
// else gets one of 16 to 515 bytes. Prints nanoseconds per event, of the best of a few thousand stretches and of all.
//
//   record_cost [MILLIONS OF EVENTS]
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr std::size_t slot_count = 1000;
constexpr std::uint64_t stretch = 100'000;

struct Loop {
    std::array<void*, slot_count> slots{};
    std::uint64_t random{88172645463325252ULL};

    void run(std::uint64_t events)
    {
        for (std::uint64_t i = 0; i < events; ++i) {
            random ^= random << 13U;
            random ^= random >> 7U;
            random ^= random << 17U;
            void*& slot = slots[(random >> 20U) % slot_count];
            if (slot != nullptr) {
                std::free(slot);
                slot = nullptr;
            } else {
                slot = std::malloc(16 + (random >> 40U) % 500);
            }
        }
    }
};

}  // namespace

int main(int argc, char** argv)
{
    const std::uint64_t millions = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20;
    Loop loop;
    loop.run(stretch);
    double best = 1e9;
    double all = 0;
    const std::uint64_t stretches = millions * 1'000'000 / stretch;
    for (std::uint64_t i = 0; i < stretches; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        loop.run(stretch);
        const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
        best = std::min(best, taken.count() / static_cast<double>(stretch));
        all += taken.count();
    }
    std::printf("%.3f %.3f\n", best, all / static_cast<double>(stretches * stretch));
}
