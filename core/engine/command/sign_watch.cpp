#include "core/engine/command/sign_watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace memsweep::engine {
namespace {

// A longer one is no sign: std::regex takes stack for each letter.
constexpr std::size_t longest_line = 4096;

volatile std::sig_atomic_t end_signals = 0;

void count_end_signal(int /*signal*/)
{
    end_signals = end_signals + 1;
}

}  // namespace

SignWatch::SignWatch(const model::EndOfWork& end, const std::string& cwd) : end_{end}
{
    if (end_.sign == model::EndSign::file) {
        path_ = cwd.empty() || end_.text.starts_with('/') ? end_.text : cwd + "/" + end_.text;
    } else if (end_.sign == model::EndSign::line) {
        wanted_.emplace(end_.text);  // which was tried when it was read
    } else if (end_.sign == model::EndSign::signal) {
        struct sigaction action {};
        action.sa_handler = count_end_signal;
        ::sigaction(SIGUSR1, &action, nullptr);
        end_signals = 0;
    }
}

base::Expected<void> SignWatch::prepare() const
{
    if (!path_.empty() && ::unlink(path_.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) {
        return base::fail(base::os_error("is there before the program begins, and cannot be removed", errno, path_));
    }
    return {};
}

void SignWatch::hear(Printed by, std::string_view bytes)
{
    std::string& line = lines_.at(static_cast<std::size_t>(by));
    while (wanted_ && !heard_ && !bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        line.append(bytes.substr(0, std::min({end, bytes.size(), longest_line + 1})));
        bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
        if (end != std::string_view::npos) {
            hear_line(line);
        } else if (line.size() > longest_line) {
            line.resize(longest_line + 1);
        }
    }
}

void SignWatch::hear_line(std::string& line)
{
    try {
        heard_ = line.size() <= longest_line && std::regex_search(line, *wanted_);
    } catch (const std::regex_error&) {  // too complex for this line
        heard_ = false;
    }
    line.clear();
}

bool SignWatch::has_come() const
{
    switch (end_.sign) {
    case model::EndSign::file:
        return ::access(path_.c_str(), F_OK) == 0;
    case model::EndSign::line:
        return heard_;
    case model::EndSign::signal:
        return end_signals > 0;
    case model::EndSign::none:
    case model::EndSign::exit:
        break;
    }
    return false;
}

}  // namespace memsweep::engine
