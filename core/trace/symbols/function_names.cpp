#include "core/trace/symbols/function_names.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <utility>

#include <cxxabi.h>

#include "core/trace/symbols/rust_names.hpp"

namespace memsweep::trace {
namespace {

constexpr std::size_t longest_mangled = 16 << 10;

bool is_hex(std::string_view text)
{
    return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

void replace_all(std::string& text, std::string_view from, std::string_view to)
{
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

// Rust's older names are C++ names that end in a hash, "::h0123456789abcdef", with signs spelled out between dollars.
void tidy_rust(std::string& name)
{
    constexpr std::size_t hash_digits = 16;
    constexpr std::size_t hash_bytes = 3 + hash_digits;
    const bool has_hash = name.size() > hash_bytes && name.compare(name.size() - hash_bytes, 3, "::h") == 0 &&
                          is_hex(std::string_view{name}.substr(name.size() - hash_digits));
    if (!has_hash) {
        return;
    }
    name.resize(name.size() - hash_bytes);
    constexpr std::array<std::pair<std::string_view, std::string_view>, 11> signs{{{"_$", "$"},
                                                                                   {"$LT$", "<"},
                                                                                   {"$GT$", ">"},
                                                                                   {"$RF$", "&"},
                                                                                   {"$BP$", "*"},
                                                                                   {"$C$", ","},
                                                                                   {"$LP$", "("},
                                                                                   {"$RP$", ")"},
                                                                                   {"$u20$", " "},
                                                                                   {"$u7b$", "{"},
                                                                                   {"$u7d$", "}"}}};
    for (const auto& [from, to] : signs) {
        replace_all(name, from, to);
    }
    replace_all(name, "..", "::");
}

bool begins_with_one_of(std::string_view text, const auto& beginnings)
{
    return std::ranges::any_of(beginnings, [&](std::string_view beginning) { return text.starts_with(beginning); });
}

constexpr std::array<std::string_view, 4> crates_of_rust{"alloc::", "core::", "std::", "hashbrown::"};

// Whether Rust's own crates have the type, as they have all that are no names: numbers, slices, tuples, parameters.
bool is_type_of_rust(std::string_view type)
{
    for (const std::string_view sign : {"&", "mut ", "*const ", "*mut ", "dyn "}) {
        type.remove_prefix(type.starts_with(sign) ? sign.size() : 0);
    }
    const std::string_view head = type.substr(0, type.find_first_of("<[( "));
    return head.find("::") == std::string_view::npos || begins_with_one_of(head, crates_of_rust);
}

// "<TYPE as TRAIT>::function" or "<TYPE>::function", where neither is the program's: only whoever has one of them can
// have written it.
bool is_function_of_rust(std::string_view name)
{
    constexpr std::string_view as = " as ";
    unsigned depth = 0;
    std::string_view type;
    std::size_t from = 1;
    for (std::size_t at = 0; name.starts_with('<') && at < name.size(); ++at) {
        const std::string_view rest = name.substr(at);
        if (rest.starts_with("->")) {
            ++at;
        } else if (name[at] == '<') {
            ++depth;
        } else if (depth == 1 && rest.starts_with(as)) {
            type = name.substr(from, at - from);
            from = at + as.size();
        } else if (name[at] == '>' && --depth == 0) {
            const std::string_view last = name.substr(from, at - from);
            return is_type_of_rust(last) && (type.empty() || is_type_of_rust(type));
        }
    }
    return false;
}

}  // namespace

std::string demangled(std::string_view name)
{
    if (name.size() > longest_mangled) {
        return std::string{name};
    }
    if (name.starts_with("_R")) {
        return rust_name(name).value_or(std::string{name});
    }
    if (!name.starts_with("_Z")) {
        return std::string{name};
    }
    int problem = 0;
    const std::unique_ptr<char, decltype(&std::free)> text{
        abi::__cxa_demangle(std::string{name}.c_str(), nullptr, nullptr, &problem), &std::free};
    std::string plain = problem == 0 && text ? text.get() : std::string{name};
    tidy_rust(plain);
    return plain;
}

std::string_view bare_name(std::string_view function)
{
    constexpr std::string_view unnamed = "(anonymous namespace)";
    std::size_t begin = 0;
    unsigned depth = 0;
    for (std::size_t at = 0; at < function.size(); ++at) {
        const std::string_view rest = function.substr(at);
        if (rest.starts_with("operator") && depth == 0 && (at == begin || function[at - 1] == ':')) {
            const std::size_t sign =
                at + (rest.starts_with("operator()") ? sizeof "operator()" : sizeof "operator") - 1;
            const std::size_t arguments = function.find('(', sign);
            return function.substr(begin, arguments == std::string_view::npos ? arguments : arguments - begin);
        }
        if (rest.starts_with(unnamed)) {
            at += unnamed.size() - 1;
        } else if (function[at] == '(' && depth == 0) {
            return function.substr(begin, at - begin);
        } else if (function[at] == '<' || function[at] == '(') {
            ++depth;
        } else if (rest.starts_with("->")) {  // before what a function of Rust returns
            ++at;
        } else if ((function[at] == '>' || function[at] == ')') && depth != 0) {
            --depth;
        } else if (function[at] == ' ' && depth == 0) {
            begin = at + 1;
        }
    }
    return function.substr(std::min(begin, function.size()));
}

FunctionRole role_of(std::string_view function)
{
    constexpr std::array<std::string_view, 24> allocators{
        "malloc",        "calloc",         "realloc",        "reallocarray",    "aligned_alloc",
        "memalign",      "posix_memalign", "valloc",         "pvalloc",         "free",
        "__libc_malloc", "__libc_calloc",  "__libc_realloc", "__libc_memalign", "__GI___libc_malloc",
        "_mid_memalign", "__rust_alloc",   "__rdl_alloc",    "__rg_alloc",      "__rust_alloc_zeroed",
        "__rdl_realloc", "__rust_realloc", "__rg_realloc",   "mallocx"};
    constexpr std::array<std::string_view, 14> allocator_beginnings{"operator new",
                                                                    "operator delete",
                                                                    "std::allocator<",
                                                                    "std::allocator_traits<",
                                                                    "std::__new_allocator<",
                                                                    "std::__allocat",
                                                                    "std::pmr::",
                                                                    "__gnu_cxx::new_allocator<",
                                                                    "__gnu_cxx::__alloc_traits<",
                                                                    "alloc::alloc::",
                                                                    "<alloc::alloc::",
                                                                    "__rustc::__r",
                                                                    "c10::cuda::CUDACachingAllocator::",
                                                                    "c10::CachingDeviceAllocator"};
    constexpr std::array<std::string_view, 5> library_beginnings{
        "std::", "__gnu_cxx::", "alloc::", "core::", "hashbrown::"};
    if (function.starts_with('[')) {  // no function's name
        return FunctionRole::library;
    }
    const std::string_view name = bare_name(function);
    if (std::ranges::find(allocators, name) != allocators.end() || begins_with_one_of(name, allocator_beginnings)) {
        return FunctionRole::allocator;
    }
    const bool is_library = begins_with_one_of(name, library_beginnings) || is_function_of_rust(name);
    return is_library ? FunctionRole::library : FunctionRole::program;
}

}  // namespace memsweep::trace
