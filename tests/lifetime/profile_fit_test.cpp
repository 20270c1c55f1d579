// Recordings read, and constants found again in loops that the model itself made.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/lifetime/profile_fit.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::lifetime {
namespace {

constexpr std::uint64_t one_mib = 1U << 20U;

Recording recording_of(const std::string& text)
{
    auto recording = parse_recording("r.csv", text);
    REQUIRE(recording);
    return *std::move(recording);
}

base::Error problem_of(const std::string& text)
{
    const auto recording = parse_recording("r.csv", text);
    REQUIRE_FALSE(recording);
    return recording.error();
}

RecordedLoop loop_of(const std::string& command)
{
    const auto loop = recorded_loop(recording_of("# command: " + command + "\ni,unreleased,gc0\n0,1,0\n1,2,0\n"));
    REQUIRE(loop);
    return *loop;
}

// The loop as the model has it, as if it had been recorded.
ModelLoop planted(const model::ReleaseSpec& spec, std::uint64_t iterations)
{
    const LoopCourse course = replay_loop(spec, iterations, 1);
    ModelLoop loop{.recording = {}, .spec = spec};
    std::size_t came = 0;
    for (std::uint64_t i = 0; i < iterations; ++i) {
        while (came < course.collections.size() && course.collections[came] == i) {
            ++came;
        }
        loop.recording.rows.push_back({i, 1, came});
    }
    return loop;
}

model::ReleaseSpec serial(std::uint64_t each, std::uint64_t start, std::uint64_t garbage)
{
    return {.mode = model::ReleaseMode::cleaner,
            .managed = {.bytes_per_array = each,
                        .garbage = garbage,
                        .used_at_start = start,
                        .heap = {64 * one_mib, 64 * one_mib, 256 * one_mib}}};
}

void forget(ModelLoop& loop)
{
    loop.spec.managed.bytes_per_array = 100;
    loop.spec.managed.used_at_start = 0;
    loop.spec.cycle.temporary_containers = 0;
    loop.spec.cycle.containers_at_start = 0;
}

bool contains(const FittedKey& key, std::uint64_t value)
{
    return key.least <= value && value <= key.most;
}

}  // namespace

TEST_CASE("recording: rows, collections and the command", "[unit]")
{
    const Recording recording =
        recording_of("# command: java -Xmx64m  Repro loop\n# by hand\n"
                     "i,t_ms,rss_mib,unreleased,gc0\r\n0,0.1,2,1,4\r\n5,0.2,2,6,4\n6,0.3,2,1,6\n\n");
    CHECK(recording.command == std::vector<std::string>{"java", "-Xmx64m", "Repro", "loop"});
    CHECK(recording.iterations() == 7);
    CHECK(recording.collections() == std::vector<std::uint64_t>{6, 6});
    CHECK(recording.peak() == 6);
    CHECK_FALSE(recording.has_generations);
    const Recording mono = recording_of("i,unreleased,gc0,gc1,gc2\n0,1,0,2,2\n1,2,1,3,3\n");
    CHECK((mono.has_generations && mono.counts_major_ones_twice));
    const Recording python = recording_of("i,unreleased,gc0,gc1,gc2\n0,1,48,4,1\n1,2,48,4,1\n");
    CHECK((python.has_generations && !python.counts_major_ones_twice));
}

TEST_CASE("recording: what is none is refused where it is wrong", "[unit]")
{
    CHECK(problem_of("").where == "r.csv:1");
    CHECK(problem_of("{\"a\": 1}\n").message.find("titles") != std::string::npos);
    CHECK(problem_of("i,unreleased,gc0\n0,1,0\n").message.find("two rows") != std::string::npos);
    for (const std::string row : {"1,x,0", "1,2", "1,2,-1", "0,2,0", "1000000,2,0", "1,2,1000001", "1,,0"}) {
        INFO(row);
        const base::Error problem = problem_of("i,unreleased,gc0\n0,1,0\n" + row + "\n");
        CHECK(problem.where == "r.csv:3");
        CHECK(problem.message.find("record.py") != std::string::npos);
    }
    CHECK(problem_of("i,unreleased,gc0\n0,1,5\n1,2,4\n").where == "r.csv:3");
}

TEST_CASE("recording: the command tells the runtime and the loop", "[unit]")
{
    const RecordedLoop serial = loop_of("java -Xms64m -Xmx256m -XX:+UseSerialGC Repro loop cleaner 600 8000000 65536");
    CHECK(serial.profile == "jvm-cleaner");
    CHECK(serial.runtime_keys == ReleaseKeys{{"heap_initial", "64MiB"}, {"heap_min", "64MiB"}, {"heap_max", "256MiB"}});
    CHECK(serial.loop_keys == ReleaseKeys{{"garbage", "65536"}});
    CHECK(serial.array_bytes == 8'000'000);
    const RecordedLoop g1 = loop_of("/usr/bin/java -Xmx6g -XX:+UseG1GC -XX:MaxDirectMemorySize=1g "
                                    "-XX:+DisableExplicitGC Repro loop direct 600 8000000");
    CHECK(g1.profile == "jvm-directbuffer-g1");
    CHECK(g1.runtime_keys == ReleaseKeys{{"heap_initial", "6GiB"},
                                         {"heap_min", "0"},
                                         {"heap_max", "6GiB"},
                                         {"region", "4MiB"},
                                         {"cap", "1GiB"},
                                         {"explicit_gc", "false"}});
    CHECK(g1.own_arrays == 1);
    CHECK(loop_of("java -Xmx64m Repro loop cleaner 600 8").may_be_g1);
    CHECK(loop_of("mono loop 600 8000000 nopressure 262144 5000").loop_keys == ReleaseKeys{{"garbage", "262144"}});
    CHECK(loop_of("python loop cycle 1800 10000 50").loop_keys == ReleaseKeys{{"containers_beside", "52"}});
    CHECK(loop_of("ruby loop").profile.empty());
    for (const std::string command :
         {"java Repro loop explicit 6 8", "mono dispose 6 8 pressure", "python loop refcount 6 8",
          "java -Xmx64q Repro loop cleaner 6 8", "java -Xmx99999999999t Repro loop cleaner 6 8"}) {
        INFO(command);
        CHECK_FALSE(recorded_loop(recording_of("# command: " + command + "\ni,unreleased,gc0\n0,1,0\n1,2,0\n")));
    }
}

