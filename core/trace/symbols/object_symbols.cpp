#include "core/trace/symbols/object_symbols.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "core/sys/descriptor.hpp"
#include "core/sys/file_text.hpp"
#include "core/trace/symbols/function_names.hpp"
#ifdef MEMSWEEP_WITH_LIBDW
#include "core/trace/symbols/libdw.hpp"
#endif

namespace memsweep::trace {

std::string hex_of(std::string_view bytes)
{
    std::string text;
    for (const char byte : bytes) {
        fmt::format_to(std::back_inserter(text), "{:02x}", static_cast<unsigned char>(byte));
    }
    return text;
}

#ifdef MEMSWEEP_WITH_LIBDW
namespace {

const base::Expected<Libdw>& libdw(DebugFiles files = DebugFiles::of_this_machine)
{
    static const base::Expected<Libdw> library = load_libdw(files == DebugFiles::fetched_too);
    return library;
}

const Libdw& dw()
{
    return *libdw();
}

// The module is reported with its file.
int find_no_elf(Dwfl_Module* /*module*/, void** /*user*/, const char* /*name*/, Dwarf_Addr /*base*/, char** /*path*/,
                Elf** /*elf*/)
{
    return -1;
}

struct AddressRange {
    std::uint64_t begin{};
    std::uint64_t end{};
    std::size_t of{};
};

void add_ranges(Dwarf_Die die, std::size_t of, std::vector<AddressRange>& into)
{
    Dwarf_Addr base = 0;
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    for (std::ptrdiff_t at = 0; (at = dw().dwarf_ranges(&die, at, &base, &begin, &end)) > 0;) {
        if (begin < end) {
            into.push_back({begin, end, of});
        }
    }
}

// Of ranges that lie within each other the innermost.
std::optional<std::size_t> find_range(const std::vector<AddressRange>& sorted, std::uint64_t address)
{
    constexpr int most_within_each_other = 1000;
    auto at = std::ranges::upper_bound(sorted, address, {}, &AddressRange::begin);
    for (int tried = 0; at != sorted.begin() && tried < most_within_each_other; ++tried) {
        --at;
        if (address < at->end) {
            return at->of;
        }
    }
    return std::nullopt;
}

// Calls visit(child) until it returns true.
template <typename Visit>
bool any_child(Dwarf_Die die, Visit visit)
{
    Dwarf_Die child;
    if (dw().dwarf_child(&die, &child) != 0) {
        return false;
    }
    do {
        if (visit(child)) {
            return true;
        }
    } while (dw().dwarf_siblingof(&child, &child) == 0);
    return false;
}

// What it says itself, or where it refers to.
std::string_view text_of(Dwarf_Die die, unsigned name)
{
    Dwarf_Attribute attribute;
    const bool is_there = dw().dwarf_attr_integrate(&die, name, &attribute) != nullptr;
    const char* const text = is_there ? dw().dwarf_formstring(&attribute) : nullptr;
    return text == nullptr ? std::string_view{} : std::string_view{text};
}

// Functions that no other file can name, static ones and those of unnamed namespaces, have none.
std::string_view linkage_name_of(Dwarf_Die die)
{
    const std::string_view name = text_of(die, DW_AT_linkage_name);
    return name.empty() ? text_of(die, DW_AT_MIPS_linkage_name) : name;
}

// The declaration that an instance of a function leads to.
Dwarf_Die declaration_of(Dwarf_Die die)
{
    constexpr int most_steps = 8;
    for (int step = 0; step < most_steps; ++step) {
        Dwarf_Attribute attribute;
        Dwarf_Die next;
        const bool leads_on = dw().dwarf_attr(&die, DW_AT_abstract_origin, &attribute) != nullptr ||
                              dw().dwarf_attr(&die, DW_AT_specification, &attribute) != nullptr;
        if (!leads_on || dw().dwarf_formref_die(&attribute, &next) == nullptr) {
            break;
        }
        die = next;
    }
    return die;
}

}  // namespace

class ObjectSymbols::Loaded {
  public:
    Loaded() : dwfl_{dw().dwfl_begin(&callbacks_)} {}
    ~Loaded() { dw().dwfl_end(dwfl_); }
    Loaded(const Loaded&) = delete;
    Loaded& operator=(const Loaded&) = delete;

