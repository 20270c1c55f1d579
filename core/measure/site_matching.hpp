// Matches the stacks of recorded runs of two programs by their functions. Only site_changes.cpp uses it.
//
// Cost     as in site_changes.hpp.
// Ownership  frames and runs must outlive MatchedStacks.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/measure/site_changes.hpp"

namespace memsweep::measure {

// A place in the call stacks of allocations: a line of a function that is in both programs or in one of them.
struct SitePlace {
    std::uint32_t function{};
    std::array<std::uint32_t, 2> frame{no_frame, no_frame};  // in the base, in the candidate
    static constexpr std::uint32_t no_frame = ~0U;
};

// Stacks that pass through the same places, from the innermost place outwards. Lines may have moved between programs.
struct Chain {
    std::vector<std::uint32_t> places;
    std::array<std::vector<SiteFigures>, 2> runs;  // by program (base, candidate): the figures of each run
};

class MatchedStacks {
  public:
    // The runs of the base and of the candidate, in equal numbers.
    using Sides = std::array<std::span<const RecordedRun>, 2>;
    MatchedStacks(const SiteFrames& frames, const Sides& sides);

    [[nodiscard]] const std::vector<Chain>& chains() const noexcept { return chains_; }
    // Returns the function's name in the candidate if the place exists in the candidate, else in the base.
    [[nodiscard]] const std::string& function_of(std::uint32_t place) const
    {
        return frame_of(places_[place]).function;
    }
    [[nodiscard]] std::string label(std::uint32_t place) const;
    [[nodiscard]] bool is_nameless(std::uint32_t place) const { return places_[place].function == nameless; }
    // Returns the names of the programs and libraries that have no symbols, on either side. Their places cannot be
    // compared.
    [[nodiscard]] const std::set<std::string>& nameless_modules() const noexcept { return nameless_modules_; }

  private:
    static constexpr std::uint32_t stackless = 0;
    // All functions without a name, except in modules that are the same on both sides.
    static constexpr std::uint32_t nameless = 1;
    using FunctionAndLine = std::pair<std::uint32_t, std::uint32_t>;
    using FilesOfSides = std::array<std::set<std::string_view>, 2>;

    // A function's lines in one program.
    struct UsedLines {
        std::map<std::uint32_t, LineUse> lines;
        std::map<std::uint32_t, std::uint32_t> frames;  // by line
    };

    void name_functions();
    static std::string_view file_of(const SiteFrame& frame, const FilesOfSides& files);
    void pair_places();
    void note_lines(const RecordedStack& stack, std::size_t side,
                    std::map<std::uint32_t, std::array<UsedLines, 2>>& used);
    void pair_lines_of(std::uint32_t function, const std::array<UsedLines, 2>& both);
    void chain_stacks();
    [[nodiscard]] std::vector<std::uint32_t> links_of(const RecordedStack& stack) const;
    [[nodiscard]] std::uint32_t innermost(const RecordedStack& stack) const;
    [[nodiscard]] std::vector<std::uint32_t> places_of(const RecordedStack& stack, std::size_t side) const;
    [[nodiscard]] std::uint32_t line_of(std::uint32_t frame) const
    {
        return functions_[frame] == nameless ? 0 : frames_.at(frame).line;
    }
    [[nodiscard]] const SiteFrame& frame_of(const SitePlace& place) const
    {
        return frames_.at(place.frame[1] != SitePlace::no_frame ? place.frame[1] : place.frame[0]);
    }

    const SiteFrames& frames_;
    Sides sides_;
    std::vector<std::uint32_t> functions_;  // by frame
    std::vector<SitePlace> places_;         // the first stands for allocations without a stack
    std::array<std::map<FunctionAndLine, std::uint32_t>, 2> place_of_;
    std::set<std::string> nameless_modules_;
    std::vector<Chain> chains_;
};

}  // namespace memsweep::measure
