#include "core/trace/counts.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include "core/trace/format/count_layout.hpp"
#include "core/trace/format/recording_layout.hpp"

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
    std::vector<fs::path> taken;
    std::error_code problem;
    for (fs::directory_iterator at{folder, problem}; !problem && at != fs::directory_iterator{};
         at.increment(problem)) {
        const fs::path& path = at->path();
        if (path.extension() == count_ending) {
            if (const auto image = read_count_file(path)) {
                add_image(*image, counts);
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
    return counts;
}

}  // namespace memsweep::trace
