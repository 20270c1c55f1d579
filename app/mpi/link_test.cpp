#include "app/mpi/link_test.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <coroutine>
#include <map>
#include <memory>
#include <sched.h>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "app/mpi/flow_buffer.hpp"
#include "core/base/rng.hpp"
#include "core/model/transfer.hpp"

namespace memsweep::mpi {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int max_beside = model::max_transfers_at_once;  // flows of a test between the same two ranks, either way
constexpr std::uint64_t max_messages = 4096;
constexpr std::uint64_t round_trips = 200;  // in each sample

// What both ends can compute: the words of a flow's sample.
base::Rng words_of(const Flow& flow, std::uint64_t sample)
{
    return base::Rng{(static_cast<std::uint64_t>(flow.from) << 48U) ^ (static_cast<std::uint64_t>(flow.to) << 32U) ^
                     sample};
}

// What one end says of its memory.
struct Introduction {
    std::array<char, 240> problem{};
    std::array<char, 160> placement{};
    std::array<char, 40> pages{};
    bool misplaced{};
};

template <std::size_t size>
void write(std::array<char, size>& into, const std::string& text)
{
    text.copy(into.data(), into.size() - 1);
}

// What MPI writes to, and may still write to after the test was given up.
struct Memory {
    std::unique_ptr<FlowBuffer> buffer;  // none: why not is in `own`
    Introduction own;
    Introduction peers;
    std::array<std::uint64_t, 2> start{};  // messages, sample; 0 messages: no more samples
    std::uint64_t token{};
    std::uint64_t wrong{};
    std::vector<double> values;
};

// A coroutine that stops wherever its end waits for a message.
class Talk {
  public:
    struct promise_type {  // NOLINT(readability-identifier-naming): what coroutines look for
        Talk get_return_object() { return Talk{std::coroutine_handle<promise_type>::from_promise(*this)}; }
        [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
        [[nodiscard]] std::suspend_always final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const { throw; }
    };

    Talk(const Talk&) = delete;
    Talk& operator=(const Talk&) = delete;
    ~Talk() { handle_.destroy(); }

    [[nodiscard]] bool done() const { return handle_.done(); }
    void go_on() const { handle_.resume(); }

  private:
    explicit Talk(std::coroutine_handle<promise_type> handle) : handle_{handle} {}
    std::coroutine_handle<promise_type> handle_;
};

// One end of a flow.
class End {
  public:
    // `number`: of this flow among all of the run.
    End(const Comm& comm, const LinkTest& test, const Flow& flow, int number, const LinkSettings& settings)
        : comm_{comm}, settings_{settings}, flow_{flow}, number_{number}, is_sender_{comm.rank() == flow.from},
          peer_{is_sender_ ? flow.to : flow.from}, is_latency_{test.pattern == Pattern::latency},
          samples_{test.samples == 0 ? settings.samples : test.samples}, fixed_messages_{test.messages},
          talk_{is_sender_ ? speak() : listen()}
    {
        const std::size_t bytes = flow_.bytes != 0 ? flow_.bytes
                                  : is_latency_    ? settings.latency_bytes
                                                   : settings.bytes;
        const model::TransferEnd& end = is_sender_ ? flow_.src : flow_.dst;
        auto buffer = FlowBuffer::make(end, bytes, Comm::no_device_memory());
        if (buffer) {
            memory_->buffer = *std::move(buffer);
            write(memory_->own.placement, memory_->buffer->end().proof().text);
            write(memory_->own.pages, memory_->buffer->end().pages());
            memory_->own.misplaced = memory_->buffer->end().proof().wrong;
        } else {
            write(memory_->own.problem, fmt::format("{}: {}: {}", comm.name(comm.rank()), model::to_text(end),
                                                    base::describe(buffer.error())));
        }
        memory_->values.resize(samples_);
    }

