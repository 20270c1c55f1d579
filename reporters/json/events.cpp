#include "reporters/json/events.hpp"

#include "reporters/json/result_members.hpp"

namespace memsweep::reporters {
namespace {

// type, run_id and t first, then the event's own fields in their order.
std::string line(std::string_view type, const EventStamp& stamp, const Json& fields)
{
    Json event = {{"type", type}, {"run_id", stamp.run_id}, {"t", stamp.t}};
    event.update(fields);
    return compact(event) + "\n";
}

Json status_name(model::Status status)
{
    return model::name_of(status);
}

}  // namespace

std::string run_start_event(const EventStamp& stamp, const RunStartEvent& event)
{
    return line("run_start", stamp,
                {{"scenario", event.scenario}, {"cases", event.cases}, {"repetitions", event.repetitions}});
}

std::string case_start_event(const EventStamp& stamp, const CaseStartEvent& event)
{
    return line("case_start", stamp, {{"case", event.case_id}, {"pid", event.pid}, {"repetition", event.repetition}});
}

std::string repetition_start_event(const EventStamp& stamp, const CaseStartEvent& event)
{
    return line("repetition_start", stamp,
                {{"case", event.case_id}, {"pid", event.pid}, {"repetition", event.repetition}});
}

std::string repetition_event(const EventStamp& stamp, const RepetitionEvent& event)
{
    return line("repetition", stamp,
                {{"case", event.case_id},
                 {"repetition", event.repetition},
                 {"pid", event.pid},
                 {"status", status_name(event.status)},
                 {"wall_time", event.wall_time_s},
                 {"reason", json_text_or_null(event.reason)}});
}

std::string case_end_event(const EventStamp& stamp, const CaseEndEvent& event)
{
    return line(
        "case_end", stamp,
        {{"case", event.case_id}, {"status", status_name(event.status)}, {"reason", json_text_or_null(event.reason)}});
}

std::string warning_event(const EventStamp& stamp, const model::Warning& warning)
{
    return line("warning", stamp, json_value(warning));
}

std::string assertion_event(const EventStamp& stamp, const model::AssertionResult& assertion)
{
    return line("assertion", stamp, json_value(assertion));
}

std::string run_end_event(const EventStamp& stamp, int exit_code)
{
    return line("run_end", stamp, {{"exit_code", exit_code}});
}

}  // namespace memsweep::reporters
