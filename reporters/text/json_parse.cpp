#include "reporters/text/json_parse.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/assert.hpp"

namespace memsweep::reporters {
namespace {

constexpr auto not_kept = static_cast<std::size_t>(-1);  // the place of a member that is left out, or has yet to come

// Hands on what nlohmann/json reads.
class Adapter : public nlohmann::json_sax<nlohmann::json> {
  public:
    explicit Adapter(JsonBuilder& builder) : builder_{builder} {}

    bool null() override { return plain(nullptr); }
    bool boolean(bool value) override { return plain(value); }
    bool number_integer(number_integer_t value) override { return plain(value); }
    bool number_unsigned(number_unsigned_t value) override { return plain(value); }
    bool number_float(number_float_t value, const string_t& /*text*/) override { return plain(value); }
    bool string(string_t& value) override { return plain(std::move(value)); }
    bool binary(binary_t& /*value*/) override { return false; }  // no text holds any
    bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
    bool end_object() override { return end_array(); }
    bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
    bool end_array() override
    {
        builder_.close();
        return true;
    }
    bool key(string_t& name) override
    {
        builder_.key(std::move(name));
        return goes_on();
    }
    bool parse_error(std::size_t byte, const std::string& /*token*/, const nlohmann::detail::exception& error) override
    {
        constexpr int number_out_of_range = 406;
        failure_ = JsonFailure{byte, error.id == number_out_of_range ? error.what() : "", false};
        return false;
    }

    [[nodiscard]] const std::optional<JsonFailure>& failure() const { return failure_; }

  private:
    bool plain(Json value)
    {
        builder_.add(std::move(value));
        return goes_on();
    }
    bool open(Json container)
    {
        builder_.open(std::move(container));
        return goes_on();
    }
    bool goes_on()
    {
        if (builder_.is_too_large()) {
            failure_ = JsonFailure{.is_too_large = true};
        }
        return !failure_;
    }

    JsonBuilder& builder_;
    std::optional<JsonFailure> failure_;
};

}  // namespace

void JsonBuilder::open(Json empty_container)
{
    levels_.push_back({.container = std::move(empty_container)});
}

void JsonBuilder::close()
{
    Level closed = std::move(levels_.back());
    levels_.pop_back();
    const std::size_t before = held_;
    add(std::move(closed.container));
    if (held_ == before) {  // it is left out, with all that it holds
        held_ -= closed.held;
    } else if (!levels_.empty()) {
        levels_.back().held += closed.held;
    }
}

void JsonBuilder::key(std::string name)
{
    Level& level = levels_.back();
    level.key = std::move(name);
    level.is_repeated = !level.places.try_emplace(level.key, not_kept).second;
    meet_key();
}

void JsonBuilder::add(Json value)
{
    if (levels_.empty()) {
        ++held_;
        whole_ = std::move(value);
        return;
    }
    Level& level = levels_.back();
    if (!take(value)) {
        constexpr std::size_t of_a_member = 3;
        const std::size_t more = level.container.is_object() ? of_a_member : 1;
        held_ += more;
        level.held += more;
        if (level.container.is_array()) {
            level.container.elements().push_back(std::move(value));
        } else if (std::size_t& place = level.places[level.key]; place == not_kept) {
            place = level.container.size();
            level.container.members().push_back({level.key, std::move(value)});
        } else {
            level.container.members()[place].value = std::move(value);
        }
    }
    ++level.index;
}

std::optional<JsonFailure> parse_json(std::string_view text, JsonBuilder& builder)
{
    Adapter adapter{builder};
    if (nlohmann::json::sax_parse(text, &adapter)) {
        return std::nullopt;
    }
    return adapter.failure().value_or(JsonFailure{});
}

Json json_of(std::string_view text)
{
    JsonBuilder builder{most_held(text.size())};
    const auto failure = parse_json(text, builder);
    MEMSWEEP_ASSERT(!failure, "JSON that is part of the program is well formed");
    return builder.whole();
}

}  // namespace memsweep::reporters
