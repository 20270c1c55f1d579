#include <cstring>
#include <deque>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "core/trace/import/import.hpp"

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

// One line of JSON as a list of its plain values, each with its key and the object that holds it.
//
// Cost     about 1 ns a byte for what Umpire writes; lines with escapes or lists take nlohmann's parser, 10 times
//          longer.
// Memory   reused from line to line.
class FlatJson {
  public:
    // False for what is not a JSON object. Values live as long as the line and until the next call.
    [[nodiscard]] bool parse(std::string_view line)
    {
        members_.clear();
        texts_.clear();
        return scan(line) || parse_slowly(line);
    }
    // The value, or an empty text.
    [[nodiscard]] std::string_view get(std::string_view object, std::string_view key) const
    {
        for (const Member& member : members_) {
            if (member.key == key && member.object == object) {
                return member.value;
            }
        }
        return {};
    }

  private:
    struct Member {
        std::string_view object;  // the key of the object it is in; empty for the line's own
        std::string_view key;
        std::string_view value;  // of a text without its quotes
    };

    bool scan(std::string_view line)
    {
        const char* at = line.data();
        const char* const end = at + line.size();
        if (!scan_object(at, end, {})) {
            return false;
        }
        skip_blanks(at, end);
        return at == end;
    }

    bool scan_object(const char*& at, const char* end, std::string_view name)
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

    bool parse_slowly(std::string_view line)
    {
        members_.clear();
        const auto json = nlohmann::json::parse(line, nullptr, false);
        if (!json.is_object()) {
            return false;
        }
        add_members("", json);
        for (const auto& [key, value] : json.items()) {
            if (value.is_object()) {
                add_members(kept(key), value);
            }
        }
        return true;
    }

    void add_members(std::string_view object, const nlohmann::json& values)
    {
        for (const auto& [key, value] : values.items()) {
            if (value.is_string() || value.is_number()) {
                members_.push_back(
                    {object, kept(key), kept(value.is_string() ? value.get<std::string>() : value.dump())});
            }
        }
    }
    std::string_view kept(std::string text) { return texts_.emplace_back(std::move(text)); }

    std::vector<Member> members_;
    std::deque<std::string> texts_;
};

constexpr std::size_t max_spaces = 1 << 20;

bool is_umpire(std::string_view head)
{
    return has_line_with(head, "{", "\"kind\"") || has_line_with(head, "{", "\"category\"");
}

SpaceKind kind_of_allocator(std::string_view name)
{
    const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
    return has("PINNED")   ? SpaceKind::pinned
           : has("DEVICE") ? SpaceKind::device
           : has("UM")     ? SpaceKind::managed
           : has("HOST")   ? SpaceKind::host
                           : SpaceKind::other;
}

class UmpireLines {
  public:
    UmpireLines(ImportSink& sink, const ImportOptions& options) : sink_{&sink}, uid_{options.uid} {}

    const char* add(std::string_view line)
    {
        line = trimmed(line);
        if (line.empty() || line.front() == '#') {
            return nullptr;
        }
        if (!json_.parse(line)) {
            return "not a JSON object";
        }
        return json_.get("", "kind").empty() ? add_operation() : add_old_event();
    }
    // A cut object is none.
    static bool is_whole(std::string_view line) { return line.ends_with('}'); }
    const char* finish() { return reallocating_ ? "the log ends within a reallocate" : nullptr; }

  private:
    const char* add_operation()
    {
        const std::string_view name = json_.get("", "name");
        event_ = {.ticks = parse_number(json_.get("", "timestamp")).value_or(0)};
        if (name.empty()) {
            return "no name";
        }
        if (name == "allocate" || name == "named_allocate") {
            return allocate("string_args", "string_args", "pointer", "numeric_args");
        }
        if (name == "deallocate") {
            return deallocate("string_args", "pointer");
        }
        if (name == "reallocate") {
            return reallocate();
        }
        if (name == "copy" || name == "move") {
            return transfer(name == "copy");
        }
        if (name == "make_allocator" || name == "make_memory_resource") {
            const std::string_view reference = json_.get("string_args", "allocator_ref");
            return reference.empty() ? nullptr : name_space(reference, json_.get("tags", "allocator_name"));
        }
        if (name == "register_external_allocation" || name == "deregister_external_allocation") {
            return external(name == "register_external_allocation");
        }
        if (name == "coalesce" || name == "release") {
            const std::string text = std::string{name} + " " + std::string{json_.get("tags", "allocator_name")};
            event_.kind = EventKind::label;
            event_.text = text;
            sink_->add(event_);
        }
        return nullptr;
    }

    // Version 4 and before. An operation with a result is logged twice: without, and then with its result.
    const char* add_old_event()
    {
        const std::string_view name = json_.get("", "event");
        const auto uid = parse_number(json_.get("", "uid"));
        if (uid_ && uid != uid_) {
            return nullptr;
        }
        event_ = {.process = static_cast<std::uint32_t>(uid.value_or(0)),
                  .ticks = parse_number(json_.get("", "timestamp")).value_or(0)};
        if (name.empty()) {
            return "no event";
        }
        if (name == "allocate") {
            return json_.get("result", "memory_ptr").empty() ? nullptr
                                                             : allocate("payload", "result", "memory_ptr", "payload");
        }
        if (name == "deallocate") {
            return deallocate("payload", "memory_ptr");
        }
        if (name == "makeAllocator" || name == "makeMemoryResource") {
            const std::string_view object = json_.get("result", "allocator_ref");
            const std::string_view reference = object.empty() ? json_.get("", "result") : object;
            const std::string_view allocator = json_.get("payload", "allocator_name");
            return reference.empty()
                       ? nullptr
                       : name_space(reference, allocator.empty() ? json_.get("payload", "name") : allocator);
        }
        return nullptr;
    }

