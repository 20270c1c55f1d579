// Memory of a device's driver in scenario files: what is read, and what is refused, at its place, with what would do.
#include "core/model/specs.hpp"
#include "tests/scenarios/support.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::test {
namespace {

std::string on(const std::string& memory, const std::string& steps, const std::string& more = {})
{
    return scenario_text(more + R"("memory": {)" + memory + R"(}, "steps": [)" + steps + "]");
}

const std::string made = R"({"op": "alloc", "as": "a", "bytes": "1MiB", "touch": "none"})";

}  // namespace

TEST_CASE("a driver's memory is read with its device, and part of the fingerprint", "[unit]")
{
    for (const auto& kind : model::names<model::ResourceKind>()) {
        if (!model::is_from_driver(kind.value)) {
            continue;
        }
        const std::string resource = R"("resource": ")" + std::string{kind.name} + "\"";
        const auto plan = plan_of(on(resource + R"(, "device": "gpu3", "pool": {"kind": "classes"})", made));
        CHECK(plan.cases.front().memory.resource == kind.value);
        CHECK(plan.cases.front().memory.device == 3);
        CHECK(plan.fingerprint != plan_of(on(resource + R"(, "pool": {"kind": "classes"})", made)).fingerprint);
        CHECK(plan_of(on(resource, made)).cases.front().memory.device == 0);
    }
    const auto ordinary = plan_of(on(R"("device": "gpu3")", made));
    CHECK(ordinary.cases.front().memory == model::MemorySpec{});
    const auto needs = plan_of(on("", made, R"("requires": {"device": "gpu1"}, )"));
    CHECK(needs.requirements.devices == 2);
    CHECK(needs.fingerprint != ordinary.fingerprint);
    CHECK(plan_of(on("", made, R"("requires": {"device": null}, )")).fingerprint == ordinary.fingerprint);
}

TEST_CASE("a device is named as transfers name it", "[unit]")
{
    for (const char* name :
         {"gpu", "gpu*", "0", "gpu0x", "host", "null", "gpu1024", "gpu4294967295", "rank0:gpu0", ""}) {
        INFO(name);
        const std::string quoted = "\"" + std::string{name} + "\"";
        const auto errors = errors_of(on(R"("resource": "pinned", "device": )" + quoted, made));
        REQUIRE(errors.size() == 1);
        CHECK_THAT(errors.front(), Catch::Contains(R"("device" names one device, as in "gpu0", not )" + quoted));
    }
}

TEST_CASE("steps that the processor would have to carry out are refused on memory that it does not reach", "[unit]")
{
    const std::string two = made + ", ";
    for (const char* resource : {"device", "mapped", "stream_ordered"}) {
        const auto error = [&](const std::string& steps) {
            const auto errors = errors_of(on(R"("resource": ")" + std::string{resource} + "\"", steps));
            INFO(steps);
            REQUIRE(errors.size() == 1);
            return errors.front();
        };
        const auto unreached =
            Catch::Contains("is memory that the processor does not reach: its arrays can be made with "
                            "\"touch\": \"none\" and dropped");
        CHECK_THAT(error(R"({"op": "alloc", "as": "a", "bytes": 8, "touch": "page"})"), unreached);
        CHECK_THAT(error(two + R"({"op": "write", "target": "a"})"), unreached);
        CHECK_THAT(error(two + R"({"op": "read", "target": "a"})"), unreached);
        CHECK_THAT(error(two + R"({"op": "binary", "function": "add", "as": "b", "left": "a", "right": "a"})"),
                   unreached);
        CHECK_THAT(error(two + R"({"op": "view", "as": "b", "of": "a", "start": 0, "stop": 8, "copy": true})"),
                   unreached);
        CHECK_THAT(error(R"({"op": "concat", "case": "size_1000"})"), unreached);
        CHECK_THAT(error(two + R"({"op": "stream", "target": "a"})"), Catch::Contains("is a driver's"));
        CHECK_THAT(error(two + R"({"op": "prefetch", "target": "a"})"), Catch::Contains("is a driver's"));
        CHECK_THAT(error(two + R"({"op": "trim", "target": "a", "how": "cold"})"), Catch::Contains("is a driver's"));
        CHECK(
            errors_of(
                on(R"("resource": ")" + std::string{resource} + "\"",
                   two + R"({"op": "view", "as": "b", "of": "a", "start": 0, "stop": 8}, {"op": "drop", "target": "b"},
                                    {"op": "alloc", "as": "z", "bytes": 8, "fill": "zeros", "touch": "none"})"))
                .empty());
    }
    CHECK(errors_of(
              on(R"("resource": "pinned")", two + R"({"op": "write", "target": "a"}, {"op": "read", "target": "a"})"))
              .empty());
}

TEST_CASE("what would be cleared again by the processor is refused beyond its reach", "[unit]")
{
    const std::string zeros = R"({"op": "alloc", "as": "a", "bytes": 8, "fill": "zeros", "touch": "none"})";
    const auto one_error = [&](const std::string& memory, const std::string& more) {
        const auto errors = errors_of(on(R"("resource": "device")" + memory, zeros, more));
        REQUIRE(errors.size() == 1);
        return errors.front();
    };
    CHECK_THAT(one_error(R"(, "pool": {"kind": "classes"})", ""), Catch::Contains(R"("fill": "none")"));
    CHECK_THAT(one_error(R"(, "pool": {"kind": "tlsf", "zeros": "fresh"})", ""), Catch::Contains(R"("fill": "none")"));
    CHECK_THAT(one_error("", R"("release": {"mode": "tls_cache"}, )"), Catch::Contains("tls_cache"));
    CHECK_THAT(one_error("", R"("safety": {"guard_pages": true}, )"), Catch::Contains("guard pages"));
    CHECK(errors_of(on(R"("resource": "device", "pool": {"kind": "classes", "zeros": "fresh"})", zeros)).empty());
    CHECK(errors_of(on(R"("resource": "managed", "pool": {"kind": "classes"})", zeros)).empty());
}

}  // namespace memsweep::test