    [[nodiscard]] bool report(const std::string& path, sys::UniqueFd file)
    {
        const int descriptor = ::dup(file.get());  // which libdw closes
        module_ = dw().dwfl_report_elf(dwfl_, path.c_str(), path.c_str(), descriptor, 0, true);
        if (module_ == nullptr) {
            ::close(descriptor);
            return false;
        }
        dw().dwfl_report_end(dwfl_, nullptr, nullptr);
        GElf_Addr bias = 0;
        return dw().dwfl_module_getelf(module_, &bias) != nullptr;
    }

    [[nodiscard]] std::string_view build_id() const
    {
        const unsigned char* bits = nullptr;
        GElf_Addr place = 0;
        const int bytes = dw().dwfl_module_build_id(module_, &bits, &place);
        return bytes <= 0 ? std::string_view{}
                          : std::string_view{reinterpret_cast<const char*>(bits), static_cast<std::size_t>(bytes)};
    }

    void read_units()
    {
        Dwarf_Addr bias = 0;
        for (Dwarf_Die* unit = nullptr; (unit = dw().dwfl_module_nextcu(module_, unit, &bias)) != nullptr;) {
            bias_ = bias;
            units_.push_back({.die = *unit});
            add_ranges(*unit, units_.size() - 1, unit_ranges_);
        }
        std::ranges::stable_sort(unit_ranges_, {}, &AddressRange::begin);
    }

    [[nodiscard]] std::vector<NamedPlace> at(std::uint64_t address)
    {
        std::vector<NamedPlace> places;
        const std::uint64_t own = address - bias_;
        if (const auto unit = find_range(unit_ranges_, own)) {
            add_debugged(units_[*unit], own, places);
        }
        if (places.empty() || places.back().function.empty() || !has_linkage_name_) {
            name_by_symbol(address, places);
        }
        return places;
    }

  private:
    struct Unit {
        Dwarf_Die die{};
        bool is_read{};
        std::vector<Dwarf_Die> functions{};
        std::vector<AddressRange> ranges{};
        std::map<Dwarf_Off, std::string> scopes{};  // of functions without a linkage name: "rows::"
        Dwarf_Files* files{};
    };

    struct Symbol {
        std::uint64_t begin{};
        std::uint64_t size{};
        int rank{};
        const char* name{};  // in the file
    };

    void read_functions(Unit& unit)
    {
        unit.is_read = true;
        std::size_t count = 0;
        dw().dwarf_getsrcfiles(&unit.die, &unit.files, &count);
        add_functions(unit.die, unit, {}, 0);
        std::ranges::stable_sort(unit.ranges, {}, &AddressRange::begin);
    }

    static void add_functions(Dwarf_Die die, Unit& unit, const std::string& scope, unsigned depth)
    {
        constexpr unsigned most_deep = 100;
        any_child(die, [&](Dwarf_Die child) {
            const int tag = dw().dwarf_tag(&child);
            if (tag == DW_TAG_subprogram) {
                unit.functions.push_back(child);
                add_ranges(child, unit.functions.size() - 1, unit.ranges);
                if (!scope.empty() && linkage_name_of(child).empty()) {
                    unit.scopes.emplace(dw().dwarf_dieoffset(&child), scope);
                }
            }
            const bool may_hold_functions = tag == DW_TAG_subprogram || tag == DW_TAG_namespace ||
                                            tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
                                            tag == DW_TAG_union_type || tag == DW_TAG_lexical_block ||
                                            tag == DW_TAG_module;
            if (may_hold_functions && depth < most_deep) {
                add_functions(child, unit, scope + scope_name(child, tag), depth + 1);
            }
            return false;
        });
    }

    static std::string scope_name(Dwarf_Die die, int tag)
    {
        if (tag == DW_TAG_lexical_block) {
            return {};
        }
        const std::string_view name = text_of(die, DW_AT_name);
        if (name.empty()) {
            return tag == DW_TAG_namespace ? "(anonymous namespace)::" : "{unnamed}::";  // a lambda's class
        }
        return fmt::format("{}::", name);
    }

    static std::string name_of_function(Dwarf_Die die, const Unit& unit)
    {
        const std::string_view mangled = linkage_name_of(die);
        if (!mangled.empty()) {
            return demangled(mangled);
        }
        Dwarf_Die declaration = declaration_of(die);
        const auto scope = unit.scopes.find(dw().dwarf_dieoffset(&declaration));
        std::string name = scope == unit.scopes.end() ? std::string{} : scope->second;
        return name.append(text_of(die, DW_AT_name));
    }