    const char* allocate(std::string_view of_allocator, std::string_view of_pointer, std::string_view key,
                         std::string_view of_size)
    {
        const auto address = address_in(of_pointer, key);
        const auto size = parse_number(json_.get(of_size, "size"));
        if (!address || !size || !set_space(of_allocator, "allocator_ref")) {
            return "an allocate without pointer, size or allocator";
        }
        event_.kind = EventKind::malloc;
        event_.address = *address;
        event_.size = *size;
        add_unless_reallocating();
        return nullptr;
    }

    const char* deallocate(std::string_view object, std::string_view key)
    {
        const auto address = address_in(object, key);
        if (!address || !set_space(object, "allocator_ref")) {
            return "a deallocate without pointer or allocator";
        }
        event_.kind = EventKind::free;
        event_.address = *address;
        add_unless_reallocating();
        return nullptr;
    }

    // The allocations and deallocations within a reallocate are logged between its two lines.
    void add_unless_reallocating()
    {
        if (!reallocating_) {
            sink_->add(event_);
        }
    }

    const char* reallocate()
    {
        if (!json_.get("string_args", "current_ptr").empty()) {
            const auto old_address = address_in("string_args", "current_ptr");
            const auto size = parse_number(json_.get("numeric_args", "size"));
            if (!old_address || !size || !set_space("string_args", "allocator_ref")) {
                return "a reallocate without pointer, size or allocator";
            }
            event_.kind = EventKind::realloc;
            event_.old_address = *old_address;
            event_.size = *size;
            reallocating_ = event_;
            return nullptr;
        }
        const auto address = address_in("string_args", "new_ptr");
        if (!address || !reallocating_) {
            return "a reallocate's second line without its first, or without pointer";
        }
        reallocating_->address = *address;
        sink_->add(*reallocating_);
        reallocating_.reset();
        return nullptr;
    }

    const char* transfer(bool is_copy)
    {
        event_.kind = is_copy ? EventKind::copy : EventKind::move;
        const auto to = address_in("string_args", is_copy ? "dst" : "ptr");
        const auto from = address_in("string_args", is_copy ? "src" : "ptr");
        if (!to || !from || !set_space("string_args", is_copy ? "dst_allocator_ref" : "allocator_ref")) {
            return "a transfer without pointers or allocators";
        }
        event_.address = *to;
        event_.old_address = *from;
        event_.source_space = event_.space;
        if (is_copy) {
            event_.source_space = space_of(json_.get("string_args", "src_allocator_ref")).value_or(event_.space);
            event_.size = parse_number(json_.get("numeric_args", "size")).value_or(0);
        } else if (const auto source = owner_of(*from)) {
            event_.source_space = source->first;
            event_.size = source->second;
        }
        sink_->add(event_);
        return nullptr;
    }

    const char* external(bool begins)
    {
        const auto address = address_in("string_args", "pointer");
        if (!set_space("string_args", "allocator_ref") && begins) {
            return "an external allocation without allocator";
        }
        event_.kind = begins ? EventKind::external : EventKind::external_end;
        event_.address = address.value_or(0);
        event_.size = begins ? parse_number(json_.get("numeric_args", "size")).value_or(0) : 0;
        sink_->add(event_);
        return nullptr;
    }

    // Which allocator a moved block comes from is not logged.
    [[nodiscard]] std::optional<std::pair<std::uint32_t, std::uint64_t>> owner_of(std::uint64_t address) const
    {
        for (const auto& [reference, space] : spaces_) {
            if (const LiveBlock* block = sink_->accounting().live().find({address, event_.process, space})) {
                return std::pair{space, block->size};
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] std::optional<std::uint64_t> address_in(std::string_view object, std::string_view key) const
    {
        const std::string_view text = json_.get(object, key);
        return text.empty() ? std::nullopt : parse_pointer(text);
    }
    bool set_space(std::string_view object, std::string_view key)
    {
        const auto space = space_of(json_.get(object, key));
        event_.space = space.value_or(0);
        return space.has_value();
    }
    std::optional<std::uint32_t> space_of(std::string_view reference)
    {
        const auto value = parse_pointer(reference);
        if (!value || spaces_.size() >= max_spaces) {
            return std::nullopt;
        }
        return spaces_.try_emplace(*value, static_cast<std::uint32_t>(spaces_.size() + 1)).first->second;
    }
    const char* name_space(std::string_view reference, std::string_view name)
    {
        if (const auto space = space_of(reference)) {
            sink_->define_space(*space, kind_of_allocator(name), 0, name);
            return nullptr;
        }
        return "the allocator is not a pointer";
    }

    ImportSink* sink_;
    std::optional<std::uint64_t> uid_;
    FlatJson json_;
    Event event_;
    std::optional<Event> reallocating_;
    std::map<std::uint64_t, std::uint32_t> spaces_;
};

}  // namespace

constinit const ImportFormat umpire_format{"umpire",
                                           "Umpire's UMPIRE_REPLAY, JSON lines, of today and of version 4 and before",
                                           ns_ticks, is_umpire, import_lines<UmpireLines>};

}  // namespace memsweep::trace
