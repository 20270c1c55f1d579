#include "reporters/ci/benchmark_names.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "reporters/text/escaping.hpp"

namespace memsweep::reporters {

std::string ascii_name(std::string_view text)
{
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@~^";
    std::string name;
    for (const char c : repaired_utf8(text)) {
        if (plain.find(c) != std::string_view::npos) {
            name += c;
        } else {
            fmt::format_to(std::back_inserter(name), "%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return name;
}

std::vector<std::string> unique_names(std::vector<std::string> names, std::string_view before_number)
{
    std::set<std::string> taken;
    for (std::string& name : names) {
        const std::string wanted = name;
        for (int number = 2; !taken.insert(name).second; ++number) {
            name = fmt::format("{}{}{}", wanted, before_number, number);
        }
    }
    return names;
}

std::vector<NamedCase> named_cases(const model::RunReport& report)
{
    std::vector<NamedCase> cases;
    std::vector<std::string> names;
    for (const model::CaseReport& one : report.cases) {
        if (one.status == model::Status::ok) {
            cases.push_back({&one, {}});
            names.push_back(ascii_name(one.id));
        }
    }
    names = unique_names(std::move(names));
    for (std::size_t i = 0; i < cases.size(); ++i) {
        cases[i].name = std::move(names[i]);
    }
    return cases;
}

}  // namespace memsweep::reporters
