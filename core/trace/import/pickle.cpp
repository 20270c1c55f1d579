#include "core/trace/import/pickle.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>

#include <fmt/format.h>

namespace memsweep::trace {
namespace {

constexpr std::uint64_t max_text_bytes = 1 << 24;

constexpr std::uint8_t since_mark = 0xFF;  // as a number of values: all above the last mark
constexpr std::uint8_t next_number = 0;    // to remember under

class Unpickler {
    using Value = PickleValue;
    using Kind = PickleValue::Kind;

  public:
    Unpickler(LogText& log, const std::string& name) : log_{&log}, name_{&name} {}

    base::Expected<Pickle> read()
    {
        while (problem_.empty() && pickle_.root == nullptr) {
            const std::string_view found = bytes(1);
            if (found.empty()) {
                break;
            }
            const auto code = static_cast<unsigned char>(found[0]);
            const Opcode& opcode = opcodes.at(code);
            if (opcode.step == nullptr) {
                problem_ = fmt::format(
                    "not a plain snapshot: opcode 0x{:02X} makes more than dicts, lists, texts and numbers", code);
            } else {
                (this->*opcode.step)(opcode.number);
            }
            if (!log_->may_hold(held())) {
                return base::fail(*log_->failure());
            }
        }
        if (!problem_.empty()) {
            return base::fail(base::ErrorCode::invalid_input, problem_, *name_);
        }
        return std::move(pickle_);
    }

  private:
    struct Opcode {
        unsigned char code{};
        void (Unpickler::*step)(std::uint8_t number){};  // nullptr: makes more than plain data
        std::uint8_t number{};
    };
    static const std::array<Opcode, 256> opcodes;  // by their codes

    // Things; references are pointers, in lists that may have grown to twice what they hold.
    [[nodiscard]] std::uint64_t held() const noexcept
    {
        constexpr std::uint64_t references_of_a_thing = 4;
        return pickle_.held() + far_memo_.size() +
               (references_ + stack_.size() + marks_.size() + memo_.size()) / references_of_a_thing;
    }

    void damaged()
    {
        if (problem_.empty()) {
            problem_ = "the snapshot is damaged";
        }
    }

    std::string_view bytes(std::uint64_t count)
    {
        if (count > max_text_bytes) {
            damaged();
            return {};
        }
        const std::string_view found = log_->bytes(count);
        if (found.size() != count && problem_.empty()) {
            problem_ = "the snapshot is cut off";
        }
        return found;
    }
    std::uint64_t little_endian(std::size_t count)
    {
        std::uint64_t value = 0;
        const std::string_view found = bytes(count);
        std::memcpy(&value, found.data(), std::min<std::size_t>(found.size(), sizeof value));
        return value;
    }

    Value* make(Kind kind, std::int64_t integer = 0)
    {
        pickle_.values.push_back({.kind = kind, .integer = integer});
        stack_.push_back(&pickle_.values.back());
        return stack_.back();
    }