    // From the outermost to the innermost.
    static void find_inlined(Dwarf_Die die, std::uint64_t address, std::vector<Dwarf_Die>& chain, unsigned depth)
    {
        constexpr unsigned most_deep = 200;
        if (depth == most_deep) {
            return;
        }
        any_child(die, [&](Dwarf_Die child) {
            const int tag = dw().dwarf_tag(&child);
            if (tag == DW_TAG_inlined_subroutine && dw().dwarf_haspc(&child, address) > 0) {
                chain.push_back(child);
                find_inlined(child, address, chain, depth + 1);
                return true;
            }
            const bool is_block = tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
            const std::size_t before = chain.size();
            if (is_block && dw().dwarf_haspc(&child, address) > 0) {
                find_inlined(child, address, chain, depth + 1);
            }
            return chain.size() != before;
        });
    }

    static std::optional<std::uint64_t> number_of(Dwarf_Die die, unsigned name)
    {
        Dwarf_Attribute attribute;
        Dwarf_Word value = 0;
        const bool is_there =
            dw().dwarf_attr(&die, name, &attribute) != nullptr && dw().dwarf_formudata(&attribute, &value) == 0;
        return is_there ? std::optional<std::uint64_t>{value} : std::nullopt;
    }

    void add_debugged(Unit& unit, std::uint64_t address, std::vector<NamedPlace>& places)
    {
        if (!unit.is_read) {
            read_functions(unit);
        }
        std::vector<Dwarf_Die> chain;
        if (const auto function = find_range(unit.ranges, address)) {
            chain.push_back(unit.functions[*function]);
            has_linkage_name_ = !linkage_name_of(chain.front()).empty();
            find_inlined(chain.front(), address, chain, 0);
        }
        NamedPlace place;
        if (Dwarf_Line* const line = dw().dwarf_getsrc_die(&unit.die, address)) {
            const char* const file = dw().dwarf_linesrc(line, nullptr, nullptr);
            int number = 0;
            place.file = file == nullptr ? "" : file;
            place.line = dw().dwarf_lineno(line, &number) == 0 && number > 0 ? static_cast<std::uint32_t>(number) : 0;
        }
        for (; !chain.empty(); chain.pop_back()) {
            place.function = name_of_function(chain.back(), unit);
            const auto file = number_of(chain.back(), DW_AT_call_file);
            const auto line = number_of(chain.back(), DW_AT_call_line);
            places.push_back(std::exchange(place, {}));
            const char* const name =
                file && unit.files != nullptr ? dw().dwarf_filesrc(unit.files, *file, nullptr, nullptr) : nullptr;
            place.file = name == nullptr ? "" : name;
            place.line = static_cast<std::uint32_t>(line.value_or(0));
        }
        if (places.empty()) {
            places.push_back(std::move(place));
        }
    }

    // libdw looks through the whole table for each address.
    void read_symbols()
    {
        const int count = dw().dwfl_module_getsymtab(module_);
        for (int i = 1; i < count; ++i) {
            GElf_Sym symbol{};
            GElf_Addr address = 0;
            GElf_Word section = 0;
            const char* const name =
                dw().dwfl_module_getsym_info(module_, i, &symbol, &address, &section, nullptr, nullptr);
            const auto type = GELF_ST_TYPE(symbol.st_info);
            const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
            if (name != nullptr && *name != '\0' && section != SHN_UNDEF && is_function) {
                const auto binding = GELF_ST_BIND(symbol.st_info);
                const int rank = type == STT_NOTYPE ? 0 : binding == STB_LOCAL ? 1 : binding == STB_WEAK ? 2 : 3;
                symbols_.push_back({address, symbol.st_size, rank, name});
            }
        }
        std::ranges::stable_sort(symbols_, {}, [](const Symbol& one) { return std::pair{one.begin, one.rank}; });
    }

    // The nearest symbol before it, unless it says that it ends before.
    [[nodiscard]] const char* symbol_at(std::uint64_t address)
    {
        if (!std::exchange(has_symbols_, true)) {
            read_symbols();
        }
        constexpr std::uint64_t most_without_size = 256;  // code of assembler
        constexpr int most_around = 64;                   // of several that begin before it and end before it too
        auto at = std::ranges::upper_bound(symbols_, address, {}, &Symbol::begin);
        for (int tried = 0; at != symbols_.begin() && tried < most_around; ++tried) {
            --at;
            if (address - at->begin < (at->size == 0 && tried == 0 ? most_without_size : at->size)) {
                return at->name;
            }
        }
        return nullptr;
    }

