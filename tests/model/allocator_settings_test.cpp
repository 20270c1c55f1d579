#include "core/model/allocator_settings.hpp"

#include <algorithm>
#include <set>

#include "tests/support/catch.hpp"

namespace memsweep::model {

TEST_CASE("every setting has an allocator that is known, a name and a target of its own", "[unit]")
{
    std::set<std::string_view> allocators;
    for (const SettingStyle& style : allocator_settings()) {
        CHECK(find_allocator(style.allocator) != nullptr);
        CHECK(allocators.insert(style.allocator).second);
        std::set<std::string_view> names;
        std::set<std::string_view> targets;
        for (const AllocatorSetting& setting : style.settings) {
            INFO(style.allocator << ' ' << setting.name);
            CHECK(names.insert(setting.name).second);
            CHECK(targets.insert(setting.target).second);
            CHECK_FALSE(setting.help.empty());
            CHECK((setting.kind == SettingKind::word) == !setting.words.empty());
            CHECK((style.variable.empty() ? allocator_set_by(setting.target) : allocator_set_by(style.variable)) ==
                  style.allocator);
        }
    }
    CHECK(allocators.size() == model::allocators().size());
}

TEST_CASE("every choice worth trying is within the bounds of the table, and each is there once", "[unit]")
{
    std::set<std::string> texts;
    for (const AllocatorChoice& choice : allocator_choices()) {
        const std::string text = choice_text(choice);
        INFO(text);
        CHECK(texts.insert(text).second);
        for (const ChosenSetting& one : choice.settings()) {
            const AllocatorSetting* const setting = find_setting(choice.allocator, one.name);
            REQUIRE(setting != nullptr);
            if (const auto* number = std::get_if<std::uint64_t>(&one.value)) {
                CHECK(*number >= setting->min);
                CHECK(*number <= setting->max);
            } else if (const auto* word = std::get_if<std::string_view>(&one.value)) {
                CHECK(std::ranges::find(setting->words, *word) != setting->words.end());
            } else {
                CHECK(setting->kind == SettingKind::toggle);
            }
        }
    }
    CHECK(std::ranges::count(allocator_choices(), true, &AllocatorChoice::adds_thread) == 1);
}

TEST_CASE("settings become environment as each allocator reads it", "[unit]")
{
    using Chosen = std::vector<ChosenSetting>;
    const std::uint64_t two = 2;
    CHECK(to_variables("glibc", Chosen{{"arena_max", two}, {"mmap_threshold", std::uint64_t{131072}}}) ==
          Variables{{"GLIBC_TUNABLES", "glibc.malloc.arena_max=2:glibc.malloc.mmap_threshold=131072"}});
    CHECK(to_variables("jemalloc", Chosen{{"dirty_decay", std::uint64_t{1'000'000'000}},
                                          {"muzzy_decay", Never{}},
                                          {"tcache", false},
                                          {"thp", std::string_view{"always"}}}) ==
          Variables{{"MALLOC_CONF", "dirty_decay_ms:1000,muzzy_decay_ms:-1,tcache:false,thp:always"}});
    CHECK(to_variables("mimalloc", Chosen{{"large_os_pages", true}, {"use_numa_nodes", two}}) ==
          Variables{{"MIMALLOC_LARGE_OS_PAGES", "1"}, {"MIMALLOC_USE_NUMA_NODES", "2"}});
    CHECK(to_variables("tcmalloc", Chosen{{"heap_limit", std::uint64_t{3} << 20U}}) ==
          Variables{{"TCMALLOC_HEAP_LIMIT_MB", "3"}});
}

TEST_CASE("a variable joins those that are there: a list grows, any other is replaced", "[unit]")
{
    Variables settings{{"GLIBC_TUNABLES", "glibc.malloc.tcache_count=3"}};
    add_variable(settings, "GLIBC_TUNABLES", "glibc.malloc.tcache_max=512");
    add_variable(settings, "MALLOC_CONF", "tcache:false");
    add_variable(settings, "MALLOC_CONF", "abort:true");
    add_variable(settings, "TCMALLOC_RELEASE_RATE", "3");
    add_variable(settings, "TCMALLOC_RELEASE_RATE", "0");
    CHECK(settings == Variables{{"GLIBC_TUNABLES", "glibc.malloc.tcache_count=3:glibc.malloc.tcache_max=512"},
                                {"MALLOC_CONF", "tcache:false,abort:true"},
                                {"TCMALLOC_RELEASE_RATE", "0"}});
}

TEST_CASE("a choice reads as a person would say it", "[unit]")
{
    const auto text_of = [](std::size_t place) { return choice_text(allocator_choices()[place]); };
    CHECK(text_of(0) == "mimalloc large_os_pages=true");
    CHECK(text_of(1) == "glibc arena_max=1");
    CHECK(text_of(2) == "jemalloc background_thread=true dirty_decay=1s muzzy_decay=0s");
}

}  // namespace memsweep::model
