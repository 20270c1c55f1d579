#include "app/commands/case_filter.hpp"

#include <regex.h>

#include <array>
#include <memory>

#include <fmt/format.h>

#include "core/model/plan.hpp"

namespace memsweep::app {
namespace {

class Pattern {
  public:
    explicit Pattern(const std::string& expression)
        : status_{regcomp(&compiled_, expression.c_str(), REG_EXTENDED | REG_NOSUB)}
    {
    }
    Pattern(const Pattern&) = delete;
    Pattern& operator=(const Pattern&) = delete;
    ~Pattern()
    {
        if (status_ == 0) {
            regfree(&compiled_);
        }
    }

    [[nodiscard]] std::string problem() const
    {
        std::array<char, 256> text{};
        if (status_ != 0) {
            regerror(status_, &compiled_, text.data(), text.size());
        }
        return text.data();
    }

    [[nodiscard]] bool matches(const std::string& text) const
    {
        return regexec(&compiled_, text.c_str(), 0, nullptr, 0) == 0;
    }

  private:
    regex_t compiled_{};
    int status_;
};

}  // namespace

base::Expected<IdMatcher> id_matcher(const std::string& expression)
{
    const auto wanted = std::make_shared<const Pattern>(expression);
    if (const std::string problem = wanted->problem(); !problem.empty()) {
        return base::fail(base::ErrorCode::invalid_input,
                          fmt::format("\"{}\" is not a regular expression: {}", expression, problem), "--filter");
    }
    return IdMatcher{[wanted](const std::string& id) { return wanted->matches(id); }};
}

base::Expected<void> keep_matching(std::vector<model::Plan>& plans, const std::string& expression)
{
    const auto wanted = id_matcher(expression);
    if (!wanted) {
        return base::fail(wanted.error());
    }
    for (model::Plan& plan : plans) {
        std::erase_if(plan.cases, [&](const model::Case& one) { return !(*wanted)(one.id); });
    }
    return {};
}

}  // namespace memsweep::app
