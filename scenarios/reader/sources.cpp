#include "scenarios/reader/sources.hpp"

#include <utility>

namespace memsweep::scenarios {

const Node* Sources::add(const std::string& name, std::string_view text)
{
    names_.push_back(name);
    ++files_;
    auto root = parse_document(Place{files_, 1, 1, names_.back()}, text, diagnostics_);
    return root ? &roots_.emplace_back(std::move(*root)) : nullptr;
}

Place Sources::flag(std::string text)
{
    names_.push_back(std::move(text));
    return Place{0, 0, 0, names_.back()};
}

}  // namespace memsweep::scenarios
