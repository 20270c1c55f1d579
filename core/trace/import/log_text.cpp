#include "core/trace/import/log_text.hpp"

#include <algorithm>
#include <cstring>

namespace memsweep::trace {
namespace {

constexpr std::size_t longest_line = 16 << 20;

}  // namespace

ReadMore log_from_memory(std::string_view bytes)
{
    return [bytes, at = std::size_t{0}](std::span<char> into) mutable -> base::Expected<std::size_t> {
        const std::size_t count = std::min(into.size(), bytes.size() - at);
        std::copy_n(bytes.data() + at, count, into.data());
        at += count;
        return count;
    };
}

// False at the end, and where the buffer is as large as it may get.
bool LogText::fill()
{
    if (begin_ != 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    if (end_ == buffer_.size()) {
        if (buffer_.size() >= longest_line) {
            return false;
        }
        buffer_.resize(buffer_.size() * 2);
    }
    if (ended_) {
        return false;
    }
    const auto got = source_({buffer_.data() + end_, buffer_.size() - end_});
    if (!got) {
        failure_ = got.error();
    }
    ended_ = !got || *got == 0;
    end_ += got.value_or(0);
    return !ended_;
}

std::string_view LogText::peek(std::size_t bytes)
{
    while (end_ - begin_ < bytes && fill()) {
    }
    return rest().substr(0, bytes);
}

bool LogText::line(std::string_view& line)
{
    std::size_t searched = 0;
    for (;;) {
        const std::string_view text = rest();
        const std::size_t found = text.find('\n', searched);
        searched = text.size();
        if (found != std::string_view::npos || !fill()) {
            const std::string_view all = rest();
            if (found == std::string_view::npos && all.empty()) {
                return false;
            }
            line = all.substr(0, found);
            begin_ += std::min(line.size() + 1, all.size());
            line = !line.empty() && line.back() == '\r' ? line.substr(0, line.size() - 1) : line;
            ++line_number_;
            return true;
        }
    }
}

std::string_view LogText::bytes(std::size_t count)
{
    const std::string_view found = peek(count);
    begin_ += found.size();
    return found;
}

}  // namespace memsweep::trace
