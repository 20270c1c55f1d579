#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "core/trace/import/import.hpp"

namespace memsweep::trace {
namespace {

constexpr std::size_t max_spaces = 4096;  // which of them a moved block comes from is searched for

constexpr std::size_t max_object_bytes = 1 << 20;  // its values may take forty times as much

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
        if (line.size() > max_object_bytes) {
            return "longer than any object of Umpire's";
        }
        line_ = nlohmann::json::parse(line, nullptr, false);
        if (!line_.is_object()) {
            return "not a JSON object";
        }
        return text("", "kind").empty() ? add_operation() : add_old_event();
    }
    // A cut object is none.
    static bool is_whole(std::string_view line) { return line.ends_with('}'); }
    const char* finish() { return reallocating_ ? "the log ends within a reallocate" : nullptr; }

  private:
    // A member of an object within the line, or of the line itself; null where there is none.
    [[nodiscard]] const nlohmann::json& member(std::string_view object, std::string_view key) const
    {
        static const nlohmann::json none;
        const nlohmann::json& holder = object.empty() ? line_ : member("", object);
        const auto found = holder.find(key);
        return found == holder.end() ? none : *found;
    }
    // Empty where there is none; holds until the next line.
    [[nodiscard]] std::string_view text(std::string_view object, std::string_view key) const
    {
        const auto* const found = member(object, key).get_ptr<const std::string*>();
        return found == nullptr ? std::string_view{} : std::string_view{*found};
    }
    [[nodiscard]] std::optional<std::uint64_t> number(std::string_view object, std::string_view key) const
    {
        const nlohmann::json& found = member(object, key);
        return found.is_number_unsigned() ? found.get<std::uint64_t>() : parse_number(text(object, key));
    }

    const char* add_operation()
    {
        const std::string_view name = text("", "name");
        event_ = {.ticks = number("", "timestamp").value_or(0)};
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
            const std::string_view reference = text("string_args", "allocator_ref");
            return reference.empty() ? nullptr : name_space(reference, text("tags", "allocator_name"));
        }
        if (name == "register_external_allocation" || name == "deregister_external_allocation") {
            return external(name == "register_external_allocation");
        }
        if (name == "coalesce" || name == "release") {
            const std::string label = std::string{name} + " " + std::string{text("tags", "allocator_name")};
            event_.kind = EventKind::label;
            event_.text = label;
            sink_->add(event_);
        }
        return nullptr;
    }

    // Version 4 and before. An operation with a result is logged twice: without, and then with its result.
    const char* add_old_event()
    {
        const std::string_view name = text("", "event");
        const auto uid = number("", "uid");
        if (uid_ && uid != uid_) {
            return nullptr;
        }
        event_ = {.process = static_cast<std::uint32_t>(uid.value_or(0)), .ticks = number("", "timestamp").value_or(0)};
        if (name.empty()) {
            return "no event";
        }
        if (name == "allocate") {
            return text("result", "memory_ptr").empty() ? nullptr
                                                        : allocate("payload", "result", "memory_ptr", "payload");
        }
        if (name == "deallocate") {
            return deallocate("payload", "memory_ptr");
        }
        if (name == "makeAllocator" || name == "makeMemoryResource") {
            const std::string_view object = text("result", "allocator_ref");
            const std::string_view reference = object.empty() ? text("", "result") : object;
            const std::string_view allocator = text("payload", "allocator_name");
            return reference.empty() ? nullptr
                                     : name_space(reference, allocator.empty() ? text("payload", "name") : allocator);
        }
        return nullptr;
    }

    const char* allocate(std::string_view of_allocator, std::string_view of_pointer, std::string_view key,
                         std::string_view of_size)
    {
        const auto address = address_in(of_pointer, key);
        const auto size = number(of_size, "size");
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
        if (!text("string_args", "current_ptr").empty()) {
            const auto old_address = address_in("string_args", "current_ptr");
            const auto size = number("numeric_args", "size");
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
            event_.source_space = space_of(text("string_args", "src_allocator_ref")).value_or(event_.space);
            event_.size = number("numeric_args", "size").value_or(0);
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
        event_.size = begins ? number("numeric_args", "size").value_or(0) : 0;
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
        const std::string_view pointer = text(object, key);
        return pointer.empty() ? std::nullopt : parse_pointer(pointer);
    }
    bool set_space(std::string_view object, std::string_view key)
    {
        const auto space = space_of(text(object, key));
        event_.space = space.value_or(0);
        return space.has_value();
    }
    std::optional<std::uint32_t> space_of(std::string_view reference)
    {
        const auto value = parse_pointer(reference);
        if (!value || (spaces_.size() >= max_spaces && !spaces_.contains(*value))) {
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
    nlohmann::json line_;
    Event event_;
    std::optional<Event> reallocating_;
    std::map<std::uint64_t, std::uint32_t> spaces_;
};

}  // namespace

constinit const ImportFormat umpire_format{"umpire",
                                           "Umpire's UMPIRE_REPLAY, JSON lines, of today and of version 4 and before",
                                           ns_ticks, is_umpire, import_lines<UmpireLines>};

}  // namespace memsweep::trace
