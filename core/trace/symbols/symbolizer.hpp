// What the addresses of a trace's call stacks are called: by the trace itself, by the programs and libraries that were
// loaded, by the map that a compiler at run time leaves in /tmp/perf-PROCESS.map; or else where in which file they lie.
//
// Cost     some 10 us an address (object_symbols.hpp), once.
// Memory   some 150 bytes an address, each text once, and what libdw keeps.
// Errors   none: what cannot be told is called by its module and offset, and notes() say why.
// Threads  one.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "core/trace/stack_table.hpp"
#include "core/trace/symbols/object_symbols.hpp"

namespace memsweep::trace {

struct ResolvedFrame {
    std::string_view function{};  // never empty: "libx.so+0x1234" where no name is known
    std::string_view file{};      // empty: not known
    std::uint32_t line{};         // 0: not known
    std::string_view module{};    // the path of what it lies in; empty: not known
    bool is_named{};
    bool is_interpreted{};  // a line that an interpreter ran, in the place of its own loop
    friend bool operator==(const ResolvedFrame&, const ResolvedFrame&) = default;
};

class Symbolizer {
  public:
    // When each node was first used, in ticks, where modules of one place are to be told apart; or empty. `since`: what
    // was written before that second of 1970's clock tells of another process.
    explicit Symbolizer(const StackTable& table, std::vector<std::uint64_t> first_uses = {}, std::int64_t since = 0,
                        DebugFiles files = DebugFiles::of_this_machine)
        : table_{&table}, first_uses_{std::move(first_uses)}, since_{since}, files_{files}
    {
    }

    // The node's own address, not its callers': innermost first, at least one.
    [[nodiscard]] std::span<const ResolvedFrame> at(std::uint32_t node);

    // What kept names from being told, each once: "/usr/bin/x: was replaced since ...".
    [[nodiscard]] const std::set<std::string>& notes() const noexcept { return notes_; }

  private:
    struct MapEntry {
        std::uint64_t begin{};
        std::uint64_t end{};
        std::string_view name{};
    };
    using Key = std::tuple<StackImage, std::uint64_t, const LoadedModule*>;

    [[nodiscard]] const LoadedModule* module_of(std::uint32_t node) const;
    std::vector<ResolvedFrame> resolve(const Key& key);
    std::vector<ResolvedFrame> named_by_trace(const NamedAddress& names, std::uint64_t address);
    std::vector<ResolvedFrame> named_by_object(const LoadedModule& module, std::uint64_t address);
    std::optional<ResolvedFrame> named_by_map(const StackImage& image, std::uint64_t address);
    const std::vector<MapEntry>& map_of(std::uint32_t process);
    ObjectSymbols* symbols_of(const LoadedModule& module);
    std::string_view kept(std::string_view text);

    const StackTable* table_;
    std::vector<std::uint64_t> first_uses_;
    std::int64_t since_;
    DebugFiles files_;
    std::map<Key, std::vector<ResolvedFrame>> known_;
    std::map<std::pair<std::string_view, std::string_view>, std::optional<ObjectSymbols>> objects_;  // path, build id
    std::map<std::uint32_t, std::vector<MapEntry>> maps_;
    std::deque<std::string> texts_;
    std::unordered_set<std::string_view> index_;
    std::set<std::string> notes_;
};

// The last part of a path.
[[nodiscard]] std::string_view file_name(std::string_view path);

}  // namespace memsweep::trace