    // The steps. Numbers and texts are of so many bytes, or behind a length of so many.
    void stop(std::uint8_t /*number*/) { pickle_.root = pop_value(); }
    void skip(std::uint8_t size) { static_cast<void>(bytes(size)); }
    void none(std::uint8_t /*number*/) { make(Kind::none); }
    void boolean(std::uint8_t value) { make(Kind::boolean, value); }
    void integer(std::uint8_t size) { make(Kind::integer, static_cast<std::int64_t>(little_endian(size))); }
    void signed_integer(std::uint8_t size) { make(Kind::integer, static_cast<std::int32_t>(little_endian(size))); }
    // Two's complement of any length; what is beyond 64 bits is cut off.
    void long_integer(std::uint8_t size)
    {
        const std::string_view text = bytes(little_endian(size));
        const bool negative = !text.empty() && (static_cast<unsigned char>(text.back()) & 0x80U) != 0;
        std::uint64_t value = negative ? ~0ULL : 0;
        if (!text.empty()) {
            std::memcpy(&value, text.data(), std::min<std::size_t>(text.size(), sizeof value));
        }
        make(Kind::integer, static_cast<std::int64_t>(value));
    }
    void real(std::uint8_t size)
    {
        skip(size);
        make(Kind::real);
    }
    void text(std::uint8_t size)
    {
        const std::string_view found = bytes(little_endian(size));
        make(Kind::text)->text = pickle_.texts.emplace_back(found);
        pickle_.text_bytes += found.size();
    }
    void empty_list(std::uint8_t /*number*/) { make(Kind::list); }
    void empty_dict(std::uint8_t /*number*/) { make(Kind::dict); }
    void into_list(std::uint8_t count) { collect(count, Kind::list, false); }
    void into_dict(std::uint8_t count) { collect(count, Kind::dict, false); }
    void new_list(std::uint8_t count) { collect(count, Kind::list, true); }
    void new_dict(std::uint8_t count) { collect(count, Kind::dict, true); }
    void mark(std::uint8_t /*number*/) { marks_.push_back(stack_.size()); }
    void pop(std::uint8_t /*number*/) { pop_value(); }
    void pop_mark(std::uint8_t /*number*/) { stack_.resize(stack_.size() - take_mark()); }
    void dup(std::uint8_t /*number*/) { stack_.empty() ? damaged() : stack_.push_back(stack_.back()); }
    void recall(std::uint8_t size)
    {
        const std::uint64_t number = little_endian(size);
        const auto far = number < memo_.size() ? far_memo_.end() : far_memo_.find(number);
        if (number >= memo_.size() && far == far_memo_.end()) {
            damaged();
        } else {
            stack_.push_back(number < memo_.size() ? memo_[number] : far->second);
        }
    }
    // Numbers count from 0; where unused ones were taken out of the pickle, there are gaps.
    void remember(std::uint8_t size)
    {
        const std::uint64_t number = size == next_number ? memo_.size() + far_memo_.size() : little_endian(size);
        if (stack_.empty()) {
            damaged();
        } else if (number < memo_.size()) {
            memo_[number] = stack_.back();
        } else if (number == memo_.size()) {
            memo_.push_back(stack_.back());
        } else {
            far_memo_[number] = stack_.back();
        }
    }

    // The number of values above the last mark, which goes.
    std::size_t take_mark()
    {
        if (marks_.empty() || marks_.back() > stack_.size()) {
            damaged();
            return 0;
        }
        const std::size_t count = stack_.size() - marks_.back();
        marks_.pop_back();
        return count;
    }

