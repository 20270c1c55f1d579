// A plan's own schedule: its warm-ups and repetitions in rounds. In a round each group of cases has one turn, in the
// plan's order or in an order drawn for each round. With sequential order one group has all its rounds before the next.
#pragma once

#include <optional>
#include <string_view>

#include "core/model/plan.hpp"
#include "core/schedule/schedule.hpp"

namespace memsweep::schedule {

// Cases that differ in this axis alone.
[[nodiscard]] std::vector<Group> groups_over(const std::vector<model::Case>& cases, std::string_view axis);

class Rounds final : public Schedule {
  public:
    // Cases of one sweep share a worker; every other case goes alone.
    explicit Rounds(const model::Plan& plan);

    // The values of this axis run at the same time.
    Rounds(const model::Plan& plan, std::string_view at_once_over);

    [[nodiscard]] Next next(const model::RunReport& report) override;

    [[nodiscard]] std::optional<Turn> next_turn();  // empty: the last has been taken

    // Whether the turn before was the last one of a round that counts.
    [[nodiscard]] bool has_ended_round() const { return ended_round_; }

    // Call after such a turn: the same round comes once more.
    void repeat_round();

  private:
    Rounds(const model::Settings& settings, std::vector<Group> groups, bool at_once);

    void begin_round();
    void advance();

    model::Settings settings_;
    std::vector<Group> groups_;
    bool at_once_{};
    std::vector<std::size_t> order_;  // places of groups
    std::uint32_t round_{};           // warm-ups come first
    std::size_t place_{};             // in order_
    std::size_t first_place_{};
    bool ended_round_{};
};

}  // namespace memsweep::schedule
