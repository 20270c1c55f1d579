#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

TextSink::TextSink(Taker taker) : taker_{std::move(taker)}
{
    piece_.reserve(full_bytes + full_bytes / 4);
}

void TextSink::pass_on()
{
    taken_ = taken_ && (piece_.empty() || taker_(piece_));
    piece_.clear();
}

bool TextSink::finish()
{
    pass_on();
    return taken_;
}

std::string whole_text(const std::function<void(TextSink&)>& write)
{
    std::string text;
    TextSink sink{[&](std::string_view piece) {
        text += piece;
        return true;
    }};
    write(sink);
    static_cast<void>(sink.finish());
    return text;
}

}  // namespace memsweep::reporters
