// How the rows of a table name their cases: by the axes that vary among them, since the others say nothing.
#pragma once

#include <string>
#include <vector>

#include "core/model/report.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::reporters {

using Cases = std::vector<const model::CaseReport*>;

class CaseKeys {
  public:
    explicit CaseKeys(const Cases& cases);

    [[nodiscard]] std::vector<Column> columns() const;
    [[nodiscard]] std::vector<Cell> cells(const model::CaseReport& report) const;
    [[nodiscard]] std::string constants() const;  // "allocator=glibc, threads=1" of the axes that do not vary; or empty

  private:
    struct Axis {
        std::string name;
        std::vector<std::string> values;  // distinct, in order of appearance
        bool is_number{true};
        std::size_t cases{};  // that have it
    };
    void add(const model::Param& param);

    std::vector<Axis> varying_;
    std::vector<Axis> constant_;
};

}  // namespace memsweep::reporters
