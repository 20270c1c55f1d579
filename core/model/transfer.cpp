#include "core/model/transfer.hpp"

#include <array>
#include <charconv>

#include <fmt/format.h>

#include "core/base/suggest.hpp"

namespace memsweep::model {

template <>
std::span<const Named<HostKind>> names<HostKind>()
{
    static constexpr std::array<Named<HostKind>, 6> table{{
        {HostKind::ordinary, "ordinary", "memory as a program gets it, on huge pages where there are any"},
        {HostKind::pinned, "pinned", "the same, locked: it never leaves"},
        {HostKind::small, "4k", "base pages alone"},
        {HostKind::thp, "thp", "transparent huge pages"},
        {HostKind::hugetlb_2m, "hugetlb_2m", "reserved huge pages of 2 MiB"},
        {HostKind::hugetlb_1g, "hugetlb_1g", "reserved huge pages of 1 GiB"},
    }};
    return table;
}

namespace {

using base::Expected;

tl::unexpected<base::Error> wrong(std::string message)
{
    return base::fail(base::ErrorCode::invalid_input, std::move(message));
}

std::string_view trimmed(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(" \t");
    const std::size_t last = text.find_last_not_of(" \t");
    return first == std::string_view::npos ? std::string_view{} : text.substr(first, last - first + 1);
}

bool take(std::string_view& text, std::string_view prefix)
{
    const bool found = text.starts_with(prefix);
    text.remove_prefix(found ? prefix.size() : 0);
    return found;
}

// A number without sign at the start of `text`, taken off it.
std::optional<std::uint32_t> take_number(std::string_view& text)
{
    std::uint32_t value{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{}) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

std::string numbered(std::string_view word, std::optional<std::uint32_t> number)
{
    return number ? fmt::format("{}{}", word, *number) : std::string{word};
}

}  // namespace

Expected<Place> parse_place(std::string_view given)
{
    std::string_view text = trimmed(given);
    const auto no_place = [&] {
        return wrong(fmt::format("\"{}\" is no place; write null, host, host:KIND@nodeN or gpuN", trimmed(given)));
    };
    if (text == "null") {
        return Place{};
    }
    Place place;
    if (take(text, "gpu")) {
        place.kind = Place::Kind::device;
        place.number = take_number(text);
        return place.number && text.empty() ? Expected<Place>{place} : no_place();
    }
    if (!take(text, "host")) {
        return no_place();
    }
    place.kind = Place::Kind::host;
    if (take(text, ":")) {
        const std::string_view kind = text.substr(0, text.find('@'));
        const auto value = value_of<HostKind>(kind);
        if (!value) {
            const auto known = all_names<HostKind>();
            return wrong(
                fmt::format("\"{}\" is no kind of host memory{}", kind,
                            base::suggestion(kind, std::vector<std::string_view>(known.begin(), known.end()))));
        }
        place.host = *value;
        text.remove_prefix(kind.size());
    }
    if (take(text, "@node")) {
        place.number = take_number(text);
        if (!place.number) {
            return no_place();
        }
    }
    return text.empty() ? Expected<Place>{place} : no_place();
}

Expected<Mover> parse_mover(std::string_view given)
{
    std::string_view text = trimmed(given);
    const auto no_mover = [&] {
        return wrong(fmt::format("\"{}\" moves nothing; write cpu, cpuN, gpuN.ce or gpuN.sm", trimmed(given)));
    };
    Mover mover;
    if (take(text, "cpu")) {
        mover.number = take_number(text);
        return text.empty() ? Expected<Mover>{mover} : no_mover();
    }
    if (!take(text, "gpu")) {
        return no_mover();
    }
    mover.number = take_number(text);
    if (!mover.number) {
        return no_mover();
    }
    if (text == ".sm") {
        mover.kind = Mover::Kind::device_kernel;
        return mover;
    }
    if (!take(text, ".ce")) {
        return no_mover();
    }
    mover.kind = Mover::Kind::copy_engine;
    mover.engine = take_number(text);
    return text.empty() ? Expected<Mover>{mover} : no_mover();
}

Expected<TransferSpec> parse_transfer(std::string_view text)
{
    constexpr std::string_view arrow = "->";
    const std::size_t first = text.find(arrow);
    const std::size_t second = first == std::string_view::npos ? first : text.find(arrow, first + arrow.size());
    if (second == std::string_view::npos || text.find(arrow, second + arrow.size()) != std::string_view::npos) {
        return wrong(
            fmt::format("\"{}\" is no transfer; write SRC -> EXE -> DST, as in host@node0 -> cpu -> host@node0", text));
    }
    const auto src = parse_place(text.substr(0, first));
    const auto exe = parse_mover(text.substr(first + arrow.size(), second - first - arrow.size()));
    const auto dst = parse_place(text.substr(second + arrow.size()));
    if (!src) {
        return base::fail(src.error());
    }
    if (!exe) {
        return base::fail(exe.error());
    }
    if (!dst) {
        return base::fail(dst.error());
    }
    if (src->kind == Place::Kind::null && dst->kind == Place::Kind::null) {
        return wrong("a transfer from null to null moves nothing");
    }
    return TransferSpec{*src, *exe, *dst};
}

std::string to_text(const Place& place)
{
    if (place.kind == Place::Kind::null) {
        return "null";
    }
    if (place.kind == Place::Kind::device) {
        return numbered("gpu", place.number);
    }
    const std::string kind = place.host == HostKind::ordinary ? "" : fmt::format(":{}", name_of(place.host));
    return fmt::format("host{}{}", kind, place.number ? numbered("@node", place.number) : std::string{});
}

std::string to_text(const Mover& mover)
{
    switch (mover.kind) {
    case Mover::Kind::processors:
        return numbered("cpu", mover.number);
    case Mover::Kind::copy_engine:
        return numbered(numbered("gpu", mover.number) + ".ce", mover.engine);
    case Mover::Kind::device_kernel:
        return numbered("gpu", mover.number) + ".sm";
    }
    return {};
}

bool is_on_host(const TransferSpec& spec)
{
    return spec.src.kind != Place::Kind::device && spec.dst.kind != Place::Kind::device &&
           spec.exe.kind == Mover::Kind::processors;
}

}  // namespace memsweep::model
