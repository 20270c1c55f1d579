#include "core/trace/recorder/unwind_rule.hpp"

#include <array>
#include <cstddef>
#include <cstring>

namespace memsweep::trace::recorder {
namespace {

constexpr UnwindRule guess{RuleKind::by_frame_pointer};

// DWARF's numbers of x86-64's registers.
constexpr std::uint64_t frame_pointer = 6;
constexpr std::uint64_t stack_pointer = 7;
constexpr std::uint64_t return_address = 16;

// Encodings of pointers (DW_EH_PE_*).
constexpr std::uint8_t no_pointer = 0xFF;
constexpr std::uint8_t by_place = 0x10;
constexpr std::uint8_t by_header = 0x30;
constexpr std::uint8_t signed_4 = 0x0B;

// Reads what an object has mapped. Behind its end it reads zeroes, and says so.
class Bytes {
  public:
    Bytes(const std::uint8_t* at, const std::uint8_t* end) noexcept : at_{at}, end_{end} {}

    template <typename Number>
    Number take() noexcept
    {
        Number number{};
        if (remaining() < sizeof number) {
            fail();
            return number;
        }
        std::memcpy(&number, at_, sizeof number);
        at_ += sizeof number;
        return number;
    }

    std::uint64_t take_unsigned() noexcept
    {
        std::uint64_t value = 0;
        std::uint8_t byte = 0x80;
        for (unsigned shift = 0; (byte & 0x80U) != 0 && shift < 64; shift += 7) {
            byte = take<std::uint8_t>();
            value |= std::uint64_t{byte & 0x7FU} << shift;
        }
        return value;
    }

    std::int64_t take_signed() noexcept
    {
        std::uint64_t value = 0;
        std::uint8_t byte = 0x80;
        unsigned shift = 0;
        for (; (byte & 0x80U) != 0 && shift < 64; shift += 7) {
            byte = take<std::uint8_t>();
            value |= std::uint64_t{byte & 0x7FU} << shift;
        }
        if (shift < 64 && (byte & 0x40U) != 0) {
            value |= ~std::uint64_t{0} << shift;
        }
        return static_cast<std::int64_t>(value);
    }

    // As an encoding of pointers says it.
    std::uint64_t take_pointer(std::uint8_t encoding, const std::uint8_t* header) noexcept
    {
        if (encoding == no_pointer) {
            return 0;
        }
        const auto place = reinterpret_cast<std::uint64_t>(at_);
        std::uint64_t value = 0;
        switch (encoding & 0x0FU) {
        case 0x00:
        case 0x04:
        case 0x0C:
            value = take<std::uint64_t>();
            break;
        case 0x01:
            value = take_unsigned();
            break;
        case 0x02:
            value = take<std::uint16_t>();
            break;
        case 0x03:
            value = take<std::uint32_t>();
            break;
        case 0x09:
            value = static_cast<std::uint64_t>(take_signed());
            break;
        case 0x0A:
            value = static_cast<std::uint64_t>(std::int64_t{take<std::int16_t>()});
            break;
        case signed_4:
            value = static_cast<std::uint64_t>(std::int64_t{take<std::int32_t>()});
            break;
        default:
            fail();
        }
        switch (encoding & 0x70U) {
        case 0x00:
            return value;
        case by_place:
            return value + place;
        case by_header:
            return value + reinterpret_cast<std::uint64_t>(header);
        default:
            fail();
            return 0;
        }
    }

    void pass(std::uint64_t bytes) noexcept
    {
        if (bytes > remaining()) {
            fail();
        } else {
            at_ += bytes;
        }
    }
    void fail() noexcept
    {
        has_failed_ = true;
        at_ = end_;
    }

    [[nodiscard]] const std::uint8_t* at() const noexcept { return at_; }
    [[nodiscard]] std::size_t remaining() const noexcept { return static_cast<std::size_t>(end_ - at_); }
    [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }

