#include "core/trace/import/flat_json.hpp"

#include <array>
#include <cstring>

#include <nlohmann/json.hpp>

namespace memsweep::trace {
namespace {

void skip_blanks(const char*& at, const char* end)
{
    while (at != end && (*at == ' ' || *at == '\t')) {
        ++at;
    }
}

bool take(const char*& at, const char* end, char wanted)
{
    skip_blanks(at, end);
    if (at == end || *at != wanted) {
        return false;
    }
    ++at;
    return true;
}

bool take_text(const char*& at, const char* end, std::string_view& text)
{
    if (!take(at, end, '"')) {
        return false;
    }
    const auto* const close = static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
    if (close == nullptr) {
        return false;
    }
    text = {at, static_cast<std::size_t>(close - at)};
    at = close + 1;
    return text.find('\\') == std::string_view::npos;
}

bool take_word(const char*& at, const char* end, std::string_view& word)
{
    const char* const begin = at;
    while (at != end && ((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') || *at == '-' || *at == '+' ||
                         *at == '.' || *at == 'E')) {
        ++at;
    }
    word = {begin, static_cast<std::size_t>(at - begin)};
    return !word.empty();
}

}  // namespace

bool FlatJson::parse(std::string_view line)
{
    members_.clear();
    texts_.clear();
    return scan(line) || parse_slowly(line);
}

bool FlatJson::scan(std::string_view line)
{
    const char* at = line.data();
    const char* const end = at + line.size();
    if (!scan_object(at, end, {})) {
        return false;
    }
    skip_blanks(at, end);
    return at == end;
}

bool FlatJson::scan_object(const char*& at, const char* end, std::string_view name)
{
    if (!take(at, end, '{')) {
        return false;
    }
    if (take(at, end, '}')) {
        return true;
    }
    do {
        Member member{.object = name};
        if (!take_text(at, end, member.key) || !take(at, end, ':')) {
            return false;
        }
        skip_blanks(at, end);
        if (at != end && *at == '{') {
            if (!name.empty() || !scan_object(at, end, member.key)) {
                return false;
            }
            continue;
        }
        if (!(at != end && *at == '"' ? take_text(at, end, member.value) : take_word(at, end, member.value))) {
            return false;
        }
        members_.push_back(member);
    } while (take(at, end, ','));
    return take(at, end, '}');
}

bool FlatJson::parse_slowly(std::string_view line)
{
    members_.clear();
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object()) {
        return false;
    }
    std::vector<std::array<std::string, 3>> found;
    const auto add = [&](const std::string& object, const auto& values) {
        for (const auto& [key, value] : values.items()) {
            if (value.is_string()) {
                found.push_back({object, key, value.template get<std::string>()});
            } else if (value.is_number()) {
                found.push_back({object, key, value.dump()});
            }
        }
    };
    add("", json);
    for (const auto& [key, value] : json.items()) {
        if (value.is_object()) {
            add(key, value);
        }
    }
    texts_.reserve(found.size() * 3);
    for (auto& [object, key, value] : found) {
        texts_.push_back(std::move(object));
        texts_.push_back(std::move(key));
        texts_.push_back(std::move(value));
    }
    for (std::size_t i = 0; i < texts_.size(); i += 3) {
        members_.push_back({texts_[i], texts_[i + 1], texts_[i + 2]});
    }
    return true;
}

std::string_view FlatJson::get(std::string_view object, std::string_view key) const
{
    for (const Member& member : members_) {
        if (member.key == key && member.object == object) {
            return member.value;
        }
    }
    return {};
}

}  // namespace memsweep::trace
