#include "reporters/ci/stack_export.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <zlib.h>

#include "core/base/assert.hpp"
#include "core/trace/format/varint.hpp"
#include "core/trace/symbols/call_tree.hpp"
#include "core/trace/symbols/object_symbols.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::reporters {
namespace {

// A message of Protocol Buffers: fields by their numbers.
class ProtoMessage {
  public:
    void number(unsigned field, std::uint64_t value)
    {
        if (value != 0) {  // which is what an absent number is
            put(std::uint64_t{field} << 3U);
            put(value);
        }
    }
    void bytes(unsigned field, std::string_view value)
    {
        put(std::uint64_t{field} << 3U | 2U);
        put(value.size());
        text_ += value;
    }
    void message(unsigned field, const ProtoMessage& value) { bytes(field, value.text_); }
    void numbers(unsigned field, const auto& values)
    {
        ProtoMessage packed;
        for (const std::uint64_t value : values) {
            packed.put(value);
        }
        bytes(field, packed.text_);
    }
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

  private:
    void put(std::uint64_t value)
    {
        std::uint8_t digits[trace::max_varint_bytes];
        const std::uint8_t* const end = trace::put_varint(digits, value);
        text_.append(reinterpret_cast<const char*>(digits), static_cast<std::size_t>(end - digits));
    }

    std::string text_;
};

// Field numbers of profile.proto.
namespace profile_field {
constexpr unsigned sample_type = 1;
constexpr unsigned sample = 2;
constexpr unsigned mapping = 3;
constexpr unsigned location = 4;
constexpr unsigned function = 5;
constexpr unsigned string_table = 6;
constexpr unsigned time_nanos = 9;
constexpr unsigned comment = 13;
constexpr unsigned default_sample_type = 14;
}  // namespace profile_field

class PprofProfile {
  public:
    explicit PprofProfile(const StackFigures& figures) : figures_{&figures}
    {
        static_cast<void>(text(""));  // the first of the table, by the format
        for (const auto& [type, unit] : sample_types) {
            ProtoMessage message;
            message.number(1, text(type));
            message.number(2, text(unit));
            profile_.message(profile_field::sample_type, message);
        }
        const std::vector<trace::AllocationFigures>& all = figures.counted->of;
        for (std::uint32_t node = 0; node < all.size(); ++node) {
            add_sample(node, all[node]);
        }
        profile_.number(profile_field::time_nanos, figures.start_unix_ns);
        if (!figures.command.empty()) {
            profile_.number(profile_field::comment, text(figures.command));
        }
        profile_.number(profile_field::default_sample_type, text("peak_space"));
        for (const std::string& one : texts_) {
            profile_.bytes(profile_field::string_table, one);
        }
    }
    [[nodiscard]] const std::string& bytes() const noexcept { return profile_.text(); }

  private:
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> sample_types{
        {{"alloc_objects", "count"},
         {"alloc_space", "bytes"},
         {"peak_objects", "count"},
         {"peak_space", "bytes"},
         {"inuse_objects", "count"},
         {"inuse_space", "bytes"},
         {"temporary_objects", "count"}}};

    void add_sample(std::uint32_t node, const trace::AllocationFigures& has)
    {
        if (has == trace::AllocationFigures{}) {
            return;
        }
        std::vector<std::uint64_t> locations;
        for (; node != 0 && locations.size() < trace::most_frames_shown; node = figures_->table->node(node).parent) {
            locations.push_back(location(node));
        }
        ProtoMessage sample;
        sample.numbers(1, locations);
        sample.numbers(2, std::array{has.allocations, has.bytes_allocated, has.peak_blocks, has.peak_bytes,
                                     has.end_blocks, has.end_bytes, has.temporary});
        profile_.message(profile_field::sample, sample);
    }

    // Frames of one address in one image are one location.
    std::uint64_t location(std::uint32_t node)
    {
        const auto frames = figures_->symbolizer->at(node);
        const auto [place, is_new] = locations_.try_emplace(frames.data(), locations_.size() + 1);
        if (is_new) {
            ProtoMessage message;
            message.number(1, place->second);
            message.number(2, mapping(frames.front().module));
            message.number(3, figures_->table->node(node).address);
            for (const trace::ResolvedFrame& frame : frames) {
                ProtoMessage line;
                line.number(1, function(frame));
                line.number(2, frame.line);
                message.message(4, line);
            }
            profile_.message(profile_field::location, message);
        }
        return place->second;
    }

