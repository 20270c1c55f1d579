#include "reporters/json/events.hpp"

#include "reporters/json/result_members.hpp"

namespace memsweep::reporters {

std::string event_line(std::string_view type, const EventStamp& stamp, const Json& fields)
{
    Json event = {{"type", type}, {"run_id", stamp.run_id}, {"t", stamp.t}};
    event.update(fields);
    return compact(event) + "\n";
}

Json event_fields(const model::Warning& warning)
{
    return json_value(warning);
}

Json event_fields(const model::AssertionResult& assertion)
{
    return json_value(assertion);
}

}  // namespace memsweep::reporters
