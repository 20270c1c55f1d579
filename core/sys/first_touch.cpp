#include "core/sys/first_touch.hpp"

#include <utility>

#include "core/sys/page_ops.hpp"

namespace memsweep::sys {
namespace {

double seconds_per_page(const Clock& clock, const Mapping& mapping)
{
    const auto begin = clock.now();
    const std::uint64_t pages = touch_pages(mapping.data(), mapping.size());
    return std::chrono::duration<double>(clock.now() - begin).count() / static_cast<double>(pages);
}

}  // namespace

base::Expected<std::vector<TouchedChunk>> measure_first_touch(const Clock& clock, std::uint64_t most_bytes,
                                                              std::chrono::nanoseconds most_time)
{
    std::vector<Mapping> kept;
    std::vector<TouchedChunk> chunks;
    const auto begin = clock.now();
    while ((kept.size() + 1) * touched_chunk_bytes <= most_bytes && clock.now() - begin < most_time) {
        auto mapping = Mapping::anonymous(touched_chunk_bytes);
        if (!mapping && kept.empty()) {
            return base::fail(std::move(mapping).error());
        }
        if (!mapping) {
            break;
        }
        // Refused where huge pages are not built in: then there is none to forbid.
        static_cast<void>(advise(mapping->data(), mapping->size(), Advice::no_huge_pages));
        const double first = seconds_per_page(clock, *mapping);
        if (auto given_back = advise(mapping->data(), mapping->size(), Advice::dont_need); !given_back) {
            return base::fail(std::move(given_back).error());
        }
        chunks.push_back({first, seconds_per_page(clock, *mapping)});
        kept.push_back(*std::move(mapping));
    }
    return chunks;
}

}  // namespace memsweep::sys
