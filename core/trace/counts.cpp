#include "core/trace/counts.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/trace/format/count_layout.hpp"
#include "core/trace/format/recording_layout.hpp"
#include "core/trace/unseen_blocks.hpp"

namespace memsweep::trace {
namespace {

namespace fs = std::filesystem;

// Empty: it ended before it had begun to count.
std::optional<CountFile> read_count_file(const fs::path& path)
{
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(path.c_str(), "rb"), std::fclose};
    CountFile counts;
    const bool is_whole = file != nullptr && std::fread(&counts, sizeof counts, 1, file.get()) == 1;
    return is_whole && counts.magic == count_magic && counts.version == count_version ? std::optional{counts}
                                                                                      : std::nullopt;
}

std::uint64_t allocations_of(const CountFile& image)
{
    return std::accumulate(image.shards.begin(), image.shards.end(), std::uint64_t{},
                           [](std::uint64_t sum, const CountShard& shard) { return sum + shard.allocations; });
}

bool is_mostly_unseen(const CountFile& image)
{
    return image.foreign_malloc == 0 &&
           has_unseen_blocks(image.heap_pages_bytes, image.live_bytes_peak, allocations_of(image));
}

// A count of a part would pass for a small one.
base::Error mostly_unseen(const CountFile& image)
{
    return {
        base::ErrorCode::not_supported,
        fmt::format("its allocations cannot be counted: a process of it held {} in pages of its heap, and {} of blocks "
                    "were seen: it does not ask for them by malloc or new",
                    base::format_size(image.heap_pages_bytes), base::format_size(image.live_bytes_peak)),
        {}};
}

void add_image(const CountFile& image, Counts& into)
{
    ++into.images;
    for (const CountShard& shard : image.shards) {
        into.allocations += shard.allocations;
        into.allocated_bytes += shard.allocated_bytes;
    }
    into.live_bytes_peak = std::max(into.live_bytes_peak, image.live_bytes_peak);
    into.live_bytes_end += image.live_bytes;
    into.foreign_mallocs += image.foreign_malloc;
    into.uncounted += image.lost_blocks != 0 ? 1 : 0;
}

base::Error nothing_counted(const Counts& counts)
{
    return {base::ErrorCode::not_supported,
            counts.uncounted != 0         ? "its allocations cannot be counted: no room for the counters"
            : counts.foreign_mallocs != 0 ? "its allocations cannot be counted: it brings its own malloc"
                                          : "its allocations cannot be counted: no process of it loaded the recorder "
                                            "(statically linked, or set-user-ID)",
            {}};
}

}  // namespace

base::Expected<Counts> take_counts(const std::string& folder)
{
    Counts counts;
    std::optional<base::Error> unseen;
    std::vector<fs::path> taken;
    std::error_code problem;
    for (fs::directory_iterator at{folder, problem}; !problem && at != fs::directory_iterator{};
         at.increment(problem)) {
        const fs::path& path = at->path();
        if (path.extension() == count_ending) {
            if (const auto image = read_count_file(path)) {
                add_image(*image, counts);
                unseen = is_mostly_unseen(*image) ? mostly_unseen(*image) : unseen;
            }
            taken.push_back(path);
        } else if (path.extension() == refusal_ending) {
            ++counts.uncounted;
            taken.push_back(path);
        }
    }
    if (problem) {
        return base::fail(base::ErrorCode::io, "cannot read: " + problem.message(), folder);
    }
    for (const fs::path& path : taken) {
        fs::remove(path, problem);
    }
    if (counts.images == counts.foreign_mallocs) {
        return base::fail(nothing_counted(counts));
    }
    if (unseen) {
        return base::fail(*unseen);
    }
    return counts;
}

}  // namespace memsweep::trace
