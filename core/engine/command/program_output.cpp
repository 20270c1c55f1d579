#include "core/engine/command/program_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#define XXH_INLINE_ALL  // NOLINT(readability-identifier-naming): the name is xxhash.h's
#include <xxhash.h>

#include "core/base/printable.hpp"

namespace memsweep::engine {
namespace {

constexpr std::size_t last_words_bytes = 2048;
constexpr std::size_t last_lines = 3;

}  // namespace

base::Expected<void> Drain::open(int wanted_bytes)
{
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return base::fail(base::os_error("pipe", errno));
    }
    read_end_.reset(ends[0]);
    write_end_.reset(ends[1]);
    ::fcntl(read_end_.get(), F_SETFL, O_NONBLOCK);
    if (wanted_bytes != 0) {
        ::fcntl(read_end_.get(), F_SETPIPE_SZ, wanted_bytes);
    }
    return {};
}

void Drain::read_some()
{
    static std::array<char, std::size_t{64} * 1024> buffer;  // as much as a pipe holds, unless told
    const ssize_t got = sys::retry_interrupted([&] { return ::read(read_end_.get(), buffer.data(), buffer.size()); });
    if (got > 0) {
        take({buffer.data(), static_cast<std::size_t>(got)});
        if (listener_) {
            listener_({buffer.data(), static_cast<std::size_t>(got)});
        }
    } else if (got == 0 || errno != EAGAIN) {
        read_end_.reset();
    }
}

void Drain::read_all()
{
    for (std::array<pollfd, 1> ready{{{fd(), POLLIN, 0}}}; fd() >= 0 && ::poll(ready.data(), 1, 0) > 0;) {
        read_some();
    }
}

std::string LastWords::text() const
{
    std::string_view rest{kept_};
    rest = rest.substr(0, rest.find_last_not_of(" \t\r\n") + 1);
    std::string text;
    for (std::size_t line = 0; line < last_lines && !rest.empty(); ++line) {
        const std::size_t begin = rest.rfind('\n') + 1;
        std::string words = base::printable(rest.substr(begin));
        words.append(text.empty() ? "" : " | ").append(text);
        text = std::move(words);
        rest = rest.substr(0, begin == 0 ? 0 : begin - 1);
    }
    return text;
}

void LastWords::take(std::string_view bytes)
{
    kept_ += bytes.substr(bytes.size() - std::min(bytes.size(), last_words_bytes));
    if (kept_.size() > last_words_bytes) {
        kept_.erase(0, kept_.size() - last_words_bytes);
    }
}

struct Checksum::State {
    XXH64_state_t hash;
};

Checksum::Checksum() : state_{std::make_unique<State>()}
{
    XXH64_reset(&state_->hash, 0);
}

Checksum::~Checksum() = default;

std::string Checksum::text() const
{
    return fmt::format("xxh64:{:016x}", XXH64_digest(&state_->hash));
}

void Checksum::take(std::string_view bytes)
{
    XXH64_update(&state_->hash, bytes.data(), bytes.size());
}

}  // namespace memsweep::engine
