// Finds the cases of a report by id, in a hash table. When the cases of two reports are matched, searching a list for
// every case would take quadratic time.
//
// Cost     per lookup: one hash computation and usually one comparison of ids.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/model/report.hpp"

namespace memsweep::model {

template <typename SameId = std::equal_to<std::string>>
class CaseIndex {
  public:
    explicit CaseIndex(const std::vector<CaseReport>& cases)
    {
        positions_.reserve(cases.size());
        for (std::size_t position = 0; position < cases.size(); ++position) {
            add(cases[position].id, position);
        }
    }

    // If several cases have the same id, the index holds the first.
    void add(const std::string& id, std::size_t position) { positions_.try_emplace(id, position); }

    // The position of the case with this id; empty: no case has the id.
    [[nodiscard]] std::optional<std::size_t> position(const std::string& id) const
    {
        const auto found = positions_.find(id);
        return found == positions_.end() ? std::nullopt : std::optional{found->second};
    }

  private:
    std::unordered_map<std::string, std::size_t, std::hash<std::string>, SameId> positions_;
};

}  // namespace memsweep::model
