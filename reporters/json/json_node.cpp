#include "reporters/json/json_node.hpp"

namespace memsweep::reporters {
namespace {

const Json null_value;

}  // namespace

JsonNode JsonNode::at(std::string_view key) const
{
    if (!value_->is_object()) {
        report_type("an object");
        return {null_value, *this, key};
    }
    const Json* found = value_->find(key);
    if (found == nullptr) {
        report(fmt::format("the key \"{}\" is missing", key));
        return {null_value, *this, key};
    }
    return {*found, *this, key};
}

bool JsonNode::has(std::string_view key) const
{
    return value_->contains(key);
}

std::string JsonNode::text() const
{
    if (const std::string* text = value_->text()) {
        return *text;
    }
    report_type("a string");
    return {};
}

std::string JsonNode::text_or_empty() const
{
    return is_null() ? std::string{} : text();
}

bool JsonNode::flag() const
{
    if (const bool* flag = value_->boolean()) {
        return *flag;
    }
    report_type("true or false");
    return {};
}

double JsonNode::number() const
{
    return optional_number().value_or(std::numeric_limits<double>::quiet_NaN());
}

std::optional<double> JsonNode::optional_number() const
{
    const std::optional<double> number = value_->number();
    if (!number && !is_null()) {
        report_type("a number or null");
    }
    return number;
}

std::optional<std::array<double, 2>> JsonNode::interval() const
{
    if (is_null()) {
        return std::nullopt;
    }
    std::vector<double> ends;
    for_each_element([&](const JsonNode& end) { ends.push_back(end.number()); });
    if (ends.size() != 2) {
        report("an interval has two ends");
        return std::nullopt;
    }
    return std::array{ends[0], ends[1]};
}

model::Scalar JsonNode::scalar() const
{
    if (const bool* flag = value_->boolean()) {
        return *flag;
    }
    if (const double* real = value_->real()) {
        return *real;
    }
    if (value_->is_number()) {
        return integer<std::int64_t>();
    }
    return text();
}

void JsonNode::report(std::string_view message) const
{
    if (!*problem_) {
        const std::string place = path();
        *problem_ = place.empty() ? std::string{message} : fmt::format("{}: {}", place, message);
    }
}

void JsonNode::report_type(std::string_view expected) const
{
    report(fmt::format("expected {}, found {}", expected, value_->kind_name()));
}

std::string JsonNode::path() const
{
    if (parent_ == nullptr) {
        return std::string{key_};
    }
    const std::string before = parent_->path();
    if (parent_->value_->is_array()) {
        return fmt::format("{}[{}]", before, index_);
    }
    return before.empty() ? std::string{key_} : fmt::format("{}.{}", before, key_);
}

}  // namespace memsweep::reporters
