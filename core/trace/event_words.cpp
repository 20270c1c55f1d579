#include "core/trace/format/event_words.hpp"

namespace memsweep::trace {

bool WordDecoder::next(WordEvent& event, std::array<std::uint64_t, max_operands>& values) noexcept
{
    constexpr std::uint64_t address_bits = (1ULL << word_size_shift) - (1ULL << word_tag_bits);
    while (at_ < words_.size() && !damaged_) {
        const std::uint64_t word = words_[at_++];
        const auto tag = static_cast<WordTag>(word & 7U);
        if (tag == WordTag::operand) {
            damaged_ = operand_count_ == operands_.size();
            operands_[damaged_ ? 0 : operand_count_++] = word;
            continue;
        }
        const std::size_t operand_count = operand_count_;
        operand_count_ = 0;
        values = {word & address_bits, word >> word_size_shift};
        switch (tag) {
        case WordTag::nothing:
            damaged_ = word != 0;
            continue;
        case WordTag::free:
            event = WordEvent::free;
            return true;
        case WordTag::malloc:
            event = WordEvent::malloc;
            return true;
        case WordTag::calloc:
            event = WordEvent::calloc;
            return true;
        case WordTag::realloc:
            event = WordEvent::realloc;
            values[2] = operands_[0] & address_bits;
            damaged_ = operand_count != 1;
            return !damaged_;
        case WordTag::stamp:
            event = WordEvent::stamp;
            values[0] = word >> word_tag_bits;
            return true;
        case WordTag::long_form:
            operand_count_ = operand_count;
            return take_long_form(word, event, values);
        case WordTag::operand:
            break;
        }
    }
    return false;
}

bool WordDecoder::take_long_form(std::uint64_t word, WordEvent& event,
                                 std::array<std::uint64_t, max_operands>& values) noexcept
{
    const std::uint64_t number = word >> word_tag_bits;
    const std::size_t count = operand_count_;
    operand_count_ = 0;
    const auto of_its_own = static_cast<WordEvent>(number & ((1U << word_event_bits) - 1U));
    if ((of_its_own == WordEvent::stack || of_its_own == WordEvent::caller) && count == 0) {
        event = of_its_own;
        values[0] = number >> word_event_bits;
        return true;
    }
    damaged_ = number >= static_cast<std::uint64_t>(WordEvent::stamp) ||
               count != 2 * operands_of(static_cast<WordEvent>(number));
    if (damaged_) {
        return false;
    }
    event = static_cast<WordEvent>(number);
    for (std::size_t i = 0; i < count / 2; ++i) {
        values[i] = (operands_[2 * i] >> word_tag_bits & 0xFFFFFFFFU) | (operands_[2 * i + 1] >> word_tag_bits) << 32U;
    }
    return true;
}

}  // namespace memsweep::trace
