#include "app/commands/passed_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "core/sys/output_file.hpp"
#include "core/sys/signals.hpp"

namespace memsweep::app {
namespace {

base::Expected<void> open_pipe(sys::UniqueFd& read, sys::UniqueFd& write)
{
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return base::fail(base::os_error("pipe", errno));
    }
    read.reset(ends[0]);
    write.reset(ends[1]);
    return {};
}

}  // namespace

PassedOutput::~PassedOutput()
{
    finish();
}

base::Expected<void> PassedOutput::take(sys::SpawnOptions& program, Listener listener)
{
    listener_ = std::move(listener);
    passed_[0].to = STDOUT_FILENO;
    passed_[1].to = STDERR_FILENO;
    passed_[1].by = engine::Printed::error;
    for (Passed& one : passed_) {
        MEMSWEEP_TRY(open_pipe(one.read, one.write));
        ::fcntl(one.read.get(), F_SETFL, O_NONBLOCK);
    }
    MEMSWEEP_TRY(open_pipe(over_, tell_over_));
    program.output = passed_[0].write.get();
    program.error = passed_[1].write.get();
    return {};
}

void PassedOutput::begin()
{
    if (!tell_over_.valid() || thread_) {
        return;
    }
    for (Passed& one : passed_) {
        one.write.reset();  // the command has its own, and ours would keep the pipe open
    }
    const sys::AllSignalsBlocked blocked;
    thread_.emplace([this] { pass_on(); });
}

void PassedOutput::finish()
{
    begin();
    tell_over_.reset();
    if (thread_) {
        thread_->join();
        thread_.reset();
    }
}

bool PassedOutput::pass_some(Passed& one)
{
    constexpr std::size_t piece = 64 << 10;
    std::vector<char> bytes(piece);
    const ssize_t got = sys::retry_interrupted([&] { return ::read(one.read.get(), bytes.data(), bytes.size()); });
    if (got < 0 && errno == EAGAIN) {
        return false;
    }
    const std::string_view text{bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
    listener_(one.by, text);
    if (got <= 0 || sys::write_all(one.to, text) != 0) {
        one.read.reset();
        return false;
    }
    return true;
}

void PassedOutput::pass_on()
{
    for (bool is_over = false; !is_over;) {
        std::array<pollfd, 3> ready{
            {{passed_[0].read.get(), POLLIN, 0}, {passed_[1].read.get(), POLLIN, 0}, {over_.get(), POLLIN, 0}}};
        if (sys::retry_interrupted([&] { return ::poll(ready.data(), ready.size(), -1); }) < 0) {
            break;
        }
        is_over = ready[2].revents != 0;
        for (std::size_t i = 0; i < passed_.size(); ++i) {
            if (ready.at(i).revents != 0) {
                pass_some(passed_.at(i));
            }
        }
    }
    constexpr int most_pieces = 32;  // more than a pipe holds: whoever is left behind may write for ever
    for (Passed& one : passed_) {
        for (int piece = 0; piece < most_pieces && one.read.valid() && pass_some(one); ++piece) {
        }
        one.read.reset();
    }
}

}  // namespace memsweep::app