  private:
    const std::uint8_t* at_;
    const std::uint8_t* end_;
    bool has_failed_{};
};

// What stands behind the length of an entry of .eh_frame.
Bytes entry_at(const std::uint8_t* at) noexcept
{
    std::uint32_t length{};
    std::memcpy(&length, at, sizeof length);
    constexpr std::uint32_t longest = 1U << 24U;
    const bool is_usable = length != 0 && length < longest;  // in the form of 64 bits it is 2^32 - 1
    return {at + sizeof length, at + sizeof length + (is_usable ? length : 0)};
}

// The entry of the function that the address may lie in, by the table of the header. Null: there is none.
const std::uint8_t* find_entry(const std::uint8_t* header, std::uint64_t address) noexcept
{
    constexpr std::size_t before_table = 12;
    if (header[0] != 1 || header[1] == no_pointer || (header[1] & 0x0FU) != signed_4 || header[2] != 0x03 ||
        header[3] != (by_header | signed_4)) {
        return nullptr;
    }
    std::uint32_t count{};
    std::memcpy(&count, header + 8, sizeof count);
    const auto difference = static_cast<std::int64_t>(address - reinterpret_cast<std::uint64_t>(header));
    const std::uint8_t* const table = header + before_table;
    const auto number = [&](std::size_t index) {
        std::int32_t value{};
        std::memcpy(&value, table + index * sizeof value, sizeof value);
        return value;
    };
    std::size_t from = 0;
    for (std::size_t rest = count; rest != 0;) {  // how many begin at the address or before
        const std::size_t half = rest / 2;
        const bool is_before = number(2 * (from + half)) <= difference;
        from = is_before ? from + half + 1 : from;
        rest = is_before ? rest - half - 1 : half;
    }
    return from == 0 ? nullptr : header + number(2 * (from - 1) + 1);
}

struct Common {
    std::uint64_t code_alignment{};
    std::int64_t data_alignment{};
    std::uint8_t encoding{};
    bool has_augmentation{};
    bool is_signal_frame{};
    Bytes instructions{nullptr, nullptr};
};

bool read_common(const std::uint8_t* at, const std::uint8_t* header, Common& common) noexcept
{
    Bytes bytes = entry_at(at);
    const bool is_common = bytes.take<std::uint32_t>() == 0;
    const auto version = bytes.take<std::uint8_t>();
    if (!is_common || (version != 1 && version != 3)) {
        return false;
    }
    const auto* augmentation = bytes.at();
    while (bytes.take<std::uint8_t>() != 0) {
    }
    common.code_alignment = bytes.take_unsigned();
    common.data_alignment = bytes.take_signed();
    const std::uint64_t returns_by = version == 1 ? bytes.take<std::uint8_t>() : bytes.take_unsigned();
    if (bytes.has_failed() || returns_by != return_address) {
        return false;
    }
    common.has_augmentation = *augmentation == 'z';
    if (common.has_augmentation) {
        const std::uint64_t length = bytes.take_unsigned();
        if (length > bytes.remaining()) {
            return false;
        }
        Bytes data{bytes.at(), bytes.at() + length};
        for (++augmentation; *augmentation != 0; ++augmentation) {
            switch (*augmentation) {
            case 'R':
                common.encoding = data.take<std::uint8_t>();
                break;
            case 'P': {
                const auto encoding = data.take<std::uint8_t>();
                static_cast<void>(data.take_pointer(encoding & 0x0FU, header));
                break;
            }
            case 'L':
                static_cast<void>(data.take<std::uint8_t>());
                break;
            case 'S':
                common.is_signal_frame = true;
                break;
            case 'B':
                break;
            default:
                return false;
            }
        }
        if (data.has_failed()) {
            return false;
        }
        bytes.pass(length);
    } else if (*augmentation != 0) {
        return false;
    }
    common.instructions = bytes;
    return !bytes.has_failed();
}

// One row of the table that the instructions describe, as far as frames are left by it.
struct Row {
    enum class Cfa : std::uint8_t { none, by_register, by_expression };
    enum class Saved : std::uint8_t { unchanged, at_offset, at_frame_pointer, otherwise };

    Cfa cfa{};
    Saved saved{};
    bool is_outermost{};
    bool returns_otherwise{};
    std::uint64_t cfa_register{};
    std::int64_t cfa_offset{};
    std::int64_t saved_offset{};
    const std::uint8_t* expression{};
    std::size_t expression_bytes{};
};

class Machine {
  public:
    Machine(const Common& common, const std::uint8_t* header) noexcept : common_{common}, header_{header} {}

    // Up to the row of the address. False: it is not understood.
    bool run(Bytes bytes, std::uint64_t location, std::uint64_t address) noexcept
    {
        while (bytes.remaining() != 0) {
            const auto instruction = bytes.take<std::uint8_t>();
            const std::uint64_t low = instruction & 0x3FU;
            std::uint64_t advance = 0;
            switch (instruction >> 6U) {
            case 1:
                advance = low;
                break;
            case 2:
                saved_at(low, static_cast<std::int64_t>(bytes.take_unsigned()) * common_.data_alignment);
                break;
            case 3:
                restore(low);
                break;
            default:
                if (!extended(instruction, bytes, advance, location)) {
                    return false;
                }
            }
            if (bytes.has_failed()) {
                return false;
            }
            location += advance * common_.code_alignment;
            if (location > address) {
                return true;
            }
        }
        return !bytes.has_failed();
    }

    void begin_function() noexcept { initial_ = row_; }
    [[nodiscard]] const Row& row() const noexcept { return row_; }

