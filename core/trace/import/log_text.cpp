#include "core/trace/import/log_text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/sys/descriptor.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/output_file.hpp"
#include "core/trace/bounds.hpp"

namespace memsweep::trace {
namespace {

constexpr std::uint64_t max_padding_bytes = 64 << 20;
constexpr int max_layers = 4;  // layers of compression
// The largest windows of zstd: as its levels use them (128 MiB with --ultra -22). Within another layer, where memory
// adds up, as its usual levels use them (level 19).
constexpr int max_window_log = 27;
constexpr int max_inner_window_log = 23;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Compressed bytes on their way into a decompressor.
struct Compressed {
    ReadMore source;
    std::string name;
    std::vector<char> piece;
    const char* kind{};  // "gzip"
    bool is_inner{};     // it lies within other compressed data
    std::size_t at{};
    std::size_t end{};
    std::uint64_t padding_bytes{};

    // Whether there are more bytes. They may end between two members or frames, where zeroes are padding.
    base::Expected<bool> refill(bool between)
    {
        for (;;) {
            while (between && at != end && piece[at] == '\0') {
                ++at;
                ++padding_bytes;
            }
            if (padding_bytes > max_padding_bytes) {
                return base::fail(
                    base::ErrorCode::invalid_input,
                    fmt::format("more than {} of zeroes behind the {} data", base::exact_size(max_padding_bytes), kind),
                    name);
            }
            if (at != end) {
                return true;
            }
            end = MEMSWEEP_TRY(source(piece));
            at = 0;
            if (end == 0) {
                return between ? base::Expected<bool>{false} : damaged();
            }
        }
    }
    [[nodiscard]] tl::unexpected<base::Error> damaged() const
    {
        return base::fail(base::ErrorCode::invalid_input, std::string{"the "} + kind + " data is damaged or cut off",
                          name);
    }
};

struct Gzip {
    explicit Gzip(Compressed from) : input{std::move(from)} { ready = inflateInit2(&stream, 15 + 16) == Z_OK; }
    Gzip(const Gzip&) = delete;
    Gzip& operator=(const Gzip&) = delete;
    ~Gzip() { inflateEnd(&stream); }

    base::Expected<std::size_t> read(std::span<char> into)
    {
        stream.next_out = reinterpret_cast<Bytef*>(into.data());
        stream.avail_out = static_cast<uInt>(into.size());
        while (ready && stream.avail_out == into.size()) {
            if (!MEMSWEEP_TRY(input.refill(between_members))) {
                return 0;
            }
            stream.next_in = reinterpret_cast<Bytef*>(input.piece.data() + input.at);
            stream.avail_in = static_cast<uInt>(input.end - input.at);
            const int state = inflate(&stream, Z_NO_FLUSH);
            input.at = input.end - stream.avail_in;
            between_members = state == Z_STREAM_END;
            if (state == Z_STREAM_END) {
                inflateReset(&stream);
            } else if (state != Z_OK && state != Z_BUF_ERROR) {
                return input.damaged();
            }
        }
        return into.size() - stream.avail_out;
    }

    Compressed input;
    z_stream stream{};
    bool ready{};
    bool between_members{};
};

struct Zstd {
    explicit Zstd(Compressed from) : input{std::move(from)}
    {
        if (stream == nullptr) {
            throw std::bad_alloc{};
        }
        ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax,
                               input.is_inner ? max_inner_window_log : max_window_log);
    }
    struct Free {
        void operator()(ZSTD_DStream* made) const { ZSTD_freeDStream(made); }
    };

    base::Expected<std::size_t> read(std::span<char> into)
    {
        ZSTD_outBuffer out{into.data(), into.size(), 0};
        while (out.pos == 0) {
            if (!MEMSWEEP_TRY(input.refill(left == 0))) {
                return 0;
            }
            ZSTD_inBuffer in{input.piece.data(), input.end, input.at};
            left = ZSTD_decompressStream(stream.get(), &out, &in);
            input.at = in.pos;
            if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation) {
                throw std::bad_alloc{};
            }
            if (ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge) {
                return base::fail(base::ErrorCode::invalid_input,
                                  fmt::format("the zstd data needs a window of more than {} MiB: decompress it first",
                                              1U << static_cast<unsigned>(
                                                  (input.is_inner ? max_inner_window_log : max_window_log) - 20)),
                                  input.name);
            }
            if (ZSTD_isError(left) != 0U) {
                return input.damaged();
            }
        }
        return out.pos;
    }

    Compressed input;
    std::unique_ptr<ZSTD_DStream, Free> stream{ZSTD_createDStream()};
    std::size_t left{1};
};

// What comes out of a layer is bounded by the bytes of the file, so that layers do not multiply.
template <typename Decompressor>
ReadMore through(Compressed input, std::shared_ptr<const std::uint64_t> file_bytes)
{
    return [state = std::make_shared<Decompressor>(std::move(input)), file_bytes = std::move(file_bytes),
            made = std::uint64_t{0}](std::span<char> into) mutable -> base::Expected<std::size_t> {
        const std::size_t got = MEMSWEEP_TRY(state->read(into));
        made += got;
        if (made > most_decompressed(*file_bytes)) {
            return base::fail(base::ErrorCode::invalid_input,
                              fmt::format("{} of {} become more than {}: decompress it first, and import that if it is "
                                          "meant",
                                          base::format_size(*file_bytes), state->input.kind,
                                          base::format_size(most_decompressed(*file_bytes))),
                              state->input.name);
        }
        return got;
    };
}

