// The first sentence of an explanation.
#include "reporters/document/explanation.hpp"

#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

constexpr std::uint64_t one_mib = 1U << 20U;

std::string first_words(measure::MemoryVerdict verdict, std::uint64_t live_mib, std::uint64_t unreachable_mib)
{
    Explanation one;
    one.ledger.categories.at(static_cast<std::size_t>(measure::MemoryCategory::live)).bytes = live_mib * one_mib;
    one.ledger.live_requested = live_mib * one_mib;
    one.unreachable_bytes = unreachable_mib * one_mib;
    one.verdict = std::move(verdict);
    return headlines_of(one).front();
}

}  // namespace

TEST_CASE("explanation: a leak says whether it went on all the time", "[unit]")
{
    using measure::MemoryWord;
    CHECK(first_words({.word = MemoryWord::leak, .bytes = 3 * one_mib, .is_throughout = true}, 4, 3) ==
          "Leak: 3.00 MiB were left behind all the time, and nothing points to them any more.");
    CHECK(first_words({.word = MemoryWord::leak, .bytes = 3 * one_mib}, 4, 3) ==
          "Leak: 3.00 MiB were lost, and nothing points to them any more.");
}

TEST_CASE("explanation: without a leak, how much nothing points to is said where it is much", "[unit]")
{
    const measure::MemoryVerdict in_use{.word = measure::MemoryWord::in_use, .bytes = 20 * one_mib};
    const std::string plain = "In use: 20.0 MiB of 20.0 MiB are live blocks and the program's data.";
    CHECK(first_words(in_use, 20, 0) == plain);
    CHECK(first_words(in_use, 20, 3) == plain);
    CHECK(first_words(in_use, 20, 19) == plain + " No pointer to 19.0 MiB of what is live was found.");
}

}  // namespace memsweep::reporters