TEST_CASE("loop: what a collection finds is released at once; a cap collects or ends it", "[unit]")
{
    model::ReleaseSpec spec{.collect_every = 10};
    const LoopCourse counted = replay_loop(spec, 25, 8);
    CHECK(counted.collections == std::vector<std::uint64_t>{10, 20});
    CHECK(counted.peak == 10);
    CHECK(counted.end == 5);
    spec = {.cap = {.bytes = 100}};
    CHECK(replay_loop(spec, 30, 10).collections == std::vector<std::uint64_t>{10, 20});
    spec.cap.explicit_gc = false;
    const LoopCourse refused = replay_loop(spec, 30, 10);
    CHECK(refused.collections.empty());
    CHECK(refused.end == 10);
    CHECK(replay_loop(spec, 30, 101).end == 0);
}

TEST_CASE("loop: arrays that survived a young collection wait for an older one", "[unit]")
{
    // Two arrays of 400 containers fill the first generation of 700; the one at hand survives.
    const model::ReleaseSpec spec{.cycle = {.generation0 = 700, .containers_per_array = 400}};
    const LoopCourse course = replay_loop(spec, 12, 8);
    CHECK(course.collections.size() > 5);
    CHECK(course.end > 2);
}

TEST_CASE("fit: constants that were planted come back", "[unit]")
{
    std::vector<ModelLoop> loops{planted(serial(18'000, 600'000, 65'536), 900),
                                 planted(serial(18'000, 600'000, 20'000), 2500)};
    std::ranges::for_each(loops, forget);
    const ProfileFit fit = fit_profile(loops);
    REQUIRE(fit.keys.size() == 2);
    CHECK(fit.keys[0].key == "managed_bytes");
    CHECK(fit.keys[1].key == "nursery_used");
    CHECK(contains(fit.keys[0], 18'000));
    CHECK(fit.keys[0].is_sure());
    CHECK(contains(fit.keys[1], 600'000));
    CHECK(fit.iterations_off <= 1);
    CHECK(loops[0].spec.managed.bytes_per_array == fit.keys[0].value);

    // A loop that it was not fitted to.
    ModelLoop other = planted(serial(18'000, 600'000, 262'144), 600);
    forget(other);
    apply(fit, other.spec);
    const Agreement found = agreement(other);
    CHECK(found.first->model == found.first->recorded);
    CHECK(found.collections.model == found.collections.recorded);
}

TEST_CASE("fit: in G1, whose eden grows from collection to collection", "[unit]")
{
    model::ReleaseSpec spec = serial(20'000, 0, 0);
    spec.managed.region = one_mib;
    std::vector<ModelLoop> loops{planted(spec, 6000)};
    forget(loops[0]);
    const ProfileFit fit = fit_profile(loops);
    CHECK(contains(fit.keys[0], 20'000));
    CHECK(fit.keys[0].is_sure());
}

TEST_CASE("fit: of containers, as exactly as the recording tells", "[unit]")
{
    const model::ReleaseSpec spec{.mode = model::ReleaseMode::cycle,
                                  .cycle = {.generation0 = 700, .temporary_containers = 5, .containers_at_start = 15}};
    std::vector<ModelLoop> loops{planted(spec, 3600)};
    forget(loops[0]);
    const ProfileFit fit = fit_profile(loops);
    REQUIRE(fit.keys.size() == 2);
    CHECK(fit.keys[0].value == 5);
    CHECK(fit.keys[1].value == 15);
    CHECK((fit.keys[0].is_sure() && fit.keys[1].is_sure()));
}

TEST_CASE("fit: a single collection cannot tell the two apart, and none tells nothing", "[unit]")
{
    std::vector<ModelLoop> once{planted(serial(18'000, 600'000, 65'536), 300)};
    REQUIRE(once[0].recording.collections().size() == 1);
    forget(once[0]);
    const ProfileFit fit = fit_profile(once);
    CHECK_FALSE(fit.keys[0].is_sure());
    CHECK(contains(fit.keys[0], 18'000));
    CHECK(agreement(once[0]).first->model == once[0].recording.collections().front());

    std::vector<ModelLoop> never{planted(serial(18'000, 600'000, 65'536), 100)};
    CHECK(fit_profile(never).keys.empty());
}

TEST_CASE("fit: agreement is within a tenth, or five buffers", "[unit]")
{
    ModelLoop loop = planted({.collect_every = 100}, 450);
    loop.recording.rows.back().unreleased = 55;
    loop.recording.rows[99].unreleased = 105;
    CHECK(agreement(loop).holds);
    loop.recording.rows.back().unreleased = 57;
    CHECK_FALSE(agreement(loop).holds);
    loop.recording.rows.back().unreleased = 50;
    loop.recording.rows[99].unreleased = 112;
    CHECK_FALSE(agreement(loop).holds);
}

}  // namespace memsweep::lifetime
