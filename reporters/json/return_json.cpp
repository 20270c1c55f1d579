#include "reporters/json/return_json.hpp"

#include "reporters/wording/return_words.hpp"

namespace memsweep::reporters {
namespace {

struct FigureNames {
    const char* bytes;
    const char* error;
    const char* not_told;
};

void put_figure(const std::optional<measure::SiteReturn>& result, measure::ReturnedBytes measure::SiteReturn::*figure,
                const FigureNames& names, Json& object)
{
    const bool is_told = result && ((*result).*figure).is_told();
    object[names.bytes] = is_told ? Json(((*result).*figure).bytes) : Json();
    object[names.error] = result ? Json(((*result).*figure).error()) : Json();
    object[names.not_told] = result && !is_told ? Json(untold_text((*result).*figure, result->runs)) : Json();
}

}  // namespace

void put_return(const std::optional<measure::SiteReturn>& result, Json& object)
{
    put_figure(result, &measure::SiteReturn::as_it_is, {"returns", "error", "not_told"}, object);
    put_figure(result, &measure::SiteReturn::after_request,
               {"returns_after_request", "error_after_request", "not_told_after_request"}, object);
}

Json check_of_replay(const measure::ReplayCheck& check)
{
    const auto& after = check.after_request;
    return {{"resident", check.resident},
            {"measured", check.measured},
            {"never_a_block", check.never_a_block},
            {"resident_after_request", after ? Json(after->resident) : Json()},
            {"measured_after_request", after ? Json(after->measured) : Json()},
            {"off", check.off()},
            {"usable", check.is_usable()}};
}

}  // namespace memsweep::reporters
