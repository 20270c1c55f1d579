#include "scenarios/reader/profile_files.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/model/plan.hpp"
#include "scenarios/reader/case_reader.hpp"

namespace memsweep::scenarios {

base::Expected<model::ReleaseSpec> release_of(const std::string& profile, const ReleaseKeys& keys,
                                              const std::string& flag, const Surroundings& surroundings)
{
    Diagnostics diagnostics;
    Sources sources{diagnostics};
    const auto member = [&](const std::string& key, const model::Scalar& value) {
        const Place place = sources.flag(fmt::format("{} {}", flag, key));
        return Member{key, place, node_of(value, place)};
    };
    Object block;
    block.push_back(member("profile", model::Scalar{profile}));
    for (const auto& [key, text] : keys) {
        const auto known = std::ranges::find(block, key, &Member::key);
        if (known != block.end()) {
            block.erase(known);
        }
        block.push_back(member(key, scalar_of_text(text)));
    }
    const Scope scope{surroundings};
    model::Case one;
    ReleaseReader{sources}.read(SourceNode{sources.flag(flag), std::move(block)}, {scope, diagnostics}, one);
    if (diagnostics.count() > 0) {
        return base::fail(diagnostics.sorted().front());
    }
    return one.release;
}

std::string to_text(const ProfileFile& file)
{
    using nlohmann::ordered_json;
    ordered_json release = ordered_json::object();
    for (const auto& [key, text] : file.keys) {
        std::visit([&release, &name = key](const auto& value) { release[name] = value; }, scalar_of_text(text));
    }
    const ordered_json profile{{"format", "memsweep-profile"},
                               {"version", 1},
                               {"name", file.name},
                               {"description", file.description},
                               {"inherits", file.inherits},
                               {"verified", file.verified},
                               {"release", std::move(release)}};
    return profile.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace memsweep::scenarios