    std::uint64_t mapping(std::string_view module)
    {
        if (module.empty()) {
            return 0;
        }
        const auto [place, is_new] = mappings_.try_emplace(module, mappings_.size() + 1);
        if (is_new) {
            ProtoMessage message;
            message.number(1, place->second);
            message.number(5, text(module));
            for (const unsigned has :
                 {7U, 8U, 9U, 10U}) {  // functions, files, lines, inlined frames: nothing is left to do
                message.number(has, 1);
            }
            profile_.message(profile_field::mapping, message);
        }
        return place->second;
    }

    std::uint64_t function(const trace::ResolvedFrame& frame)
    {
        const auto [place, is_new] = functions_.try_emplace({frame.function, frame.file}, functions_.size() + 1);
        if (is_new) {
            ProtoMessage message;
            message.number(1, place->second);
            message.number(2, text(frame.function));
            message.number(3, text(frame.function));
            message.number(4, text(frame.file));
            profile_.message(profile_field::function, message);
        }
        return place->second;
    }

    std::uint64_t text(std::string_view value)
    {
        const auto [place, is_new] = numbers_.try_emplace(repaired_utf8(value), texts_.size());
        if (is_new) {
            texts_.push_back(place->first);
        }
        return place->second;
    }

    const StackFigures* figures_;
    ProtoMessage profile_;
    std::map<const trace::ResolvedFrame*, std::uint64_t> locations_;
    std::map<std::string_view, std::uint64_t> mappings_;
    std::map<std::pair<std::string_view, std::string_view>, std::uint64_t> functions_;
    std::map<std::string, std::uint64_t> numbers_;
    std::vector<std::string> texts_;
};

// A member of gzip.
class GzipSink {
  public:
    explicit GzipSink(TextSink& sink) : sink_{&sink}
    {
        constexpr int gzip = 16;
        constexpr int usual_memory = 8;
        const int opened = ::deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + gzip, usual_memory,
                                          Z_DEFAULT_STRATEGY);
        MEMSWEEP_ASSERT(opened == Z_OK, "zlib has memory for its window");
    }
    ~GzipSink() { ::deflateEnd(&stream_); }
    GzipSink(const GzipSink&) = delete;
    GzipSink& operator=(const GzipSink&) = delete;

    void add_all(std::string text)
    {
        constexpr std::size_t at_once = 1 << 20;
        std::array<unsigned char, 64 << 10> room{};
        for (std::size_t at = 0; at < text.size() || at == 0; at += at_once) {
            const std::size_t count = std::min(at_once, text.size() - at);
            stream_.next_in = reinterpret_cast<Bytef*>(text.data() + at);
            stream_.avail_in = static_cast<uInt>(count);
            const int flush = at + count == text.size() ? Z_FINISH : Z_NO_FLUSH;
            do {
                stream_.next_out = room.data();
                stream_.avail_out = static_cast<uInt>(room.size());
                ::deflate(&stream_, flush);
                sink_->add({reinterpret_cast<const char*>(room.data()), room.size() - stream_.avail_out});
            } while (stream_.avail_out == 0);
        }
    }

  private:
    TextSink* sink_;
    z_stream stream_{};
};

// A name within a line: a semicolon would be a caller's end, and a line's end the stack's.
std::string folded_name(std::string_view function)
{
    std::string name = inert_text(function);
    std::ranges::replace(name, ';', ':');
    return name;
}

}  // namespace

void export_pprof(const StackFigures& figures, TextSink& sink)
{
    GzipSink{sink}.add_all(PprofProfile{figures}.bytes());
}

void export_collapsed(const StackFigures& figures, trace::SiteOrder weight, TextSink& sink)
{
    const trace::CallTree tree{*figures.table, *figures.symbolizer, figures.counted->of};
    const auto& nodes = tree.nodes();
    std::vector<std::uint32_t> path;
    for (std::uint32_t node = 0; node < nodes.size(); ++node) {
        const std::uint64_t value = trace::figure_of(nodes[node].own, weight);
        if (value == 0) {
            continue;
        }
        path.clear();
        for (std::uint32_t at = node; at != 0; at = nodes[at].parent) {
            path.push_back(at);
        }
        if (path.empty()) {
            sink.add("[no stack]");
        }
        for (std::size_t i = path.size(); i-- > 0;) {
            sink.add(folded_name(nodes[path[i]].frame.function));
            sink.add(i == 0 ? "" : ";");
        }
        sink.print(" {}\n", value);
    }
}

}  // namespace memsweep::reporters
