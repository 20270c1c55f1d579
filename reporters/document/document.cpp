#include "reporters/document/document.hpp"

#include <utility>

namespace memsweep::reporters {

Fold folded(std::string summary, TableBlock table)
{
    Fold fold{.summary = std::move(summary), .blocks = {}};
    fold.blocks.push_back({std::move(table)});
    return fold;
}

}  // namespace memsweep::reporters
