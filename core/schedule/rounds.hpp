// The schedule of a plan: its warm-ups and repetitions, in rounds. In a round each group of cases has one turn, in the
// plan's order or in a random order that is drawn for each round. In sequential order, a group takes all its turns
// before the next group begins.
#pragma once

#include <optional>
#include <string_view>

#include "core/model/plan.hpp"
#include "core/schedule/schedule.hpp"

namespace memsweep::schedule {

// Puts cases that differ only in the value of `axis` into one group.
[[nodiscard]] std::vector<Group> groups_over(const std::vector<model::Case>& cases, std::string_view axis);

class Rounds final : public Schedule {
  public:
    // The cases that share a worker process (model::sweeps) form a group. Every other case is a group of its own.
    explicit Rounds(const model::Plan& plan);

    // Cases that differ only in the axis `at_once_over` form a group and run at the same time.
    Rounds(const model::Plan& plan, std::string_view at_once_over);

    [[nodiscard]] Next next(const model::RunReport& report) override;

    [[nodiscard]] std::optional<Turn> next_turn();  // absent: all turns have been taken

    // Whether the last turn from next_turn() ended a round that was not a warm-up. Always false in sequential order.
    [[nodiscard]] bool has_ended_round() const { return ended_round_; }

    // Repeats the round that has just ended. Call only if has_ended_round().
    void repeat_round();

  private:
    Rounds(const model::Settings& settings, std::vector<Group> groups, bool at_once);

    void begin_round();
    void advance();

    model::Settings settings_;
    std::vector<Group> groups_;
    bool at_once_{};
    std::vector<std::size_t> order_;  // indices into groups_
    std::uint32_t round_{};           // number of the round; warm-up rounds come first
    std::size_t place_{};             // index into order_
    std::size_t first_place_{};
    bool ended_round_{};
};

}  // namespace memsweep::schedule
