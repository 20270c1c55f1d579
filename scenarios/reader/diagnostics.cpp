#include "scenarios/reader/diagnostics.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "scenarios/reader/limits.hpp"

namespace memsweep::scenarios {

std::string to_text(const Place& place)
{
    return place.line == 0 ? std::string{place.name} : fmt::format("{}:{}:{}", place.name, place.line, place.column);
}

std::string beside(const Place& place, const std::string& path)
{
    const std::filesystem::path wanted{path};
    return wanted.is_absolute() || path == "-"
               ? path
               : (std::filesystem::path{std::string{place.name}}.parent_path() / wanted).lexically_normal().string();
}

void Diagnostics::add(const Place& place, std::string message)
{
    if (full() || settled_.contains(place)) {
        return;
    }
    found_.emplace(place, std::move(message));
    new_places_.insert(place);
}

bool Diagnostics::full() const
{
    return found_.size() >= max_errors_kept;
}

void Diagnostics::begin_case()
{
    settled_.merge(new_places_);
    new_places_.clear();
}

std::vector<base::Error> Diagnostics::sorted() const
{
    std::vector<base::Error> errors;
    for (const auto& [place, message] : found_) {
        if (errors.size() == max_errors_shown) {
            break;
        }
        errors.push_back({base::ErrorCode::invalid_input, message, to_text(place)});
    }
    if (count() > errors.size()) {
        errors.push_back({base::ErrorCode::invalid_input,
                          fmt::format("and {}{} more", full() ? "at least " : "", count() - errors.size()),
                          {}});
    }
    return errors;
}

}  // namespace memsweep::scenarios
