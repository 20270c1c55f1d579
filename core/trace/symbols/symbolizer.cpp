#include "core/trace/symbols/symbolizer.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/sys/descriptor.hpp"
#include "core/trace/symbols/function_names.hpp"

namespace memsweep::trace {
namespace {

// A map that somebody else could have put there, or that is older than the recording, tells of another process.
std::string own_map_text(const std::string& path, std::int64_t since)
{
    constexpr off_t most_bytes = 256 << 20;
    const sys::UniqueFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK)};
    struct stat facts {};
    const bool is_own = file.valid() && ::fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode) &&
                        (facts.st_uid == 0 || facts.st_uid == ::geteuid()) && facts.st_size <= most_bytes &&
                        facts.st_mtime >= since;
    std::string text(is_own ? static_cast<std::size_t>(facts.st_size) : 0, '\0');
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t got =
            sys::retry_interrupted([&] { return ::read(file.get(), text.data() + done, text.size() - done); });
        if (got <= 0) {
            break;
        }
        done += static_cast<std::size_t>(got);
    }
    text.resize(done);
    return text;
}

}  // namespace

std::string_view file_name(std::string_view path)
{
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view Symbolizer::kept(std::string_view text)
{
    const auto known = index_.find(text);
    if (known != index_.end()) {
        return *known;
    }
    const std::string& own = texts_.emplace_back(text);
    return *index_.insert(own).first;
}

// Of several that had the place one after the other, the one that was there when the node was first used.
const LoadedModule* Symbolizer::module_of(std::uint32_t node) const
{
    const std::uint64_t address = table_->node(node).address - 1;
    const std::uint64_t when = node < first_uses_.size() ? first_uses_[node] : ~0ULL;
    const LoadedModule* best = nullptr;
    for (const LoadedModule& module : table_->modules(table_->image_of(node))) {
        const bool is_there = address >= module.begin && address - module.begin < module.size;
        const bool is_later = best == nullptr || module.first_ticks >= best->first_ticks;
        if (is_there && (best == nullptr || (is_later && module.first_ticks <= when))) {
            best = &module;
        }
    }
    return best;
}

std::span<const ResolvedFrame> Symbolizer::at(std::uint32_t node)
{
    const Key key{table_->image_of(node), table_->node(node).address, module_of(node)};
    const auto known = known_.find(key);
    return known != known_.end() ? known->second : known_.emplace(key, resolve(key)).first->second;
}

std::vector<ResolvedFrame> Symbolizer::resolve(const Key& key)
{
    const auto& [image, address, module] = key;
    if (const auto names = table_->names(image, address)) {
        return named_by_trace(*names, address);
    }
    if (address == callers_not_followed) {
        return {{.function = kept("[callers not known]")}};
    }
    if (module != nullptr) {
        return named_by_object(*module, address);
    }
    if (const auto frame = named_by_map(image, address)) {
        return {*frame};
    }
    return {{.function = kept(address == 0 ? std::string{"not known"} : fmt::format("{:#x}", address))}};
}

std::vector<ResolvedFrame> Symbolizer::named_by_trace(const NamedAddress& names, std::uint64_t address)
{
    std::vector<ResolvedFrame> frames;
    for (const SourceFrame& frame : names.frames) {
        const bool is_ours = is_interpreted(address);
        const std::string_view function = is_ours ? kept(frame.function) : kept(demangled(frame.function));
        frames.push_back({function, kept(frame.file), frame.line, names.module, true, is_ours});
    }
    std::erase_if(frames, [](const ResolvedFrame& frame) { return frame.function.empty(); });
    if (frames.empty()) {
        const std::string text = names.module.empty() ? fmt::format("{:#x}", address)
                                                      : fmt::format("{}@{:#x}", file_name(names.module), address);
        frames.push_back({.function = kept(text), .module = names.module});
    }
    return frames;
}

std::vector<ResolvedFrame> Symbolizer::named_by_object(const LoadedModule& module, std::uint64_t address)
{
    const std::uint64_t own = address - 1 - module.bias;
    std::vector<ResolvedFrame> frames;
    if (ObjectSymbols* const symbols = symbols_of(module)) {
        for (const NamedPlace& place : symbols->at(own)) {
            const bool is_named = !place.function.empty();
            const std::string name =
                is_named ? place.function : fmt::format("{}+{:#x}", file_name(module.path), own + 1);
            frames.push_back({kept(name), kept(place.file), place.line, module.path, is_named});
        }
    }
    if (frames.empty()) {
        const std::string_view file = module.path.empty() ? std::string_view{"?"} : file_name(module.path);
        frames.push_back({.function = kept(fmt::format("{}+{:#x}", file, own + 1)), .module = module.path});
    }
    return frames;
}

ObjectSymbols* Symbolizer::symbols_of(const LoadedModule& module)
{
    const auto [place, is_new] = objects_.try_emplace({module.path, module.build_id});
    const bool is_file = module.path.starts_with('/');  // others are the kernel's: the vdso
    if (is_new && is_file) {
        auto opened = ObjectSymbols::open(std::string{module.path}, module.build_id, files_);
        if (opened) {
            place->second.emplace(std::move(*opened));
        } else {
            const base::Error& error = opened.error();
            notes_.insert(error.where.empty() ? error.message : error.where + ": " + error.message);
        }
    }
    return place->second ? &*place->second : nullptr;
}

const std::vector<Symbolizer::MapEntry>& Symbolizer::map_of(std::uint32_t process)
{
    const auto [place, is_new] = maps_.try_emplace(process);
    if (!is_new) {
        return place->second;
    }
    const std::string text = own_map_text(fmt::format("/tmp/perf-{}.map", process), since_);
    std::string_view rest = text;
    while (!rest.empty()) {
        std::string_view line = base::take_until(rest, '\n');
        const auto begin = base::parse_number(base::take_until(line, ' '), 16);
        const auto size = base::parse_number(base::take_until(line, ' '), 16);
        if (begin && size && !line.empty() && *size <= ~0ULL - *begin) {
            place->second.push_back({*begin, *begin + *size, kept(line)});
        }
    }
    std::ranges::stable_sort(place->second, {}, &MapEntry::begin);
    return place->second;
}

std::optional<ResolvedFrame> Symbolizer::named_by_map(const StackImage& image, std::uint64_t address)
{
    const std::vector<MapEntry>& map = map_of(image.process);
    const auto behind = std::ranges::upper_bound(map, address - 1, {}, &MapEntry::begin);
    if (behind == map.begin() || address - 1 >= std::prev(behind)->end) {
        return std::nullopt;
    }
    return ResolvedFrame{.function = std::prev(behind)->name, .is_named = true};
}

}  // namespace memsweep::trace
