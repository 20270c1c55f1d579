#include "core/trace/import/pickle.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

namespace memsweep::trace {
namespace {

constexpr std::uint64_t max_text_bytes = 1 << 24;

// The opcodes of Python's pickletools that plain data is made of.
enum class Opcode : unsigned char {
    mark = '(',
    stop = '.',
    none = 'N',
    new_true = 0x88,
    new_false = 0x89,
    binint = 'J',
    binint1 = 'K',
    binint2 = 'M',
    long1 = 0x8A,
    long4 = 0x8B,
    binfloat = 'G',
    binunicode = 'X',
    short_binunicode = 0x8C,
    binunicode8 = 0x8D,
    short_binstring = 'U',
    binstring = 'T',
    binbytes = 'B',
    short_binbytes = 'C',
    binbytes8 = 0x8E,
    bytearray8 = 0x96,
    empty_list = ']',
    append = 'a',
    appends = 'e',
    old_list = 'l',
    empty_tuple = ')',
    tuple = 't',
    tuple1 = 0x85,
    tuple2 = 0x86,
    tuple3 = 0x87,
    empty_dict = '}',
    old_dict = 'd',
    setitem = 's',
    setitems = 'u',
    pop = '0',
    dup = '2',
    pop_mark = '1',
    binget = 'h',
    long_binget = 'j',
    binput = 'q',
    long_binput = 'r',
    memoize = 0x94,
    proto = 0x80,
    frame = 0x95,
};

class Unpickler {
    using enum Opcode;
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
            const auto opcode = static_cast<Opcode>(code[0]);
            if (opcode == stop) {
                pickle_.root = pop_value();
                break;
            }
            if (!scalar(opcode) && !container(opcode) && !bookkeeping(opcode)) {
                problem_ =
                    fmt::format("not a plain snapshot: opcode 0x{:02X} makes more than dicts, lists, texts and numbers",
                                static_cast<unsigned>(opcode));
            }
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

    bool scalar(Opcode opcode)
    {
        switch (opcode) {
        case none:
            make(Kind::none);
            return true;
        case new_true:
            make(Kind::boolean, 1);
            return true;
        case new_false:
            make(Kind::boolean, 0);
            return true;
        case binint:
            make(Kind::integer, static_cast<std::int32_t>(little_endian(4)));
            return true;
        case binint1:
            make(Kind::integer, static_cast<std::int64_t>(little_endian(1)));
            return true;
        case binint2:
            make(Kind::integer, static_cast<std::int64_t>(little_endian(2)));
            return true;
        case long1:
            make_long(little_endian(1));
            return true;
        case long4:
            make_long(little_endian(4));
            return true;
        case binfloat:
            static_cast<void>(bytes(8));
            make(Kind::real);
            return true;
        case short_binunicode:
        case short_binstring:
        case short_binbytes:
            make_text(little_endian(1));
            return true;
        case binunicode:
        case binstring:
        case binbytes:
            make_text(little_endian(4));
            return true;
        case binunicode8:
        case binbytes8:
        case bytearray8:
            make_text(little_endian(8));
            return true;
        default:
            return false;
        }
    }

    bool container(Opcode opcode)
    {
        switch (opcode) {
        case empty_list:
        case empty_tuple:
            make(Kind::list);
            return true;
        case empty_dict:
            make(Kind::dict);
            return true;
        case append:
            collect(1, Kind::list, false);
            return true;
        case appends:
            collect(since_mark(), Kind::list, false);
            return true;
        case setitem:
            collect(2, Kind::dict, false);
            return true;
        case setitems:
            collect(since_mark(), Kind::dict, false);
            return true;
        case tuple1:
            collect(1, Kind::list, true);
            return true;
        case tuple2:
            collect(2, Kind::list, true);
            return true;
        case tuple3:
            collect(3, Kind::list, true);
            return true;
        case tuple:
        case old_list:
            collect(since_mark(), Kind::list, true);
            return true;
        case old_dict:
            collect(since_mark(), Kind::dict, true);
            return true;
        default:
            return false;
        }
    }

    bool bookkeeping(Opcode opcode)
    {
        switch (opcode) {
        case proto:
            static_cast<void>(bytes(1));
            return true;
        case frame:
            static_cast<void>(bytes(8));
            return true;
        case mark:
            marks_.push_back(stack_.size());
            return true;
        case pop:
            pop_value();
            return true;
        case pop_mark:
            stack_.resize(stack_.size() - since_mark());
            return true;
        case dup:
            stack_.empty() ? damaged() : stack_.push_back(stack_.back());
            return true;
        case binget:
            recall(little_endian(1));
            return true;
        case long_binget:
            recall(little_endian(4));
            return true;
        case binput:
            remember(little_endian(1));
            return true;
        case long_binput:
            remember(little_endian(4));
            return true;
        case memoize:
            remember(memo_.size());
            return true;
        default:
            return false;
        }
    }

    std::size_t since_mark()
    {
        if (marks_.empty() || marks_.back() > stack_.size()) {
            damaged();
            return 0;
        }
        const std::size_t count = stack_.size() - marks_.back();
        marks_.pop_back();
        return count;
    }

    // The top `count` values go into the container below them, or into a new one.
    void collect(std::size_t count, Kind kind, bool is_new)
    {
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