    // A symbol tells more of a function than a name without its scope and arguments does.
    void name_by_symbol(std::uint64_t address, std::vector<NamedPlace>& places)
    {
        const char* const name = symbol_at(address);
        const bool is_nameless = places.empty() || places.back().function.empty();
        const bool is_mangled =
            name != nullptr && (std::string_view{name}.starts_with("_Z") || std::string_view{name}.starts_with("_R"));
        if (name != nullptr && (is_nameless || is_mangled)) {
            places.resize(std::max<std::size_t>(places.size(), 1));
            places.back().function = demangled(name);
        } else if (!places.empty() && is_nameless && places.back().file.empty()) {
            places.pop_back();
        }
    }

    Dwfl_Callbacks callbacks_{.find_elf = find_no_elf,
                              .find_debuginfo = dw().dwfl_standard_find_debuginfo,
                              .section_address = nullptr,
                              .debuginfo_path = nullptr};
    Dwfl* dwfl_;
    Dwfl_Module* module_{};
    Dwarf_Addr bias_{};
    std::vector<Unit> units_;
    std::vector<AddressRange> unit_ranges_;
    std::vector<Symbol> symbols_;  // by begin, the best of a place last
    bool has_symbols_{};
    bool has_linkage_name_{};  // the function that was found last
};

base::Expected<ObjectSymbols> ObjectSymbols::open(const std::string& path, std::string_view build_id, DebugFiles files)
{
    if (!libdw(files)) {
        return base::fail(libdw().error());
    }
    const auto try_file = [&](const std::string& name) -> base::Expected<std::unique_ptr<Loaded>> {
        sys::UniqueFd file{::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
        struct stat facts {};
        if (!file.valid() || ::fstat(file.get(), &facts) != 0) {
            return base::fail(sys::io_error("cannot open", errno, path));
        }
        auto loaded = std::make_unique<Loaded>();
        if (!S_ISREG(facts.st_mode) || !loaded->report(name, std::move(file))) {
            return base::fail(base::ErrorCode::invalid_input, "is no program or library", path);
        }
        if (!build_id.empty() && loaded->build_id() != build_id) {
            return base::fail(base::ErrorCode::invalid_input,
                              fmt::format("was replaced since: its build id is {}, that of what ran {}",
                                          loaded->build_id().empty() ? "absent" : hex_of(loaded->build_id()),
                                          hex_of(build_id)),
                              path);
        }
        loaded->read_units();
        return loaded;
    };
    auto loaded = try_file(path);
    if (!loaded && build_id.size() > 1) {
        const std::string digits = hex_of(build_id);
        auto debug =
            try_file(fmt::format("/usr/lib/debug/.build-id/{}/{}.debug", digits.substr(0, 2), digits.substr(2)));
        if (debug) {
            loaded = std::move(debug);
        }
    }
    return loaded.map([](std::unique_ptr<Loaded>& whole) { return ObjectSymbols{std::move(whole)}; });
}

std::vector<NamedPlace> ObjectSymbols::at(std::uint64_t address)
{
    return loaded_->at(address);
}
#else
class ObjectSymbols::Loaded {};

base::Expected<ObjectSymbols> ObjectSymbols::open(const std::string& /*path*/, std::string_view /*build_id*/,
                                                  DebugFiles /*files*/)
{
    return base::fail(base::ErrorCode::not_supported,
                      "this memsweep was built without libdw, and tells no functions and lines (Debian: libdw-dev)");
}

std::vector<NamedPlace> ObjectSymbols::at(std::uint64_t /*address*/)
{
    return {};
}
#endif

ObjectSymbols::ObjectSymbols(std::unique_ptr<Loaded> loaded) : loaded_{std::move(loaded)} {}
ObjectSymbols::ObjectSymbols(ObjectSymbols&&) noexcept = default;
ObjectSymbols& ObjectSymbols::operator=(ObjectSymbols&&) noexcept = default;
ObjectSymbols::~ObjectSymbols() = default;

}  // namespace memsweep::trace
