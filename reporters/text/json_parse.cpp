#include "reporters/text/json_parse.hpp"

#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/assert.hpp"

namespace memsweep::reporters {
namespace {

// nlohmann's events as ours.
class Adapter : public nlohmann::json_sax<nlohmann::json> {
  public:
    explicit Adapter(JsonEvents& events) : events_{events} {}

    bool null() override { return plain(nullptr); }
    bool boolean(bool value) override { return plain(value); }
    bool number_integer(number_integer_t value) override { return plain(value); }
    bool number_unsigned(number_unsigned_t value) override { return plain(value); }
    bool number_float(number_float_t value, const string_t& /*text*/) override { return plain(value); }
    bool string(string_t& value) override { return plain(std::move(value)); }
    bool binary(binary_t& /*value*/) override { return false; }  // no text holds any
    bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
    bool end_object() override { return close(); }
    bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
    bool end_array() override { return close(); }
    bool key(string_t& name) override
    {
        events_.key(std::move(name));
        return true;
    }
    bool parse_error(std::size_t byte, const std::string& /*token*/, const nlohmann::detail::exception& error) override
    {
        constexpr int number_out_of_range = 406;
        failure_ = JsonFailure{byte, error.id == number_out_of_range ? error.what() : ""};
        return false;
    }

    [[nodiscard]] const std::optional<JsonFailure>& failure() const { return failure_; }

  private:
    bool plain(Json value)
    {
        events_.value(std::move(value));
        return true;
    }
    bool open(Json container)
    {
        events_.open(std::move(container));
        return true;
    }
    bool close()
    {
        events_.close();
        return true;
    }

    JsonEvents& events_;
    std::optional<JsonFailure> failure_;
};

class Builder : public JsonEvents {
  public:
    void open(Json empty_container) override { open_.push_back({std::move(empty_container), {}}); }
    void close() override
    {
        Json value = std::move(open_.back().container);
        open_.pop_back();
        add(std::move(value));
    }
    void key(std::string name) override { open_.back().key = std::move(name); }
    void value(Json plain) override { add(std::move(plain)); }

    [[nodiscard]] Json finish() { return std::move(whole_); }

  private:
    struct Level {
        Json container;
        std::string key;
    };

    void add(Json value)
    {
        if (open_.empty()) {
            whole_ = std::move(value);
        } else if (Level& level = open_.back(); level.container.is_array()) {
            level.container.push_back(std::move(value));
        } else {
            level.container[level.key] = std::move(value);
        }
    }

    std::vector<Level> open_;
    Json whole_;
};

}  // namespace

std::optional<JsonFailure> parse_json(std::string_view text, JsonEvents& events)
{
    Adapter adapter{events};
    if (nlohmann::json::sax_parse(text, &adapter)) {
        return std::nullopt;
    }
    return adapter.failure().value_or(JsonFailure{});
}

Json json_of(std::string_view text)
{
    Builder builder;
    const auto failure = parse_json(text, builder);
    MEMSWEEP_ASSERT(!failure, "JSON that is part of the program is well formed");
    return builder.finish();
}

}  // namespace memsweep::reporters