    // The top `number` values go into the container below them, or into a new one.
    void collect(std::uint8_t number, Kind kind, bool is_new)
    {
        const std::size_t count = number == since_mark ? take_mark() : number;
        if (count > stack_.size() || (kind == Kind::dict && count % 2 != 0)) {
            damaged();
            return;
        }
        const std::vector<Value*> top(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
        stack_.resize(stack_.size() - count);
        if (is_new) {
            make(kind);
        }
        if (stack_.empty() || stack_.back()->kind != kind) {
            damaged();
        } else {
            stack_.back()->items.insert(stack_.back()->items.end(), top.begin(), top.end());
            references_ += top.size();
        }
    }

    Value* pop_value()
    {
        if (stack_.empty()) {
            damaged();
            return nullptr;
        }
        Value* const top = stack_.back();
        stack_.pop_back();
        return top;
    }

    LogText* log_;
    const std::string* name_;
    Pickle pickle_;
    std::vector<Value*> stack_;
    std::vector<std::size_t> marks_;
    std::vector<Value*> memo_;
    std::unordered_map<std::uint64_t, Value*> far_memo_;
    std::uint64_t references_{};  // in lists and dicts
    std::string problem_;
};

// The opcodes of Python's pickletools that plain data is made of.
constinit const std::array<Unpickler::Opcode, 256> Unpickler::opcodes = [] {
    constexpr std::array known{
        Opcode{'.', &Unpickler::stop},
        Opcode{0x80, &Unpickler::skip, 1},  // PROTO
        Opcode{0x95, &Unpickler::skip, 8},  // FRAME
        Opcode{'N', &Unpickler::none},
        Opcode{0x88, &Unpickler::boolean, 1},        // NEWTRUE
        Opcode{0x89, &Unpickler::boolean, 0},        // NEWFALSE
        Opcode{'K', &Unpickler::integer, 1},         // BININT1
        Opcode{'M', &Unpickler::integer, 2},         // BININT2
        Opcode{'J', &Unpickler::signed_integer, 4},  // BININT
        Opcode{0x8A, &Unpickler::long_integer, 1},   // LONG1
        Opcode{0x8B, &Unpickler::long_integer, 4},   // LONG4
        Opcode{'G', &Unpickler::real, 8},            // BINFLOAT
        Opcode{0x8C, &Unpickler::text, 1},           // SHORT_BINUNICODE
        Opcode{'U', &Unpickler::text, 1},            // SHORT_BINSTRING
        Opcode{'C', &Unpickler::text, 1},            // SHORT_BINBYTES
        Opcode{'X', &Unpickler::text, 4},            // BINUNICODE
        Opcode{'T', &Unpickler::text, 4},            // BINSTRING
        Opcode{'B', &Unpickler::text, 4},            // BINBYTES
        Opcode{0x8D, &Unpickler::text, 8},           // BINUNICODE8
        Opcode{0x8E, &Unpickler::text, 8},           // BINBYTES8
        Opcode{0x96, &Unpickler::text, 8},           // BYTEARRAY8
        Opcode{']', &Unpickler::empty_list},
        Opcode{')', &Unpickler::empty_list},             // EMPTY_TUPLE
        Opcode{'}', &Unpickler::empty_dict},             //
        Opcode{'a', &Unpickler::into_list, 1},           // APPEND
        Opcode{'e', &Unpickler::into_list, since_mark},  // APPENDS
        Opcode{'s', &Unpickler::into_dict, 2},           // SETITEM
        Opcode{'u', &Unpickler::into_dict, since_mark},  // SETITEMS
        Opcode{0x85, &Unpickler::new_list, 1},           // TUPLE1
        Opcode{0x86, &Unpickler::new_list, 2},           // TUPLE2
        Opcode{0x87, &Unpickler::new_list, 3},           // TUPLE3
        Opcode{'t', &Unpickler::new_list, since_mark},   // TUPLE
        Opcode{'l', &Unpickler::new_list, since_mark},   // LIST
        Opcode{'d', &Unpickler::new_dict, since_mark},   // DICT
        Opcode{'(', &Unpickler::mark},
        Opcode{'0', &Unpickler::pop},
        Opcode{'1', &Unpickler::pop_mark},
        Opcode{'2', &Unpickler::dup},
        Opcode{'h', &Unpickler::recall, 1},               // BINGET
        Opcode{'j', &Unpickler::recall, 4},               // LONG_BINGET
        Opcode{'q', &Unpickler::remember, 1},             // BINPUT
        Opcode{'r', &Unpickler::remember, 4},             // LONG_BINPUT
        Opcode{0x94, &Unpickler::remember, next_number},  // MEMOIZE
    };
    std::array<Opcode, 256> all{};
    for (const Opcode& opcode : known) {
        all.at(opcode.code) = opcode;
    }
    return all;
}();

}  // namespace

const PickleValue* PickleValue::get(std::string_view key) const
{
    for (std::size_t i = 0; kind == Kind::dict && i + 1 < items.size(); i += 2) {
        if (items[i]->kind == Kind::text && items[i]->text == key) {
            return items[i + 1];
        }
    }
    return nullptr;
}

std::int64_t PickleValue::integer_of(std::string_view key) const
{
    const PickleValue* const value = get(key);
    return value == nullptr ? 0 : value->integer;
}

std::string_view PickleValue::text_of(std::string_view key) const
{
    const PickleValue* const value = get(key);
    return value == nullptr ? std::string_view{} : value->text;
}

const std::vector<PickleValue*>& PickleValue::items_of(std::string_view key) const
{
    static const std::vector<PickleValue*> nothing;
    const PickleValue* const value = get(key);
    return value == nullptr || value->kind != Kind::list ? nothing : value->items;
}

base::Expected<Pickle> read_pickle(LogText& log, const std::string& name)
{
    return Unpickler{log, name}.read();
}

}  // namespace memsweep::trace
