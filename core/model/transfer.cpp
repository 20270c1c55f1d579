#include "core/model/transfer.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "core/base/text.hpp"

namespace memsweep::model {

namespace {

using base::Expected;

constexpr std::string_view spaces = " \t";

// A part of a text and where it begins there, so that what is wrong can be pointed at.
class Word {
  public:
    Word(std::string_view text, std::size_t first, std::size_t end) : text_{text}
    {
        first_ = std::min(text.find_first_not_of(spaces, first), end);
        const std::size_t last = end == 0 ? std::string_view::npos : text.find_last_not_of(spaces, end - 1);
        end_ = last == std::string_view::npos || last < first_ ? first_ : last + 1;
        at_ = first_;
    }

    [[nodiscard]] std::string_view all() const { return text_.substr(first_, end_ - first_); }
    [[nodiscard]] std::string_view rest() const { return text_.substr(at_, end_ - at_); }
    [[nodiscard]] bool at_end() const { return at_ == end_; }

    bool take(std::string_view prefix)
    {
        const bool found = rest().starts_with(prefix);
        at_ += found ? prefix.size() : 0;
        return found;
    }

    void skip(std::size_t characters) { at_ += characters; }

    // A number without sign.
    std::optional<std::uint32_t> take_number()
    {
        const std::string_view left = rest();
        std::uint32_t value{};
        const auto [end, problem] = std::from_chars(left.data(), left.data() + left.size(), value);
        if (problem != std::errc{}) {
            return std::nullopt;
        }
        at_ += static_cast<std::size_t>(end - left.data());
        return value;
    }

    // The error at the next character, which is the first that is wrong.
    [[nodiscard]] tl::unexpected<base::Error> wrong(const std::string& message) const
    {
        return base::fail(base::ErrorCode::invalid_input, fmt::format("character {}: {}", at_ + 1, message));
    }
    [[nodiscard]] tl::unexpected<base::Error> wrong_whole(const std::string& message) const
    {
        return base::fail(base::ErrorCode::invalid_input, fmt::format("character {}: {}", first_ + 1, message));
    }

