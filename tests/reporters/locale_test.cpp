#include <clocale>
#include <locale>

#include "reporters/formats.hpp"
#include "reporters/json/result_json.hpp"
#include "tests/reporters/sample_report.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

// What de_DE does to numbers, where that locale is not installed.
class GermanNumbers : public std::numpunct<char> {
  protected:
    [[nodiscard]] char do_decimal_point() const override { return ','; }
    [[nodiscard]] char do_thousands_sep() const override { return '.'; }
    [[nodiscard]] std::string do_grouping() const override { return "\3"; }
};

// Sets the C++ and, where it is installed, the C locale; restores both.
class ForeignLocale {
  public:
    ForeignLocale() : before_{std::locale::global(std::locale{std::locale::classic(), new GermanNumbers})}
    {
        for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "de_DE"}) {
            has_c_locale_ = has_c_locale_ || std::setlocale(LC_ALL, name) != nullptr;
        }
    }
    ~ForeignLocale()
    {
        std::locale::global(before_);
        std::setlocale(LC_ALL, "C");
    }
    ForeignLocale(const ForeignLocale&) = delete;
    ForeignLocale& operator=(const ForeignLocale&) = delete;
    [[nodiscard]] bool has_c_locale() const { return has_c_locale_; }

  private:
    std::locale before_;
    bool has_c_locale_{};
};

}  // namespace

TEST_CASE("no locale changes what is written or read", "[unit]")
{
    const model::RunReport report = sample_report();
    std::vector<std::string> expected;
    for (const Format& format : formats()) {
        expected.push_back(text_in(format, report));
    }
    const std::string json = to_json(report);

    const ForeignLocale foreign;
    if (!foreign.has_c_locale()) {
        WARN("the locale de_DE.UTF-8 is not installed: only the C++ locale was changed");
    }
    for (std::size_t i = 0; i < formats().size(); ++i) {
        INFO(formats()[i].name);
        CHECK((text_in(formats()[i], report) == expected[i]));
    }
    const auto read = read_json(json, "r.json");
    REQUIRE(read);
    CHECK((to_json(*read) == json));
}

}  // namespace memsweep::reporters
