#include "core/model/paging.hpp"

#include "core/model/plan.hpp"
#include "core/model/specs.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep::model;

namespace {

bool takes(TrimHow how, ResourceKind resource, SafetySpec safety = {})
{
    MemorySpec memory;
    memory.resource = resource;
    return trim_objection(how, memory, safety).empty();
}

}  // namespace

TEST_CASE("each trim takes the memory that it can", "[unit]")
{
    for (const auto& resource : names<ResourceKind>()) {
        for (const auto& how : names<TrimHow>()) {
            INFO(resource.name << " " << how.name);
            const bool shared = resource.value == ResourceKind::memfd;
            const bool none = resource.value == ResourceKind::null || is_from_driver(resource.value);
            const bool soft = how.value == TrimHow::soft;
            const bool loses = how.value == TrimHow::dontneed || how.value == TrimHow::free;
            CHECK(takes(how.value, resource.value) == (!none && (!soft || shared) && (!loses || !shared)));
        }
    }
}

TEST_CASE("guard pages make a shared mapping a private one, for trims too", "[unit]")
{
    CHECK_FALSE(takes(TrimHow::soft, ResourceKind::memfd, {.guard_pages = true}));
    CHECK_FALSE(takes(TrimHow::soft, ResourceKind::memfd, {.detect = Detection::unmap}));
    CHECK(takes(TrimHow::dontneed, ResourceKind::memfd, {.guard_pages = true}));
}

TEST_CASE("a case knows the mechanisms of its steps and of its memory, each once", "[unit]")
{
    Case one;
    const Step soft{.operation = TrimStep{"a", TrimHow::soft}};
    const Step cold{.operation = TrimStep{"a", TrimHow::cold}};
    const Step none{.operation = TrimStep{"a", TrimHow::none}};
    one.work = Steps{none, soft, {.operation = RepeatStep{3, {cold, soft}}}};
    CHECK(trims(one) == std::vector{TrimHow::soft, TrimHow::cold});
    one.memory.trim = {.above_bytes = 1, .how = TrimHow::cold};
    CHECK(trims(one) == std::vector{TrimHow::cold, TrimHow::soft});
}
