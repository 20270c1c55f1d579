// XXH64 of bytes that come in pieces: told apart at the speed of memory, and as `xxhsum -H64` prints it. No protection
// against whoever wants two texts to look alike.
//
// Sources  xxHash fast digest algorithm, XXH64, version 0.1.1; seed 0.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace memsweep::base {

static_assert(std::endian::native == std::endian::little, "words are read as they lie");

class Xxh64 {
  public:
    void add(std::string_view bytes) noexcept
    {
        total_ += bytes.size();
        if (held_ != 0) {
            const std::size_t taken = std::min(bytes.size(), block_bytes - held_);
            std::memcpy(block_.data() + held_, bytes.data(), taken);
            held_ += taken;
            bytes.remove_prefix(taken);
            if (held_ < block_bytes) {
                return;
            }
            mix(block_.data());
            held_ = 0;
        }
        for (; bytes.size() >= block_bytes; bytes.remove_prefix(block_bytes)) {
            mix(bytes.data());
        }
        std::memcpy(block_.data(), bytes.data(), bytes.size());
        held_ = bytes.size();
    }

    [[nodiscard]] std::uint64_t digest() const noexcept
    {
        std::uint64_t hash = prime5;
        if (total_ >= block_bytes) {
            hash =
                std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
            for (const std::uint64_t lane : lanes_) {
                hash = (hash ^ round(0, lane)) * prime1 + prime4;
            }
        }
        hash += total_;
        const char* at = block_.data();
        const char* const end = at + held_;
        for (; end - at >= 8; at += 8) {
            hash = std::rotl(hash ^ round(0, word<std::uint64_t>(at)), 27) * prime1 + prime4;
        }
        for (; end - at >= 4; at += 4) {
            hash = std::rotl(hash ^ (word<std::uint32_t>(at) * prime1), 23) * prime2 + prime3;
        }
        for (; at != end; ++at) {
            hash = std::rotl(hash ^ (static_cast<unsigned char>(*at) * prime5), 11) * prime1;
        }
        hash = (hash ^ (hash >> 33)) * prime2;
        hash = (hash ^ (hash >> 29)) * prime3;
        return hash ^ (hash >> 32);
    }

  private:
    static constexpr std::size_t block_bytes = 32;
    static constexpr std::uint64_t prime1 = 0x9E3779B185EBCA87;
    static constexpr std::uint64_t prime2 = 0xC2B2AE3D27D4EB4F;
    static constexpr std::uint64_t prime3 = 0x165667B19E3779F9;
    static constexpr std::uint64_t prime4 = 0x85EBCA77C2B2AE63;
    static constexpr std::uint64_t prime5 = 0x27D4EB2F165667C5;

    template <typename Word>
    static std::uint64_t word(const char* at) noexcept
    {
        Word value{};
        std::memcpy(&value, at, sizeof value);
        return value;
    }

    static std::uint64_t round(std::uint64_t lane, std::uint64_t input) noexcept
    {
        return std::rotl(lane + input * prime2, 31) * prime1;
    }

    void mix(const char* block) noexcept
    {
        for (std::size_t i = 0; i < lanes_.size(); ++i) {
            lanes_[i] = round(lanes_[i], word<std::uint64_t>(block + i * sizeof(std::uint64_t)));
        }
    }

    std::array<std::uint64_t, 4> lanes_{prime1 + prime2, prime2, 0, 0 - prime1};
    std::array<char, block_bytes> block_{};
    std::size_t held_{};  // in the block
    std::uint64_t total_{};
};

}  // namespace memsweep::base
