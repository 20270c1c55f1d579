#include "core/trace/recorder/loaded_object.hpp"

#include <algorithm>
#include <cstring>

#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/trace/recorder/recording_file.hpp"

namespace memsweep::trace::recorder {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t by_pointer = R_X86_64_64;
constexpr std::uint32_t by_table = R_X86_64_GLOB_DAT;
constexpr std::uint32_t by_jump = R_X86_64_JUMP_SLOT;
#else
constexpr std::uint32_t by_pointer = R_AARCH64_ABS64;
constexpr std::uint32_t by_table = R_AARCH64_GLOB_DAT;
constexpr std::uint32_t by_jump = R_AARCH64_JUMP_SLOT;
#endif

std::uint32_t gnu_hash_of(const char* name) noexcept
{
    std::uint32_t hash = 5381;
    for (; *name != '\0'; ++name) {
        hash = hash * 33 + static_cast<unsigned char>(*name);
    }
    return hash;
}

}  // namespace

LoadedObject::LoadedObject(const dl_phdr_info& info) noexcept : base_{info.dlpi_addr}, begin_{UINTPTR_MAX}
{
    for (std::size_t i = 0; i < info.dlpi_phnum; ++i) {
        const ElfW(Phdr)& part = info.dlpi_phdr[i];
        const std::uintptr_t from = base_ + part.p_vaddr;
        if (part.p_type == PT_LOAD) {
            begin_ = std::min(begin_, from);
            end_ = std::max(end_, from + part.p_memsz);
            writable_bytes_ += (part.p_flags & PF_W) != 0 ? part.p_memsz : 0;
        } else if (part.p_type == PT_GNU_RELRO) {
            relro_begin_ = from;
            relro_end_ = from + part.p_memsz;
        } else if (part.p_type == PT_DYNAMIC) {
            read_dynamic(reinterpret_cast<const ElfW(Dyn)*>(from));  // NOLINT(performance-no-int-to-ptr)
        }
    }
}

LoadedObject LoadedObject::holding(const void* address) noexcept
{
    LoadedObject found;
    visit_all([&](const LoadedObject& object, const char*) {
        const bool is_it = object.contains(address);
        found = is_it ? object : found;
        return is_it;
    });
    return found;
}

void* LoadedObject::first_definition(const char* symbol) noexcept
{
    void* found = nullptr;
    visit_all([&](const LoadedObject& object, const char*) {
        found = object.definition(symbol);
        return found != nullptr;
    });
    return found;
}

void* LoadedObject::definition_behind(const char* symbol) const noexcept
{
    void* found = nullptr;
    bool is_behind = false;
    visit_all([&](const LoadedObject& object, const char*) {
        found = is_behind ? object.definition(symbol) : nullptr;
        is_behind = is_behind || object.is(*this);
        return found != nullptr;
    });
    return found;
}

