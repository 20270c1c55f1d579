// A program or library as the dynamic linker has loaded it: the symbols that it defines, and those of its pointers that
// the linker has set to the addresses of symbols.
//
// Nothing here allocates. dlsym(3) is not used, because it allocates an error message if it finds nothing.
//
// Sources  elf(5), dl_iterate_phdr(3); the layout of the hash table DT_GNU_HASH, from binutils.
// Cost     definition(): tens of ns; refers_to(): some ns for each name; for_each_reference(): reads every relocation.
// Memory   none.
// Ownership  a LoadedObject is valid as long as the object is loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <link.h>

namespace memsweep::trace::recorder {

class LoadedObject {
  public:
    constexpr LoadedObject() = default;
    explicit LoadedObject(const dl_phdr_info& info) noexcept;
    // Returns the object that contains this address. If there is none, returns an empty LoadedObject, which contains
    // and defines nothing.
    [[nodiscard]] static LoadedObject holding(const void* address) noexcept;

    // Calls visit(object, path) for each object, in the order in which the linker searches them, until a call returns
    // true.
    template <typename Visit>
    static void visit_all(Visit visit) noexcept
    {
        ::dl_iterate_phdr(
            [](dl_phdr_info* info, std::size_t, void* data) {
                return (*static_cast<Visit*>(data))(LoadedObject{*info}, info->dlpi_name) ? 1 : 0;
            },
            &visit);
    }
    // Returns the first definition of a symbol, in the order of visit_all(). Null: no object defines it.
    [[nodiscard]] static void* first_definition(const char* symbol) noexcept;
    // Returns the first definition in the objects that follow this one in the order of visit_all(). Null: none of them
    // defines the symbol.
    [[nodiscard]] void* definition_behind(const char* symbol) const noexcept;

    [[nodiscard]] bool contains(const void* address) const noexcept
    {
        const auto at = reinterpret_cast<std::uintptr_t>(address);
        return at >= begin_ && at < end_;
    }
    [[nodiscard]] const void* begin() const noexcept { return at<const void>(begin_); }
    [[nodiscard]] std::size_t writable_bytes() const noexcept { return writable_bytes_; }  // size of its data in memory
    [[nodiscard]] bool is(const LoadedObject& other) const noexcept { return begin_ == other.begin_; }
    // Returns this object's definition of the symbol. Null: the object has none.
    [[nodiscard]] void* definition(const char* symbol) const noexcept;
    [[nodiscard]] bool defines(const char* symbol) const noexcept { return definition(symbol) != nullptr; }

    // Whether match(name) is true for one of the names that this object expects from other objects.
    template <typename Match>
    [[nodiscard]] bool refers_to(Match match) const noexcept
    {
        for (std::size_t i = 1; i < undefined_; ++i) {
            if (symbols_[i].st_shndx == SHN_UNDEF && match(names_ + symbols_[i].st_name)) {
                return true;
            }
        }
        return false;
    }

    // Calls replace(name, current value) for each pointer in the object that the linker has set to the address of a
    // named symbol, even if the object itself defines the symbol. If replace() returns an address, the pointer is set
    // to it. If replace() returns null, the pointer keeps its value. This works even if the linker has made the memory
    // of the pointer read-only.
    template <typename Replace>
    void for_each_reference(Replace replace) noexcept
    {
        bool is_open = false;
        for (const Relocations& table : {by_call_, by_address_}) {
            for (std::size_t i = 0; i < table.count; ++i) {
                void** const slot = slot_of(table.first[i]);
                void* const better = slot == nullptr ? nullptr : replace(name_of(table.first[i]), *slot);
                if (better != nullptr) {
                    if (!is_open) {
                        is_open = true;
                        protect_slots(false);
                    }
                    *slot = better;
                }
            }
        }
        if (is_open) {
            protect_slots(true);
        }
    }

  private:
    struct Relocations {
        const ElfW(Rela) * first{};
        std::size_t count{};
    };

    void read_dynamic(const ElfW(Dyn) * entry) noexcept;
    // Returns the pointer that the relocation sets, or null if the relocation does not store a symbol's address.
    [[nodiscard]] void** slot_of(const ElfW(Rela) & relocation) const noexcept;
    [[nodiscard]] const char* name_of(const ElfW(Rela) & relocation) const noexcept;
    [[nodiscard]] void* definition_at(std::uint32_t symbol, const char* name) const noexcept;
    void protect_slots(bool read_only) const noexcept;
    template <typename Type>
    [[nodiscard]] Type* at(std::uintptr_t address) const noexcept
    {
        // In the kernel's own object (the vdso), addresses are not relocated yet.
        const std::uintptr_t place = address < base_ ? address + base_ : address;
        return reinterpret_cast<Type*>(place);  // NOLINT(performance-no-int-to-ptr): what the linker wrote
    }

    std::uintptr_t base_{};
    std::uintptr_t begin_{};
    std::uintptr_t end_{};
    std::size_t writable_bytes_{};
    std::uintptr_t relro_begin_{};
    std::uintptr_t relro_end_{};
    const ElfW(Sym) * symbols_{};
    const char* names_{};
    const std::uint32_t* gnu_hash_{};
    const std::uint32_t* hash_{};
    std::size_t undefined_{};  // number of the first symbol that the object itself defines
    Relocations by_call_;
    Relocations by_address_;
};

}  // namespace memsweep::trace::recorder