    // Goes on as far as it can without waiting. True: nothing is left to do, or it has failed.
    [[nodiscard]] bool step()
    {
        while (!failed_ && !talk_.done()) {
            if (!transfer_.done()) {
                failed_ = transfer_.failed();
                return failed_;
            }
            talk_.go_on();
        }
        return true;
    }

    [[nodiscard]] FlowOutcome outcome() const
    {
        FlowOutcome outcome{.flow = flow_, .wrong_words = memory_->wrong};
        if (failed_ || !talk_.done()) {
            outcome.problem = fmt::format("no answer from {}", comm_.name(peer_));
            keep_for_mpi(memory_);
        } else if (!problem().empty()) {
            outcome.problem = problem();
        } else {
            add_memory(outcome);
            outcome.values = memory_->values;
        }
        return outcome;
    }

  private:
    enum Kind : int { introduction, hello, ready, data, ack, report, verdict, kinds };

    std::suspend_always send(const void* from, std::size_t count, Kind kind)
    {
        transfer_ = comm_.begin_send(from, count, peer_, number_ * kinds + kind);
        return {};
    }
    std::suspend_always receive(void* to, std::size_t count, Kind kind)
    {
        transfer_ = comm_.begin_receive(to, count, peer_, number_ * kinds + kind);
        return {};
    }

    [[nodiscard]] std::span<std::uint64_t> words() const { return memory_->buffer->words(); }
    [[nodiscard]] void* wire() const { return memory_->buffer->wire(); }
    [[nodiscard]] std::size_t bytes() const { return memory_->buffer->bytes(); }

    // What the sender does. It introduces itself first, so that neither waits for the other to listen.
    Talk speak()
    {
        Memory& memory = *memory_;
        co_await send(&memory.own, sizeof(Introduction), introduction);
        co_await receive(&memory.peers, sizeof(Introduction), introduction);
        if (!problem().empty()) {
            co_return;
        }
        std::uint64_t messages = std::max<std::uint64_t>(fixed_messages_, 1);
        for (std::uint64_t sample = 0; sample <= samples_; ++sample) {
            if (!fill(sample)) {
                co_return;
            }
            memory.start = {messages, sample};
            co_await send(memory.start.data(), sizeof(memory.start), hello);
            co_await receive(&memory.token, sizeof(memory.token), ready);
            const Clock::time_point started = Clock::now();
            for (std::uint64_t sent = 0; sent < messages; ++sent) {
                co_await send(wire(), bytes(), data);
                if (is_latency_) {
                    co_await receive(&memory.token, sizeof(memory.token), ack);
                }
            }
            if (!is_latency_) {
                co_await receive(&memory.token, sizeof(memory.token), ack);
            }
            const double elapsed = std::chrono::duration<double>(Clock::now() - started).count();
            if (sample != 0) {
                memory.values[sample - 1] = figure(elapsed, messages);
            } else if (fixed_messages_ == 0) {
                messages = messages_for(elapsed / static_cast<double>(messages));
            }
        }
        memory.start = {0, samples_ + 1};
        co_await send(memory.start.data(), sizeof(memory.start), hello);
        co_await send(memory.values.data(), memory.values.size() * sizeof(double), report);
        co_await receive(&memory.wrong, sizeof(memory.wrong), verdict);
    }

    Talk listen()
    {
        Memory& memory = *memory_;
        co_await receive(&memory.peers, sizeof(Introduction), introduction);
        co_await send(&memory.own, sizeof(Introduction), introduction);
        if (!problem().empty()) {
            co_return;
        }
        std::uint64_t wrong = 0;
        while (true) {
            co_await receive(memory.start.data(), sizeof(memory.start), hello);
            const auto [messages, sample] = memory.start;
            if (messages == 0) {
                break;
            }
            co_await send(&memory.token, sizeof(memory.token), ready);
            for (std::uint64_t got = 0; got < messages; ++got) {
                co_await receive(wire(), bytes(), data);
                if (is_latency_) {
                    co_await send(&memory.token, sizeof(memory.token), ack);
                }
            }
            if (!is_latency_) {
                co_await send(&memory.token, sizeof(memory.token), ack);
            }
            wrong += verify(sample);
            if (failed_) {
                co_return;
            }
        }
        co_await receive(memory.values.data(), memory.values.size() * sizeof(double), report);
        memory.wrong = wrong;
        co_await send(&memory.wrong, sizeof(memory.wrong), verdict);
    }

