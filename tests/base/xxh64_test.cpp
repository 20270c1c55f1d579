#include "core/base/xxh64.hpp"

#include <string>

#include "tests/support/catch.hpp"

using memsweep::base::Xxh64;

namespace {

std::uint64_t hash_of(std::string_view text, std::size_t piece)
{
    Xxh64 hash;
    for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
        hash.add(text.substr(0, piece));
    }
    return hash.digest();
}

}  // namespace

// As `printf %s TEXT | xxhsum -H64` prints them.
TEST_CASE("XXH64 is that of xxhsum", "[unit]")
{
    CHECK(hash_of("", 1) == 0xEF46DB3751D8E999);
    CHECK(hash_of("a", 1) == 0xD24EC4F1A98C6E5B);
    CHECK(hash_of("abc", 3) == 0x44BC2CF5AD770999);
    CHECK(hash_of("Nobody inspects the spammish repetition", 64) == 0xFBCEA83C8A378BF1);
}

TEST_CASE("XXH64 does not depend on the pieces", "[unit]")
{
    std::string text;
    for (int i = 0; i < 1000; ++i) {
        text += static_cast<char>(i * 37);
    }
    for (const std::size_t piece :
         {std::size_t{1}, std::size_t{7}, std::size_t{31}, std::size_t{32}, std::size_t{33}}) {
        CHECK(hash_of(text, piece) == hash_of(text, text.size()));
    }
}