  private:
    bool extended(std::uint8_t instruction, Bytes& bytes, std::uint64_t& advance, std::uint64_t& location) noexcept
    {
        switch (instruction) {
        case 0x00:  // nop
            return true;
        case 0x01:  // set_loc
            location = bytes.take_pointer(common_.encoding, header_);
            return true;
        case 0x02:  // advance_loc1, 2, 4
            advance = bytes.take<std::uint8_t>();
            return true;
        case 0x03:
            advance = bytes.take<std::uint16_t>();
            return true;
        case 0x04:
            advance = bytes.take<std::uint32_t>();
            return true;
        case 0x05: {  // offset_extended
            const std::uint64_t which = bytes.take_unsigned();
            saved_at(which, static_cast<std::int64_t>(bytes.take_unsigned()) * common_.data_alignment);
            return true;
        }
        case 0x06:  // restore_extended
            restore(bytes.take_unsigned());
            return true;
        case 0x07: {  // undefined
            const std::uint64_t which = bytes.take_unsigned();
            row_.is_outermost = row_.is_outermost || which == return_address;
            otherwise(which);
            return true;
        }
        case 0x08: {  // same_value
            const std::uint64_t which = bytes.take_unsigned();
            row_.saved = which == frame_pointer ? Row::Saved::unchanged : row_.saved;
            return true;
        }
        case 0x09: {  // register
            const std::uint64_t which = bytes.take_unsigned();
            static_cast<void>(bytes.take_unsigned());
            otherwise(which);
            return true;
        }
        case 0x0A:  // remember_state
            if (depth_ == remembered_.size()) {
                return false;
            }
            remembered_[depth_++] = row_;
            return true;
        case 0x0B:  // restore_state
            if (depth_ == 0) {
                return false;
            }
            row_ = remembered_[--depth_];
            return true;
        case 0x0C:  // def_cfa
            row_.cfa = Row::Cfa::by_register;
            row_.cfa_register = bytes.take_unsigned();
            row_.cfa_offset = static_cast<std::int64_t>(bytes.take_unsigned());
            return true;
        case 0x0D:  // def_cfa_register
            row_.cfa = Row::Cfa::by_register;
            row_.cfa_register = bytes.take_unsigned();
            return true;
        case 0x0E:  // def_cfa_offset
            row_.cfa_offset = static_cast<std::int64_t>(bytes.take_unsigned());
            return true;
        case 0x0F:  // def_cfa_expression
            row_.cfa = Row::Cfa::by_expression;
            row_.expression_bytes = bytes.take_unsigned();
            row_.expression = bytes.at();
            bytes.pass(row_.expression_bytes);
            return true;
        case 0x10: {  // expression
            const std::uint64_t which = bytes.take_unsigned();
            const std::uint64_t length = bytes.take_unsigned();
            const std::uint8_t* const code = bytes.at();
            bytes.pass(length);
            otherwise(which);
            if (which == frame_pointer && length == 2 && !bytes.has_failed() && code[0] == 0x76 && code[1] == 0) {
                row_.saved = Row::Saved::at_frame_pointer;
            }
            return true;
        }
        case 0x11: {  // offset_extended_sf
            const std::uint64_t which = bytes.take_unsigned();
            saved_at(which, bytes.take_signed() * common_.data_alignment);
            return true;
        }
        case 0x12:  // def_cfa_sf
            row_.cfa = Row::Cfa::by_register;
            row_.cfa_register = bytes.take_unsigned();
            row_.cfa_offset = bytes.take_signed() * common_.data_alignment;
            return true;
        case 0x13:  // def_cfa_offset_sf
            row_.cfa_offset = bytes.take_signed() * common_.data_alignment;
            return true;
        case 0x14:  // val_offset
        case 0x15: {
            const std::uint64_t which = bytes.take_unsigned();
            static_cast<void>(bytes.take_unsigned());
            otherwise(which);
            return true;
        }
        case 0x16: {  // val_expression
            const std::uint64_t which = bytes.take_unsigned();
            bytes.pass(bytes.take_unsigned());
            otherwise(which);
            return true;
        }
        case 0x2E:  // GNU_args_size
            static_cast<void>(bytes.take_unsigned());
            return true;
        default:
            return false;
        }
    }

    void saved_at(std::uint64_t which, std::int64_t offset) noexcept
    {
        if (which == frame_pointer) {
            row_.saved = Row::Saved::at_offset;
            row_.saved_offset = offset;
        } else if (which == return_address) {
            row_.is_outermost = false;
            row_.returns_otherwise = offset != -8;
        }
    }

    void otherwise(std::uint64_t which) noexcept
    {
        row_.saved = which == frame_pointer ? Row::Saved::otherwise : row_.saved;
        row_.returns_otherwise = row_.returns_otherwise || which == return_address;
    }

