#include "core/trace/import/pickle.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

namespace memsweep::trace {
namespace {

constexpr std::uint64_t max_text_bytes = 1 << 24;

enum class Step : std::uint8_t {
    unknown,  // makes more than plain data
    stop,
    skip,  // so many bytes
    none,
    boolean,
    integer,         // unsigned, of so many bytes
    signed_integer,  // of four bytes
    long_integer,    // two's complement, behind a length of so many bytes
    real,
    text,  // behind a length of so many bytes
    empty_list,
    empty_dict,
    into_list,  // the top so many values go into the container below them
    into_dict,
    new_list,  // ... or into a new one
    new_dict,
    mark,
    pop,
    pop_mark,
    dup,
    recall,  // under a number of so many bytes
    remember,
};
constexpr std::uint8_t since_mark = 0xFF;  // as a number of values: all above the last mark
constexpr std::uint8_t next_number = 0;    // to remember under

struct Opcode {
    unsigned char code{};
    Step step{};
    std::uint8_t number{};
};

// The opcodes of Python's pickletools that plain data is made of, by their codes.
constexpr std::array<Opcode, 256> opcodes = [] {
    using enum Step;
    constexpr std::array known{
        Opcode{'.', stop},
        Opcode{0x80, skip, 1},  // PROTO
        Opcode{0x95, skip, 8},  // FRAME
        Opcode{'N', none},
        Opcode{0x88, boolean, 1},        // NEWTRUE
        Opcode{0x89, boolean, 0},        // NEWFALSE
        Opcode{'K', integer, 1},         // BININT1
        Opcode{'M', integer, 2},         // BININT2
        Opcode{'J', signed_integer, 4},  // BININT
        Opcode{0x8A, long_integer, 1},   // LONG1
        Opcode{0x8B, long_integer, 4},   // LONG4
        Opcode{'G', real, 8},            // BINFLOAT
        Opcode{0x8C, text, 1},           // SHORT_BINUNICODE
        Opcode{'U', text, 1},            // SHORT_BINSTRING
        Opcode{'C', text, 1},            // SHORT_BINBYTES
        Opcode{'X', text, 4},            // BINUNICODE
        Opcode{'T', text, 4},            // BINSTRING
        Opcode{'B', text, 4},            // BINBYTES
        Opcode{0x8D, text, 8},           // BINUNICODE8
        Opcode{0x8E, text, 8},           // BINBYTES8
        Opcode{0x96, text, 8},           // BYTEARRAY8
        Opcode{']', empty_list},
        Opcode{')', empty_list},             // EMPTY_TUPLE
        Opcode{'}', empty_dict},             //
        Opcode{'a', into_list, 1},           // APPEND
        Opcode{'e', into_list, since_mark},  // APPENDS
        Opcode{'s', into_dict, 2},           // SETITEM
        Opcode{'u', into_dict, since_mark},  // SETITEMS
        Opcode{0x85, new_list, 1},           // TUPLE1
        Opcode{0x86, new_list, 2},           // TUPLE2
        Opcode{0x87, new_list, 3},           // TUPLE3
        Opcode{'t', new_list, since_mark},   // TUPLE
        Opcode{'l', new_list, since_mark},   // LIST
        Opcode{'d', new_dict, since_mark},   // DICT
        Opcode{'(', mark},
        Opcode{'0', pop},
        Opcode{'1', pop_mark},
        Opcode{'2', dup},
        Opcode{'h', recall, 1},               // BINGET
        Opcode{'j', recall, 4},               // LONG_BINGET
        Opcode{'q', remember, 1},             // BINPUT
        Opcode{'r', remember, 4},             // LONG_BINPUT
        Opcode{0x94, remember, next_number},  // MEMOIZE
    };
    std::array<Opcode, 256> all{};
    for (const Opcode& opcode : known) {
        all.at(opcode.code) = opcode;
    }
    return all;
}();

class Unpickler {
    using Value = PickleValue;
    using Kind = PickleValue::Kind;

  public:
    Unpickler(LogText& log, const std::string& name) : log_{&log}, name_{&name} {}

