#include "core/trace/counts.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp

#include "core/trace/format/count_layout.hpp"
#include "core/trace/unseen_blocks.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep;
using namespace memsweep::trace;
using Catch::Matchers::Contains;

namespace {

class TempFolder {
  public:
    TempFolder() { REQUIRE(::mkdtemp(path_.data()) != nullptr); }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    ~TempFolder() { std::filesystem::remove_all(path_); }
    [[nodiscard]] std::filesystem::path path() const { return path_; }

  private:
    std::string path_{std::filesystem::temp_directory_path() / "memsweep_counts.XXXXXX"};
};

void write_image(const std::filesystem::path& path, std::uint64_t allocations, std::uint64_t peak, std::uint64_t end,
                 bool is_foreign = false)
{
    CountFile image{.magic = count_magic, .foreign_malloc = is_foreign ? 1U : 0U};
    image.live_bytes = end;
    image.live_bytes_peak = peak;
    image.shards[0] = {allocations, 100 * allocations};
    image.shards[63] = {1, 10};
    std::ofstream{path, std::ios::binary}.write(reinterpret_cast<const char*>(&image), sizeof image);
}

}  // namespace

TEST_CASE("calls and bytes of all processes are summed, and the peak is the largest of one", "[unit]")
{
    const TempFolder folder;
    write_image(folder.path() / "10.0.count", 5, 700, 20);
    write_image(folder.path() / "11.0.count", 7, 900, 1);
    std::ofstream{folder.path() / "12.0.count"} << "died early";
    const auto counts = take_counts(folder.path());
    REQUIRE(counts);
    CHECK(counts->counts.images == 2);
    CHECK(counts->counts.allocations == 14);
    CHECK(counts->counts.allocated_bytes == 1220);
    CHECK(counts->counts.live_bytes_peak == 900);
    CHECK(counts->counts.live_bytes_end == 21);
    CHECK(counts->whole());
    CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("where nothing was counted, the reason is said", "[unit]")
{
    const TempFolder folder;
    CHECK_THAT(take_counts(folder.path())->whole().error().message, Contains("statically linked"));
    write_image(folder.path() / "10.0.count", 0, 0, 0, true);
    CHECK_THAT(take_counts(folder.path())->whole().error().message, Contains("its own malloc"));
    std::filesystem::create_symlink("28", folder.path() / "9.0.refused");
    CHECK_THAT(take_counts(folder.path())->whole().error().message, Contains("no room"));
    CHECK_FALSE(take_counts((folder.path() / "absent").string()));
}

TEST_CASE("a count that cannot be the program's is none", "[unit]")
{
    const TempFolder folder;
    const auto write = [&](std::uint64_t heap_pages, std::uint64_t peak) {
        CountFile image{.magic = count_magic, .heap_pages_bytes = heap_pages};
        image.live_bytes_peak = peak;
        image.shards[0] = {3, peak};
        std::ofstream{folder.path() / "10.0.count", std::ios::binary}.write(reinterpret_cast<const char*>(&image),
                                                                            sizeof image);
    };
    constexpr std::uint64_t mib = 1U << 20U;
    write(64 * mib, mib);
    CHECK_THAT(take_counts(folder.path())->whole().error().message,
               Contains("held 64.0 MiB") && Contains("1.00 MiB of blocks"));
    write(64 * mib, 40 * mib);
    CHECK(take_counts(folder.path())->whole());
}

TEST_CASE("pages that blocks, rounding and headers explain hide none", "[unit]")
{
    constexpr std::uint64_t mib = 1U << 20U;
    CHECK(has_unseen_blocks(50 * mib, 70'000, 70'000, 2));
    CHECK_FALSE(has_unseen_blocks(0, 0, 0, 0));
    CHECK_FALSE(has_unseen_blocks(4 * mib, 0, 0, 0));
    CHECK_FALSE(has_unseen_blocks(100 * mib, 50 * mib, 50 * mib, 2));
    CHECK_FALSE(has_unseen_blocks(64 * mib, 2 * mib, 2 * mib, 2 * mib));      // of one byte each
    CHECK_FALSE(has_unseen_blocks(100 * mib, 40 * mib, 110 * mib, 100'000));  // holes
    CHECK(has_unseen_blocks(500 * mib, 40 * mib, 110 * mib, 100'000));
}