  private:
    std::string_view text_;
    std::size_t first_{};
    std::size_t end_{};
    std::size_t at_{};
};

// "; did you mean ...?" of the letters that a word begins with; a semicolon where they are near to none of these.
std::string meant(std::string_view word, std::span<const std::string_view> known)
{
    const std::string_view letters = word.substr(0, word.find_first_of("0123456789:@. "));
    const std::string_view near = base::nearest(letters, known);
    return near.empty() || near == letters ? std::string{";"} : fmt::format("; did you mean \"{}\"?", near);
}

// Reads a device's number. False: it is neither a number nor *, which stands for every number.
bool take_device(Word& word, std::optional<std::uint32_t>& number)
{
    number = word.take_number();
    return number || word.take("*");
}

std::string device_word(std::optional<std::uint32_t> number)
{
    return number ? fmt::format("gpu{}", *number) : std::string{"gpu*"};
}

std::string numbered(std::string_view word, std::optional<std::uint32_t> number)
{
    return number ? fmt::format("{}{}", word, *number) : std::string{word};
}

tl::unexpected<base::Error> no_end(const Word& word)
{
    static constexpr std::array<std::string_view, 3> known{"null", "host", "gpu"};
    return word.wrong_whole(fmt::format("\"{}\" is no place{} write null, host, host:KIND@nodeN or gpuN", word.all(),
                                        meant(word.all(), known)));
}

Expected<HostKind> read_kind(Word& word)
{
    const std::string_view kind = word.rest().substr(0, word.rest().find('@'));
    const auto value = value_of<HostKind>(kind);
    if (!value) {
        const auto known = all_names<HostKind>();
        return word.wrong(fmt::format("\"{}\" is no kind of host memory{}", kind, base::suggestion(kind, known)));
    }
    word.skip(kind.size());
    return *value;
}

Expected<TransferEnd> read_end(Word word)
{
    TransferEnd end;
    if (word.take("rank")) {
        end.rank = word.take_number();
        if (!end.rank || !word.take(":")) {
            return no_end(word);
        }
    } else if (word.all() == "null") {
        return end;
    }
    if (word.take("gpu")) {
        end.kind = TransferEnd::Kind::device;
        return take_device(word, end.number) && word.at_end() ? Expected<TransferEnd>{end} : no_end(word);
    }
    if (!word.take("host")) {
        return no_end(word);
    }
    end.kind = TransferEnd::Kind::host;
    if (word.take(":")) {
        end.host = MEMSWEEP_TRY(read_kind(word));
    }
    if (word.take("@node")) {
        end.number = word.take_number();
        if (!end.number) {
            return no_end(word);
        }
    }
    return word.at_end() ? Expected<TransferEnd>{end} : no_end(word);
}

tl::unexpected<base::Error> no_mover(const Word& word)
{
    static constexpr std::array<std::string_view, 2> known{"cpu", "gpu"};
    return word.wrong_whole(fmt::format("\"{}\" moves nothing{} write cpu, cpuN, gpuN.ce or gpuN.sm", word.all(),
                                        meant(word.all(), known)));
}

Expected<Mover> read_mover(Word word)
{
    Mover mover;
    if (word.take("cpu")) {
        mover.number = word.take_number();
        return word.at_end() ? Expected<Mover>{mover} : no_mover(word);
    }
    if (!word.take("gpu")) {
        return no_mover(word);
    }
    if (!take_device(word, mover.number)) {
        return no_mover(word);
    }
    if (word.rest() == ".sm") {
        mover.kind = Mover::Kind::device_kernel;
        return mover;
    }
    if (!word.take(".ce")) {
        return no_mover(word);
    }
    mover.kind = Mover::Kind::copy_engine;
    mover.engine = word.take_number();
    return word.at_end() ? Expected<Mover>{mover} : no_mover(word);
}

bool is_device(const TransferEnd& end, std::optional<std::uint32_t> number)
{
    return end.kind == TransferEnd::Kind::device && end.number == number;
}

// What stands for MPI where none is named: the engine of a device at an end, else processors.
Mover mover_between_ranks(const TransferEnd& src, const TransferEnd& dst)
{
    const TransferEnd& device = src.kind == TransferEnd::Kind::device ? src : dst;
    return device.kind == TransferEnd::Kind::device ? Mover{.kind = Mover::Kind::copy_engine, .number = device.number}
                                                    : Mover{};
}

}  // namespace

Expected<TransferEnd> parse_end(std::string_view text)
{
    return read_end({text, 0, text.size()});
}

Expected<Mover> parse_mover(std::string_view text)
{
    return read_mover({text, 0, text.size()});
}

Expected<TransferSpec> parse_transfer(std::string_view text)
{
    constexpr std::string_view arrow = "->";
    const std::size_t first = text.find(arrow);
    const std::size_t second = first == std::string_view::npos ? first : text.find(arrow, first + arrow.size());
    if (first != std::string_view::npos && second == std::string_view::npos) {
        const auto src = read_end({text, 0, first});
        const auto dst = read_end({text, first + arrow.size(), text.size()});
        if (src && dst && src->rank && dst->rank) {
            return TransferSpec{*src, mover_between_ranks(*src, *dst), *dst};
        }
        if (text.find("rank") != std::string_view::npos) {
            MEMSWEEP_TRY(src);
            MEMSWEEP_TRY(dst);
        }
    }
    if (second == std::string_view::npos || text.find(arrow, second + arrow.size()) != std::string_view::npos) {
        return base::fail(
            base::ErrorCode::invalid_input,
            fmt::format("\"{}\" is no transfer; write SRC -> EXE -> DST, as in host@node0 -> cpu -> host@node0", text));
    }
    const TransferEnd src = MEMSWEEP_TRY(read_end({text, 0, first}));
    const Mover exe = MEMSWEEP_TRY(read_mover({text, first + arrow.size(), second}));
    const TransferEnd dst = MEMSWEEP_TRY(read_end({text, second + arrow.size(), text.size()}));
    const TransferSpec spec{src, exe, dst};
    if (std::string why = objection(spec); !why.empty()) {
        return base::fail(base::ErrorCode::invalid_input, std::move(why));
    }
    return spec;
}

std::string objection(const TransferSpec& spec)
{
    using Kind = TransferEnd::Kind;
    if (spec.src.kind == Kind::null && spec.dst.kind == Kind::null) {
        return "a transfer from null to null moves nothing";
    }
    const bool by_device = spec.exe.kind != Mover::Kind::processors;
    if (by_device && !is_device(spec.src, spec.exe.number) && !is_device(spec.dst, spec.exe.number)) {
        return fmt::format("{} moves what is at neither of its ends: one of them must be {}", to_text(spec.exe),
                           device_word(spec.exe.number));
    }
    const bool has_device = spec.src.kind == Kind::device || spec.dst.kind == Kind::device;
    if (!by_device && has_device) {
        return fmt::format("processors do not reach the memory of a device: write {} -> {}.ce -> {}", to_text(spec.src),
                           device_word((spec.src.kind == Kind::device ? spec.src : spec.dst).number),
                           to_text(spec.dst));
    }
    return {};
}

std::string rank_objection(const TransferSpec& spec, std::uint32_t ranks)
{
    if (!spec.src.rank || !spec.dst.rank) {
        return fmt::format("between ranks both ends name theirs, as in rank0:host -> rank1:host; this is {}",
                           to_text(spec));
    }
    if (names_each_device(spec)) {
        return fmt::format("between ranks a device has its number; this is {}", to_text(spec));
    }
    for (const std::uint32_t rank : {*spec.src.rank, *spec.dst.rank}) {
        if (rank >= ranks) {
            return fmt::format("there is no rank {}: of {} the last is rank {}", rank, ranks, ranks - 1);
        }
    }
    if (spec.src.rank == spec.dst.rank) {
        return fmt::format("both ends are rank {}: a transfer within one process names none", *spec.src.rank);
    }
    if (spec.exe.kind == Mover::Kind::processors && spec.exe.number) {
        return fmt::format("MPI moves what goes from rank to rank: write cpu, not {}", to_text(spec.exe));
    }
    return {};
}

bool is_met(const RankNeed& need, std::uint32_t ranks)
{
    return need.or_more ? ranks >= need.count : need.count == 0 || ranks == need.count;
}

std::string to_text(const RankNeed& need)
{
    return fmt::format("{}{} MPI ranks", need.count, need.or_more ? " or more" : "");
}

std::string to_text(const TransferEnd& end)
{
    const std::string rank = end.rank ? fmt::format("rank{}:", *end.rank) : std::string{};
    if (end.kind == TransferEnd::Kind::null) {
        return "null";
    }
    if (end.kind == TransferEnd::Kind::device) {
        return rank + device_word(end.number);
    }
    const std::string kind = end.host == HostKind::ordinary ? "" : fmt::format(":{}", name_of(end.host));
    return fmt::format("{}host{}{}", rank, kind, end.number ? numbered("@node", end.number) : std::string{});
}

std::string to_text(const Mover& mover)
{
    switch (mover.kind) {
    case Mover::Kind::processors:
        return numbered("cpu", mover.number);
    case Mover::Kind::copy_engine:
        return numbered(device_word(mover.number) + ".ce", mover.engine);
    case Mover::Kind::device_kernel:
        return device_word(mover.number) + ".sm";
    }
    return {};
}

std::string to_text(const TransferSpec& spec)
{
    return fmt::format("{} -> {} -> {}", to_text(spec.src), to_text(spec.exe), to_text(spec.dst));
}

bool is_on_host(const TransferSpec& spec)
{
    return spec.src.kind != TransferEnd::Kind::device && spec.dst.kind != TransferEnd::Kind::device &&
           spec.exe.kind == Mover::Kind::processors;
}

bool names_rank(const TransferSpec& spec)
{
    return spec.src.rank.has_value() || spec.dst.rank.has_value();
}

namespace {

bool is_each(const TransferEnd& end)
{
    return end.kind == TransferEnd::Kind::device && !end.number;
}

std::vector<TransferEnd> each_of(const TransferEnd& end, std::uint32_t devices)
{
    std::vector<TransferEnd> all(is_each(end) ? devices : 1, end);
    for (std::uint32_t device = 0; is_each(end) && device < devices; ++device) {
        all[device].number = device;
    }
    return all;
}

}  // namespace

bool names_each_device(const TransferSpec& spec)
{
    return is_each(spec.src) || is_each(spec.dst);
}

std::vector<TransferSpec> for_each_device(const TransferSpec& spec, std::uint32_t devices)
{
    std::vector<TransferSpec> all;
    for (const TransferEnd& src : each_of(spec.src, devices)) {
        for (const TransferEnd& dst : each_of(spec.dst, devices)) {
            if (names_each_device(spec) && src == dst) {
                continue;
            }
            TransferSpec one{src, spec.exe, dst};
            if (one.exe.kind != Mover::Kind::processors && !one.exe.number) {
                one.exe.number = is_each(spec.src) ? src.number : dst.number;
            }
            all.push_back(one);
        }
    }
    return all;
}

}  // namespace memsweep::model