    base::Expected<Pickle> read()
    {
        while (problem_.empty()) {
            const std::string_view code = log_->bytes(1);
            if (code.empty()) {
                problem_ = "the snapshot is cut off";
                break;
            }
            const Opcode& opcode = opcodes.at(static_cast<unsigned char>(code[0]));
            if (opcode.step == Step::stop) {
                pickle_.root = pop_value();
                break;
            }
            if (opcode.step == Step::unknown) {
                problem_ =
                    fmt::format("not a plain snapshot: opcode 0x{:02X} makes more than dicts, lists, texts and numbers",
                                static_cast<unsigned char>(code[0]));
                break;
            }
            run(opcode.step, opcode.number);
        }
        if (!problem_.empty()) {
            return base::fail(base::ErrorCode::invalid_input, problem_, *name_);
        }
        return std::move(pickle_);
    }

  private:
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
    void make_text(std::uint64_t length)
    {
        const std::string_view text = bytes(length);
        make(Kind::text)->text = text;
    }
    // Two's complement of any length; what is beyond 64 bits is cut off.
    void make_long(std::uint64_t length)
    {
        const std::string_view text = bytes(length);
        const bool negative = !text.empty() && (static_cast<unsigned char>(text.back()) & 0x80U) != 0;
        std::uint64_t value = negative ? ~0ULL : 0;
        if (!text.empty()) {
            std::memcpy(&value, text.data(), std::min<std::size_t>(text.size(), sizeof value));
        }
        make(Kind::integer, static_cast<std::int64_t>(value));
    }

    void run(Step step, std::uint8_t number)
    {
        switch (step) {
        case Step::unknown:
        case Step::stop:
            break;
        case Step::skip:
            static_cast<void>(bytes(number));
            break;
        case Step::none:
            make(Kind::none);
            break;
        case Step::boolean:
            make(Kind::boolean, number);
            break;
        case Step::integer:
            make(Kind::integer, static_cast<std::int64_t>(little_endian(number)));
            break;
        case Step::signed_integer:
            make(Kind::integer, static_cast<std::int32_t>(little_endian(number)));
            break;
        case Step::long_integer:
            make_long(little_endian(number));
            break;
        case Step::real:
            static_cast<void>(bytes(number));
            make(Kind::real);
            break;
        case Step::text:
            make_text(little_endian(number));
            break;
        case Step::empty_list:
        case Step::empty_dict:
            make(step == Step::empty_list ? Kind::list : Kind::dict);
            break;
        case Step::into_list:
        case Step::new_list:
            collect(number, Kind::list, step == Step::new_list);
            break;
        case Step::into_dict:
        case Step::new_dict:
            collect(number, Kind::dict, step == Step::new_dict);
            break;
        case Step::mark:
            marks_.push_back(stack_.size());
            break;
        case Step::pop:
            pop_value();
            break;
        case Step::pop_mark:
            stack_.resize(stack_.size() - take_mark());
            break;
        case Step::dup:
            stack_.empty() ? damaged() : stack_.push_back(stack_.back());
            break;
        case Step::recall:
            recall(little_endian(number));
            break;
        case Step::remember:
            remember(number == next_number ? memo_.size() : little_endian(number));
            break;
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
        } else if (top.empty() || !is_stack_frame(*top.front())) {
            stack_.back()->items.insert(stack_.back()->items.end(), top.begin(), top.end());
        }
    }
    static bool is_stack_frame(const Value& value)
    {
        return value.kind == Kind::dict && value.items.size() <= 8 && value.get("filename") != nullptr;
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
    void remember(std::uint64_t index)
    {
        if (stack_.empty()) {
            damaged();
        } else {
            memo_[index] = stack_.back();
        }
    }
    void recall(std::uint64_t index)
    {
        const auto found = memo_.find(index);
        if (found == memo_.end()) {
            damaged();
        } else {
            stack_.push_back(found->second);
        }
    }

    LogText* log_;
    const std::string* name_;
    Pickle pickle_;
    std::vector<Value*> stack_;
    std::vector<std::size_t> marks_;
    std::unordered_map<std::uint64_t, Value*> memo_;
    std::string problem_;
};

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
    return value == nullptr ? std::string_view{} : std::string_view{value->text};
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