    void restore(std::uint64_t which) noexcept
    {
        if (which == frame_pointer) {
            row_.saved = initial_.saved;
            row_.saved_offset = initial_.saved_offset;
        } else if (which == return_address) {
            row_.is_outermost = initial_.is_outermost;
            row_.returns_otherwise = initial_.returns_otherwise;
        }
    }

    const Common& common_;
    const std::uint8_t* header_;
    Row row_{};
    Row initial_{};
    std::array<Row, 8> remembered_{};
    std::size_t depth_{};
};

// CFA = stack pointer + 8 + ((instruction pointer & 15) >= so much) * 8, as linkers write it of a linkage table.
UnwindRule of_linkage_table(const Row& row) noexcept
{
    constexpr std::array<std::uint8_t, 6> begins{0x77, 0x08, 0x80, 0x00, 0x3F, 0x1A};
    constexpr std::array<std::uint8_t, 4> ends{0x2A, 0x33, 0x24, 0x22};
    const std::uint8_t* const code = row.expression;
    const bool is_one = row.expression_bytes == begins.size() + 1 + ends.size() &&
                        std::memcmp(code, begins.data(), begins.size()) == 0 &&
                        std::memcmp(code + begins.size() + 1, ends.data(), ends.size()) == 0;
    if (!is_one || row.saved != Row::Saved::unchanged) {
        return guess;
    }
    return {RuleKind::linkage_table, 0, static_cast<std::uint16_t>(code[begins.size()] - 0x30)};
}

// CFA = the word at (frame pointer - offset): functions that align their stack keep it so.
UnwindRule of_expression(const Row& row) noexcept
{
    Bytes code{row.expression, row.expression + row.expression_bytes};
    if (code.take<std::uint8_t>() != 0x76) {
        return of_linkage_table(row);
    }
    const std::int64_t offset = code.take_signed();
    const bool is_one = code.take<std::uint8_t>() == 0x06 && code.remaining() == 0 && !code.has_failed();
    if (!is_one || offset > 0 || offset % 8 != 0 || offset < std::int64_t{-8} * 0xFFFF ||
        row.saved != Row::Saved::at_frame_pointer) {
        return guess;
    }
    return {RuleKind::through_frame_pointer, 0, static_cast<std::uint16_t>(-offset / 8)};
}

UnwindRule of_row(const Row& row) noexcept
{
    if (row.is_outermost) {
        return {RuleKind::outermost};
    }
    if (row.returns_otherwise || row.cfa == Row::Cfa::none) {
        return guess;
    }
    if (row.cfa == Row::Cfa::by_expression) {
        return of_expression(row);
    }
    const bool by_stack = row.cfa_register == stack_pointer;
    const bool fits = row.cfa_offset >= 0 && row.cfa_offset % 8 == 0 && row.cfa_offset / 8 <= UINT16_MAX;
    if ((!by_stack && row.cfa_register != frame_pointer) || !fits) {
        return guess;
    }
    UnwindRule rule{by_stack ? RuleKind::from_stack_pointer : RuleKind::from_frame_pointer, 0,
                    static_cast<std::uint16_t>(row.cfa_offset / 8)};
    if (row.saved == Row::Saved::at_offset) {
        const bool is_near =
            row.saved_offset < 0 && row.saved_offset % 8 == 0 && row.saved_offset >= std::int64_t{-8} * 0xFF;
        if (!is_near) {
            return guess;
        }
        rule.saved_at = static_cast<std::uint8_t>(-row.saved_offset / 8);
    } else if (row.saved != Row::Saved::unchanged) {
        return guess;
    }
    return rule;
}

}  // namespace

UnwindRule rule_at(const std::uint8_t* header, std::uint64_t address) noexcept
{
    const std::uint8_t* const entry = find_entry(header, address);
    if (entry == nullptr) {
        return guess;
    }
    Bytes bytes = entry_at(entry);
    const std::uint8_t* const place = bytes.at();
    const auto to_common = bytes.take<std::uint32_t>();
    Common common;
    if (bytes.has_failed() || to_common == 0 || !read_common(place - to_common, header, common)) {
        return guess;
    }
    const std::uint64_t begin = bytes.take_pointer(common.encoding, header);
    const std::uint64_t length = bytes.take_pointer(common.encoding & 0x0FU, header);
    if (bytes.has_failed() || address - begin >= length) {
        return guess;
    }
    if (common.has_augmentation) {
        bytes.pass(bytes.take_unsigned());
    }
    if (common.is_signal_frame) {
        return {RuleKind::signal_frame};
    }
    Machine machine{common, header};
    if (!machine.run(common.instructions, begin, UINT64_MAX)) {
        return guess;
    }
    machine.begin_function();
    return machine.run(bytes, begin, address) ? of_row(machine.row()) : guess;
}

}  // namespace memsweep::trace::recorder
