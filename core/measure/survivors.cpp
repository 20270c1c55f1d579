#include "core/measure/survivors.hpp"

#include <algorithm>
#include <bit>

namespace memsweep::measure {

std::size_t Lifetimes::step_of(std::uint64_t life) noexcept
{
    if (life < steps) {
        return static_cast<std::size_t>(life);
    }
    const auto magnitude = static_cast<unsigned>(std::bit_width(life)) - 1;  // 3 or more
    return (magnitude - 2) * steps + static_cast<std::size_t>(life >> (magnitude - 3)) - steps;
}

std::uint64_t Lifetimes::longest() const noexcept
{
    std::uint64_t left = count_ - count_ / 1000;
    for (std::size_t step = 0; step < counts_.size(); ++step) {
        if (counts_[step] >= left) {
            if (step < steps) {
                return step;
            }
            const unsigned magnitude = static_cast<unsigned>(step / steps) + 2;
            return ((steps + step % steps + 1) << (magnitude - 3)) - 1;
        }
        left -= counts_[step];
    }
    return 0;
}

bool grows(std::span<const Survivor> survivors, std::uint64_t longest_life, std::uint64_t now)
{
    constexpr std::size_t windows = 20;
    constexpr std::size_t fewest_windows = 5;
    const std::uint64_t waiting = longest_life + longest_life / 2;
    if (now < windows || waiting >= now) {
        return false;
    }
    std::array<std::uint64_t, windows> bytes{};
    for (const Survivor& one : survivors) {
        bytes[std::min<std::size_t>(
            static_cast<std::size_t>(static_cast<double>(one.born) / static_cast<double>(now) * windows),
            windows - 1)] += one.bytes;
    }
    const std::uint64_t old_until = now - waiting;
    const auto counted = static_cast<std::size_t>(static_cast<double>(old_until) / static_cast<double>(now) * windows);
    const auto* const first = std::ranges::find_if(bytes, [](std::uint64_t one) { return one != 0; });
    const auto begin = static_cast<std::size_t>(first - bytes.begin());
    if (begin >= counted || counted - begin < fewest_windows) {
        return false;
    }
    const std::span<const std::uint64_t> old{bytes.data() + begin, counted - begin};
    const auto filled =
        static_cast<std::size_t>(std::ranges::count_if(old, [](std::uint64_t one) { return one != 0; }));
    std::uint64_t all = 0;
    std::uint64_t later = 0;
    for (std::size_t i = 0; i < old.size(); ++i) {
        all += old[i];
        later += i >= old.size() / 2 ? old[i] : 0;
    }
    return filled * 10 >= old.size() * 9 && static_cast<double>(later) >= 0.35 * static_cast<double>(all);
}

}  // namespace memsweep::measure