    bool fill(std::uint64_t sample)
    {
        base::Rng rng = words_of(flow_, sample);
        std::ranges::generate(words(), [&] { return rng.next(); });
        failed_ = !memory_->buffer->to_wire();
        return !failed_;
    }

    // Returns how many words are wrong, and clears them all.
    std::uint64_t verify(std::uint64_t sample)
    {
        base::Rng rng = words_of(flow_, sample);
        failed_ = !memory_->buffer->from_wire();
        std::uint64_t wrong = 0;
        for (std::uint64_t& word : words()) {
            wrong += word != rng.next() ? 1U : 0U;
            word = 0;
        }
        failed_ = failed_ || !memory_->buffer->to_wire();
        return wrong;
    }

    [[nodiscard]] double figure(double elapsed, std::uint64_t messages) const
    {
        const auto count = static_cast<double>(messages);
        return is_latency_ ? elapsed / count / 2 : count * static_cast<double>(bytes()) / elapsed;
    }

    [[nodiscard]] std::uint64_t messages_for(double message_seconds) const
    {
        const double wanted = message_seconds > 0 ? settings_.sample_seconds / message_seconds : 1;
        return is_latency_ ? round_trips
                           : std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(wanted)), 1, max_messages);
    }

    [[nodiscard]] std::string problem() const
    {
        const std::string own = memory_->own.problem.data();
        return own.empty() ? memory_->peers.problem.data() : own;
    }

    void add_memory(FlowOutcome& outcome) const
    {
        if (flow_.src.kind == model::TransferEnd::Kind::null) {
            return;
        }
        const Introduction& src = is_sender_ ? memory_->own : memory_->peers;
        const Introduction& dst = is_sender_ ? memory_->peers : memory_->own;
        outcome.misplaced = src.misplaced || dst.misplaced;
        outcome.facts = {{"src_pages", std::string{src.pages.data()}},
                         {"dst_pages", std::string{dst.pages.data()}},
                         {"src_placement", std::string{src.placement.data()}},
                         {"dst_placement", std::string{dst.placement.data()}}};
    }

    const Comm& comm_;
    const LinkSettings& settings_;
    Flow flow_;
    int number_;
    bool is_sender_;
    int peer_;
    bool is_latency_;
    std::uint32_t samples_;
    std::uint64_t fixed_messages_;  // 0: sample 0, which does not count, finds out how many a sample takes
    bool failed_{};
    std::shared_ptr<Memory> memory_{std::make_shared<Memory>()};
    Transfer transfer_;
    Talk talk_;
};

}  // namespace

std::vector<FlowOutcome> run_link_test(const Comm& comm, const LinkTest& test, int number, const LinkSettings& settings)
{
    std::vector<std::unique_ptr<End>> ends;
    std::map<std::pair<int, int>, int> beside;
    for (const Flow& flow : test.flows) {
        const std::pair<int, int> both = std::minmax(flow.from, flow.to);
        const int flow_number = number * max_beside + beside[both]++;
        if (flow.from == comm.rank() || flow.to == comm.rank()) {
            ends.push_back(std::make_unique<End>(comm, test, flow, flow_number, settings));
        }
    }
    const Deadline deadline = within(settings.patience);
    for (bool open = true; open && Clock::now() < deadline;) {
        open = false;
        for (const auto& end : ends) {
            open = !end->step() || open;
        }
        sched_yield();
    }
    std::vector<FlowOutcome> outcomes;
    for (const auto& end : ends) {
        outcomes.push_back(end->outcome());
    }
    return outcomes;
}

}  // namespace memsweep::mpi
