#include "core/measure/site_matching.hpp"

#include <algorithm>
#include <iterator>

namespace memsweep::measure {
namespace {

void add(SiteFigures& sum, const SiteFigures& more)
{
    sum.allocations += more.allocations;
    sum.allocated_bytes += more.allocated_bytes;
    sum.peak_bytes += more.peak_bytes;
    sum.peak_blocks += more.peak_blocks;
    sum.end_bytes += more.end_bytes;
    sum.end_blocks += more.end_blocks;
}

// The compiler's copies of a function ("parse.constprop.0", "parse(int) [clone .part.0]") go by its name.
std::string_view without_clone(std::string_view function)
{
    constexpr std::array<std::string_view, 7> marks{" [clone", ".constprop.", ".isra.", ".part.",
                                                    ".cold",   ".lto_priv.",  ".llvm."};
    for (const std::string_view mark : marks) {
        function = function.substr(0, function.find(mark));
    }
    return function;
}

}  // namespace

std::uint32_t SiteFrames::number_of(const SiteFrame& frame)
{
    const auto [at, is_new] = numbers_.try_emplace(Key{frame.function, frame.file, frame.line, frame.code},
                                                   static_cast<std::uint32_t>(frames_.size()));
    if (is_new) {
        frames_.push_back(frame);
    }
    return at->second;
}

MatchedStacks::MatchedStacks(const SiteFrames& frames, const Sides& sides) : frames_{frames}, sides_{sides}
{
    name_functions();
    pair_places();
    chain_stacks();
}

std::string MatchedStacks::label(std::uint32_t place) const
{
    const SitePlace& one = places_[place];
    return one.function == stackless  ? "what has no stack"
           : one.function == nameless ? "code without symbols"
                                      : frame_of(one).place;
}

// By their names and files; without a name by their place in a file that both programs have.
void MatchedStacks::name_functions()
{
    std::array<std::set<std::string_view>, 2> codes;
    std::map<std::string_view, FilesOfSides> files;  // by name
    for (std::size_t side = 0; side < sides_.size(); ++side) {
        for (const RecordedRun& run : sides_[side]) {
            for (const RecordedStack& stack : run) {
                for (const std::uint32_t number : stack.frames) {
                    const SiteFrame& frame = frames_.at(number);
                    codes[side].insert(frame.code);
                    files[without_clone(frame.function)][side].insert(frame.file);
                }
            }
        }
    }
    std::map<std::pair<std::string_view, std::string_view>, std::uint32_t> numbers;
    for (std::uint32_t number = 0; number < frames_.count(); ++number) {
        const SiteFrame& frame = frames_.at(number);
        const std::string_view name = without_clone(frame.function);
        const bool is_shared = !frame.code.empty() && codes[0].contains(frame.code) && codes[1].contains(frame.code);
        if (!frame.is_named && !is_shared) {
            functions_.push_back(nameless);
            continue;
        }
        const std::string_view beside = frame.is_named ? file_of(frame, files[name]) : frame.code;
        functions_.push_back(
            numbers.try_emplace({name, beside}, static_cast<std::uint32_t>(numbers.size() + 2)).first->second);
    }
}

// Of the base. A file that was renamed is the same where nothing else can be meant.
std::string_view MatchedStacks::file_of(const SiteFrame& frame, const FilesOfSides& files)
{
    std::vector<std::string_view> gone;
    std::vector<std::string_view> added;
    std::ranges::set_difference(files[0], files[1], std::back_inserter(gone));
    std::ranges::set_difference(files[1], files[0], std::back_inserter(added));
    return gone.size() == 1 && added.size() == 1 && frame.file == added.front() ? gone.front()
                                                                                : std::string_view{frame.file};
}

// Each function's lines of both programs become places.
void MatchedStacks::pair_places()
{
    std::map<std::uint32_t, std::array<UsedLines, 2>> used;
    for (std::size_t side = 0; side < sides_.size(); ++side) {
        for (const RecordedRun& run : sides_[side]) {
            for (const RecordedStack& stack : run) {
                note_lines(stack, side, used);
            }
        }
    }
    places_.push_back({.function = stackless});
    for (const auto& [function, both] : used) {
        pair_lines_of(function, both);
    }
}

void MatchedStacks::note_lines(const RecordedStack& stack, std::size_t side,
                               std::map<std::uint32_t, std::array<UsedLines, 2>>& used)
{
    for (const std::uint32_t frame : links_of(stack)) {
        const std::uint32_t line = line_of(frame);
        UsedLines& here = used[functions_[frame]][side];
        LineUse& use = here.lines[line];
        use.line = line;
        use.allocations += static_cast<double>(stack.figures.allocations);
        use.bytes += static_cast<double>(stack.figures.allocated_bytes);
        here.frames.emplace(line, frame);
        if (functions_[frame] == nameless) {
            nameless_modules_.insert(frames_.at(frame).module);
        }
    }
}

void MatchedStacks::pair_lines_of(std::uint32_t function, const std::array<UsedLines, 2>& both)
{
    std::array<std::vector<LineUse>, 2> lines;
    for (std::size_t side = 0; side < lines.size(); ++side) {
        for (const auto& [line, use] : both[side].lines) {
            lines[side].push_back(use);
        }
    }
    for (const auto& [of_base, of_candidate] : pair_lines(lines[0], lines[1])) {
        const std::array<std::size_t, 2> indices{of_base, of_candidate};
        SitePlace place{.function = function};
        for (std::size_t side = 0; side < indices.size(); ++side) {
            if (indices[side] != no_line) {
                const std::uint32_t line = lines[side][indices[side]].line;
                place.frame[side] = both[side].frames.at(line);
                place_of_[side].emplace(FunctionAndLine{function, line}, static_cast<std::uint32_t>(places_.size()));
            }
        }
        places_.push_back(place);
    }
}

void MatchedStacks::chain_stacks()
{
    std::map<std::vector<std::uint32_t>, std::size_t> known;
    for (std::size_t side = 0; side < sides_.size(); ++side) {
        for (std::size_t run = 0; run < sides_[side].size(); ++run) {
            for (const RecordedStack& stack : sides_[side][run]) {
                const auto [at, is_new] = known.try_emplace(places_of(stack, side), chains_.size());
                if (is_new) {
                    chains_.push_back(
                        {at->first,
                         {std::vector<SiteFigures>(sides_[0].size()), std::vector<SiteFigures>(sides_[1].size())}});
                }
                add(chains_[at->second].runs[side][run], stack.figures);
            }
        }
    }
}

// Those of the stack's frames that a site can be, each function once: a recursion is no other place.
std::vector<std::uint32_t> MatchedStacks::links_of(const RecordedStack& stack) const
{
    std::vector<std::uint32_t> links;
    std::set<std::uint32_t> seen;
    for (const std::uint32_t frame : stack.frames) {
        if (frames_.at(frame).role == FrameRole::program && frames_.at(frame).is_named &&
            seen.insert(functions_[frame]).second) {
            links.push_back(frame);
        }
    }
    if (links.empty() && !stack.frames.empty()) {
        links.push_back(innermost(stack));
    }
    return links;
}

// Of a stack without a function of the program's own.
std::uint32_t MatchedStacks::innermost(const RecordedStack& stack) const
{
    for (const FrameRole role : {FrameRole::program, FrameRole::library}) {
        const auto found = std::ranges::find(stack.frames, role, [&](auto frame) { return frames_.at(frame).role; });
        if (found != stack.frames.end()) {
            return *found;
        }
    }
    return stack.frames.front();
}

std::vector<std::uint32_t> MatchedStacks::places_of(const RecordedStack& stack, std::size_t side) const
{
    std::vector<std::uint32_t> places;
    for (const std::uint32_t frame : links_of(stack)) {
        places.push_back(place_of_[side].at({functions_[frame], line_of(frame)}));
    }
    if (places.empty()) {
        places.push_back(0);
    }
    return places;
}

}  // namespace memsweep::measure
