#include "core/trace/counts.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/printable.hpp"
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

std::uint64_t sum_of(const CountFile& image, std::uint64_t CountShard::*count)
{
    return std::accumulate(image.shards.begin(), image.shards.end(), std::uint64_t{},
                           [count](std::uint64_t sum, const CountShard& shard) { return sum + shard.*count; });
}

bool is_mostly_unseen(const CountFile& image)
{
    return image.foreign_malloc == 0 &&
           has_unseen_blocks(image.heap_pages_bytes, image.live_bytes_peak, sum_of(image, &CountShard::allocated_bytes),
                             sum_of(image, &CountShard::allocations));
}

// A count of a part would pass for a small one.
std::string why_unseen(const CountFile& image)
{
    return fmt::format(
        "a process of it held {} in pages of its heap, and {} of blocks were seen: it does not ask for them "
        "by malloc or new",
        base::format_size(image.heap_pages_bytes), base::format_size(image.live_bytes_peak));
}

std::string text_in(const char* text, std::size_t size)
{
    return {text, ::strnlen(text, size)};
}

void add_image(const CountFile& image, CountedTree& into)
{
    Counts& counts = into.counts;
    ++counts.images;
    for (const CountShard& shard : image.shards) {
        counts.allocations += shard.allocations;
        counts.allocated_bytes += shard.allocated_bytes;
    }
    counts.live_bytes_peak = std::max(counts.live_bytes_peak, image.live_bytes_peak);
    counts.live_bytes_end += image.live_bytes;
    into.refused += image.lost_blocks != 0 ? 1 : 0;
    const std::uint64_t limit = image.address_limit_bytes;
    if (limit != 0 && (into.address_limit_bytes == 0 || limit < into.address_limit_bytes)) {
        into.address_limit_bytes = limit;
    }
    into.why_unseen = is_mostly_unseen(image) ? why_unseen(image) : into.why_unseen;
    ServedProgram served{text_in(image.program, sizeof image.program), text_in(image.served_by, sizeof image.served_by),
                         image.foreign_malloc != 0};
    if (std::ranges::find(into.served, served) == into.served.end()) {
        into.served.push_back(std::move(served));
    }
}

}  // namespace

base::Expected<Counts> CountedTree::whole() const
{
    const auto refuse = [](std::string why) {
        return base::fail(base::ErrorCode::not_supported, "its allocations cannot be counted: " + std::move(why));
    };
    if (refused != 0) {
        return refuse("no room for the counters");
    }
    if (!unrecorded.empty()) {
        return refuse("without the counter ran " + describe(unrecorded));
    }
    if (const auto own = std::ranges::find(served, true, &ServedProgram::is_own); own != served.end()) {
        return refuse(own->program.empty() ? "it brings its own malloc"
                                           : base::printable(own->program) + " brings its own malloc");
    }
    if (!why_unseen.empty()) {
        return refuse(why_unseen);
    }
    if (not_noted != 0) {
        return refuse(fmt::format("it starts so many programs that nothing is known of {}", not_noted));
    }
    if (counts.images == 0) {
        return refuse("no process of it loaded the recorder (statically linked, or set-user-ID)");
    }
    return counts;
}

base::Expected<CountedTree> take_counts(const std::string& folder, const TreeLooks& looks)
{
    CountedTree tree;
    std::vector<ImageStart> starts;
    std::vector<fs::path> taken;
    std::error_code problem;
    for (fs::directory_iterator at{folder, problem}; !problem && at != fs::directory_iterator{};
         at.increment(problem)) {
        const fs::path& path = at->path();
        if (path.extension() == count_ending) {
            if (const auto image = read_count_file(path)) {
                add_image(*image, tree);
                starts.push_back({image->process, image->pid_namespace, image->start_nanoseconds});
            }
            taken.push_back(path);
        } else if (path.extension() == refusal_ending) {
            ++tree.refused;
            taken.push_back(path);
        }
    }
    if (problem) {
        return base::fail(base::ErrorCode::io, "cannot read: " + problem.message(), folder);
    }
    tree.unrecorded = unrecorded_programs(read_starts(folder, tree.not_noted), starts);
    looks.add_to(tree.unrecorded, starts);
    taken.emplace_back(starts_in(folder));
    for (const fs::path& path : taken) {
        fs::remove(path, problem);
    }
    return tree;
}

}  // namespace memsweep::trace