base::Expected<ReadMore> without_layers(ReadMore source, const std::string& name, std::size_t piece_bytes, int layers,
                                        const std::shared_ptr<const std::uint64_t>& file_bytes)
{
    Compressed input{
        .source = std::move(source), .name = name, .piece = std::vector<char>(piece_bytes), .is_inner = layers != 0};
    while (input.end < 4) {
        const std::size_t got =
            MEMSWEEP_TRY(input.source({input.piece.data() + input.end, input.piece.size() - input.end}));
        if (got == 0) {
            break;
        }
        input.end += got;
    }
    const std::string_view head{input.piece.data(), input.end};
    const auto within = [&](ReadMore inner) -> base::Expected<ReadMore> {
        if (layers == max_layers) {
            return base::fail(base::ErrorCode::invalid_input, "compressed more than four times over", name);
        }
        return without_layers(std::move(inner), name, piece_bytes, layers + 1, file_bytes);
    };
    if (head.starts_with("\x1F\x8B")) {
        input.kind = "gzip";
        return within(through<Gzip>(std::move(input), file_bytes));
    }
    if (head.starts_with("\x28\xB5\x2F\xFD")) {
        input.kind = "zstd";
        return within(through<Zstd>(std::move(input), file_bytes));
    }
    return
        [plain = std::make_shared<Compressed>(std::move(input))](std::span<char> into) -> base::Expected<std::size_t> {
            if (plain->at == plain->end) {
                return plain->source(into);
            }
            const std::size_t count = std::min(into.size(), plain->end - plain->at);
            std::copy_n(plain->piece.data() + plain->at, count, into.data());
            plain->at += count;
            return count;
        };
}

}  // namespace

base::Expected<LogSource> decompressed(ReadMore source, const std::string& name, std::size_t piece_bytes)
{
    const auto file_bytes = std::make_shared<std::uint64_t>(0);
    ReadMore counted = [source = std::move(source), file_bytes](std::span<char> into) -> base::Expected<std::size_t> {
        const std::size_t got = MEMSWEEP_TRY(source(into));
        *file_bytes += got;
        return got;
    };
    ReadMore plain = MEMSWEEP_TRY(without_layers(std::move(counted), name, piece_bytes, 0, file_bytes));
    return LogSource{std::move(plain), file_bytes, name};
}

base::Expected<LogSource> open_log(const std::string& path)
{
    const auto file = std::make_shared<sys::UniqueFd>(MEMSWEEP_TRY(sys::open_input(path)));
    return decompressed(
        [file, path](std::span<char> into) -> base::Expected<std::size_t> {
            const ssize_t got = sys::retry_interrupted([&] { return ::read(file->get(), into.data(), into.size()); });
            if (got < 0) {
                return base::fail(sys::io_error("cannot read", errno, path));
            }
            return static_cast<std::size_t>(got);
        },
        path);
}

ReadMore log_from_memory(std::string_view bytes)
{
    return [bytes, at = std::size_t{0}](std::span<char> into) mutable -> base::Expected<std::size_t> {
        const std::size_t count = std::min(into.size(), bytes.size() - at);
        std::copy_n(bytes.data() + at, count, into.data());
        at += count;
        return count;
    };
}

bool LogText::fill()
{
    const bool more = read_more();
    if (!begun_ && more && end_ < byte_order_mark.size()) {
        return true;  // too few bytes to tell
    }
    if (!begun_) {
        begun_ = true;
        begin_ = rest().starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
    }
    return more;
}

// False at the end, and if the buffer is as large as it may become.
bool LogText::read_more()
{
    if (begin_ != 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    if (end_ == buffer_.size()) {
        if (buffer_.size() >= max_line_bytes) {
            return false;
        }
        buffer_.resize(std::min(buffer_.size() * 2, max_line_bytes));
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
    if (line_end_ == LineEnd::too_long) {
        return false;
    }
    std::size_t searched = 0;
    for (;;) {
        const std::string_view text = rest();
        const std::size_t found = begun_ ? text.find('\n', searched) : std::string_view::npos;
        searched = text.size();
        if (found != std::string_view::npos || !fill()) {
            const std::string_view all = rest();
            if (found == std::string_view::npos && all.empty()) {
                return false;
            }
            line = all.substr(0, found);
            begin_ += std::min(line.size() + 1, all.size());
            const bool returns = !line.empty() && line.back() == '\r';
            line_end_ = found != std::string_view::npos || (ended_ && returns) ? LineEnd::newline
                        : ended_                                               ? LineEnd::end_of_log
                                                                               : LineEnd::too_long;
            line = returns ? line.substr(0, line.size() - 1) : line;
            ++line_number_;
            return true;
        }
        searched = std::min(searched, rest().size());
    }
}

std::uint64_t LogText::most_held() const
{
    return file_bytes_ == nullptr ? std::numeric_limits<std::uint64_t>::max() : most_held_by_log(*file_bytes_);
}

bool LogText::may_hold(std::uint64_t things)
{
    if (file_bytes_ == nullptr || things <= most_held_by_log(*file_bytes_)) {
        return true;
    }
    if (failure_) {
        return false;
    }
    failure_ = base::Error{base::ErrorCode::invalid_input,
                           fmt::format("{} of the file would need room for {} blocks, threads and values and more: "
                                       "decompress it first, and import that if it is meant",
                                       base::format_size(*file_bytes_), things),
                           name_};
    ended_ = true;
    begin_ = end_;
    return false;
}

std::string_view LogText::bytes(std::size_t count)
{
    const std::string_view found = peek(count);
    begin_ += found.size();
    return found;
}

bool has_line_with(std::string_view head, std::string_view begin, std::string_view text)
{
    while (!head.empty()) {
        const std::string_view line = take_until(head, '\n');
        if (line.starts_with(begin) && line.find(text) != std::string_view::npos) {
            return true;
        }
    }
    return false;
}

}  // namespace memsweep::trace