void LoadedObject::read_dynamic(const ElfW(Dyn) * entry) noexcept
{
    std::size_t calls_bytes = 0;
    std::size_t addresses_bytes = 0;
    for (; entry->d_tag != DT_NULL; ++entry) {
        switch (entry->d_tag) {
        case DT_SYMTAB:
            symbols_ = at<const ElfW(Sym)>(entry->d_un.d_ptr);
            break;
        case DT_STRTAB:
            names_ = at<const char>(entry->d_un.d_ptr);
            break;
        case DT_GNU_HASH:
            gnu_hash_ = at<const std::uint32_t>(entry->d_un.d_ptr);
            break;
        case DT_HASH:
            hash_ = at<const std::uint32_t>(entry->d_un.d_ptr);
            break;
        case DT_JMPREL:
            by_call_.first = at<const ElfW(Rela)>(entry->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            calls_bytes = entry->d_un.d_val;
            break;
        case DT_RELA:
            by_address_.first = at<const ElfW(Rela)>(entry->d_un.d_ptr);
            break;
        case DT_RELASZ:
            addresses_bytes = entry->d_un.d_val;
            break;
        default:
            break;
        }
    }
    if (symbols_ != nullptr && names_ != nullptr) {
        undefined_ = gnu_hash_ != nullptr ? gnu_hash_[1] : hash_ != nullptr ? hash_[1] : 0;
    }
    by_call_.count = by_call_.first == nullptr ? 0 : calls_bytes / sizeof(ElfW(Rela));
    by_address_.count = by_address_.first == nullptr ? 0 : addresses_bytes / sizeof(ElfW(Rela));
}

void* LoadedObject::definition_at(std::uint32_t symbol, const char* name) const noexcept
{
    const ElfW(Sym)& entry = symbols_[symbol];
    const bool is_it = entry.st_shndx != SHN_UNDEF && std::strcmp(names_ + entry.st_name, name) == 0;
    if (is_it && ELF64_ST_TYPE(entry.st_info) == STT_GNU_IFUNC) {
        void* (*choose)(unsigned long) = nullptr;
        const std::uintptr_t address = base_ + entry.st_value;
        std::memcpy(&choose, &address, sizeof choose);
        return choose(::getauxval(AT_HWCAP));
    }
    return is_it ? reinterpret_cast<void*>(base_ + entry.st_value) : nullptr;  // NOLINT(performance-no-int-to-ptr)
}

void* LoadedObject::definition(const char* symbol) const noexcept
{
    if (symbols_ == nullptr || names_ == nullptr) {
        return nullptr;
    }
    if (gnu_hash_ == nullptr) {
        const std::uint32_t symbols = hash_ == nullptr ? 0 : hash_[1];
        for (std::uint32_t i = 0; i < symbols; ++i) {
            if (void* const found = definition_at(i, symbol)) {
                return found;
            }
        }
        return nullptr;
    }
    const std::uint32_t hash = gnu_hash_of(symbol);
    const std::uint32_t buckets = gnu_hash_[0];
    const std::uint32_t first_symbol = gnu_hash_[1];
    const std::uint32_t filters = gnu_hash_[2];
    const auto* const filter = reinterpret_cast<const std::uint64_t*>(gnu_hash_ + 4);
    const std::uint64_t both = 1ULL << hash % 64 | 1ULL << (hash >> gnu_hash_[3]) % 64;
    if (buckets == 0 || filters == 0 || (filter[hash / 64 % filters] & both) != both) {
        return nullptr;
    }
    const auto* const bucket = reinterpret_cast<const std::uint32_t*>(filter + filters);
    const std::uint32_t* const chain = bucket + buckets;
    std::uint32_t at = bucket[hash % buckets];
    if (at < first_symbol) {
        return nullptr;
    }
    while (true) {
        const std::uint32_t other = chain[at - first_symbol];
        void* const found = (other | 1U) == (hash | 1U) ? definition_at(at, symbol) : nullptr;
        if (found != nullptr || (other & 1U) != 0) {
            return found;
        }
        ++at;
    }
}

void** LoadedObject::slot_of(const ElfW(Rela) & relocation) const noexcept
{
    const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(relocation.r_info));
    if ((type != by_jump && type != by_table && type != by_pointer) || relocation.r_addend != 0) {
        return nullptr;
    }
    return reinterpret_cast<void**>(base_ + relocation.r_offset);  // NOLINT(performance-no-int-to-ptr)
}

const char* LoadedObject::name_of(const ElfW(Rela) & relocation) const noexcept
{
    return names_ + symbols_[ELF64_R_SYM(relocation.r_info)].st_name;
}

void LoadedObject::protect_slots(bool read_only) const noexcept
{
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t from = relro_begin_ / page * page;
    const std::uintptr_t to = relro_end_ / page * page;  // the linker leaves a page that it shares with others
    if (from < to) {
        kernel(SYS_mprotect, from, to - from, read_only ? PROT_READ : PROT_READ | PROT_WRITE);
    }
}

}  // namespace memsweep::trace::recorder
