#include "app/mpi/link_test.hpp"

#include <algorithm>
#include <array>
#include <cmath>
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

enum Kind : int { introduction, hello, ready, data, ack, report, verdict, kinds };

constexpr int most_beside = model::max_transfers_at_once;  // flows of a test between the same two ranks

constexpr std::uint64_t most_messages = 4096;
constexpr std::uint64_t round_trips = 200;  // of a sample

// What both ends can compute: the words of a flow's sample.
base::Rng words_of(const Flow& flow, std::uint64_t sample)
{
    return base::Rng{(static_cast<std::uint64_t>(flow.from) << 48U) ^ (static_cast<std::uint64_t>(flow.to) << 32U) ^
                     sample};
}

double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
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

// Memory that MPI may write to after the test was given up, kept until the process ends.
struct Memory {
    std::unique_ptr<FlowBuffer> buffer;  // none: why not is in `own`
    Introduction own;
    Introduction peers;
    std::array<std::uint64_t, 2> start{};  // messages, sample
    std::uint64_t token{};
    std::uint64_t wrong{};
    std::vector<double> values;
};

std::vector<std::shared_ptr<Memory>>& abandoned()
{
    static std::vector<std::shared_ptr<Memory>> kept;
    return kept;
}

// One end of a flow as a list of waits: step() goes on as far as it can without waiting.
class End {
  public:
    // `number`: of this flow among all of the run.
    End(const Comm& comm, const LinkTest& test, Flow flow, int number, const LinkSettings& settings)
        : comm_{comm}, settings_{settings}, flow_{std::move(flow)}, number_{number},
          is_latency_{test.pattern == Pattern::latency}, samples_{test.samples == 0 ? settings.samples : test.samples},
          fixed_messages_{test.messages}, memory_{std::make_shared<Memory>()}
    {
        const std::size_t bytes = flow_.bytes != 0 ? flow_.bytes
                                  : is_latency_    ? settings.latency_bytes
                                                   : settings.bytes;
        const model::TransferEnd& end = is_sender() ? flow_.src : flow_.dst;
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
    virtual ~End() = default;
    End(const End&) = delete;
    End& operator=(const End&) = delete;

    // True: nothing is left to do, or it has failed.
    [[nodiscard]] bool step()
    {
        while (!finished_ && !failed_) {
            if (transfer_.started()) {
                if (!transfer_.done()) {
                    failed_ = transfer_.failed();
                    return failed_;
                }
                transfer_ = Transfer{};
            }
            if (introduced_ < 2) {
                introduce();
            } else if (problem().empty()) {
                go_on();
            } else {
                finished_ = true;
            }
        }
        return true;
    }
    [[nodiscard]] FlowOutcome outcome(int peer) const
    {
        FlowOutcome outcome{.flow = flow_, .wrong_words = memory_->wrong};
        if (finished_ && !problem().empty()) {
            outcome.problem = problem();
        } else if (finished_) {
            add_memory(outcome);
            outcome.values = memory_->values;
        } else {
            outcome.problem = fmt::format("no answer from {}", comm_.name(peer));
            abandoned().push_back(memory_);
        }
        return outcome;
    }

  protected:
    virtual void go_on() = 0;  // begins the next transfer, or finishes

    [[nodiscard]] bool is_sender() const { return comm_.rank() == flow_.from; }
    [[nodiscard]] std::span<std::uint64_t> words() const { return memory_->buffer->words(); }
    [[nodiscard]] void* wire() const { return memory_->buffer->wire(); }
    [[nodiscard]] std::size_t bytes() const { return memory_->buffer->bytes(); }
    void send(const void* from, std::size_t count, Kind kind)
    {
        const int peer = is_sender() ? flow_.to : flow_.from;
        transfer_ = comm_.begin_send(from, count, peer, number_ * kinds + kind);
    }
    void receive(void* to, std::size_t count, Kind kind)
    {
        const int peer = is_sender() ? flow_.to : flow_.from;
        transfer_ = comm_.begin_receive(to, count, peer, number_ * kinds + kind);
    }

    const Comm& comm_;
    const LinkSettings& settings_;
    Flow flow_;
    int number_;
    bool is_latency_;
    std::uint32_t samples_;
    std::uint64_t fixed_messages_;
    bool finished_{};
    bool failed_{};
    std::shared_ptr<Memory> memory_;
    Transfer transfer_;

  private:
    // The sender speaks first, so that neither waits for the other to listen.
    void introduce()
    {
        const bool speaks = is_sender() == (introduced_ == 0);
        ++introduced_;
        if (speaks) {
            send(&memory_->own, sizeof(Introduction), introduction);
        } else {
            receive(&memory_->peers, sizeof(Introduction), introduction);
        }
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
        const Introduction& src = is_sender() ? memory_->own : memory_->peers;
        const Introduction& dst = is_sender() ? memory_->peers : memory_->own;
        outcome.misplaced = src.misplaced || dst.misplaced;
        outcome.facts = {{"src_pages", std::string{src.pages.data()}},
                         {"dst_pages", std::string{dst.pages.data()}},
                         {"src_placement", std::string{src.placement.data()}},
                         {"dst_placement", std::string{dst.placement.data()}}};
    }

    int introduced_{};
};

class Sender final : public End {
  public:
    using End::End;

  private:
    enum class State : std::uint8_t { begin, wait_ready, start_clock, sending, pong, wait_ack, sampled, told, judged };

    void begin_sample()
    {
        base::Rng rng = words_of(flow_, sample_);
        std::ranges::generate(words(), [&] { return rng.next(); });
        failed_ = !memory_->buffer->to_wire();
        memory_->start = {messages_, sample_};
        send(memory_->start.data(), sizeof(memory_->start), hello);
        state_ = State::wait_ready;
    }

    void end_sample()
    {
        const double elapsed = seconds_since(started_);
        const auto messages = static_cast<double>(messages_);
        if (sample_ == 0 && fixed_messages_ == 0) {
            const double wanted = elapsed > 0 ? settings_.sample_seconds / (elapsed / messages) : 1;
            messages_ = is_latency_ ? round_trips
                                    : std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(wanted)), 1,
                                                                most_messages);
        } else if (sample_ != 0) {
            memory_->values[sample_ - 1] =
                is_latency_ ? elapsed / messages / 2 : messages * static_cast<double>(bytes()) / elapsed;
        }
        ++sample_;
    }

    void go_on() override
    {
        switch (state_) {
        case State::begin:
            begin_sample();
            return;
        case State::wait_ready:
            receive(&memory_->token, sizeof(memory_->token), ready);
            state_ = State::start_clock;
            return;
        case State::start_clock:
            sent_ = 0;
            started_ = Clock::now();
            state_ = State::sending;
            [[fallthrough]];
        case State::sending:
            if (sent_ == messages_) {
                if (is_latency_) {
                    state_ = State::sampled;
                } else {
                    receive(&memory_->token, sizeof(memory_->token), ack);
                    state_ = State::sampled;
                }
                return;
            }
            send(wire(), bytes(), data);
            ++sent_;
            state_ = is_latency_ ? State::pong : State::sending;
            return;
        case State::pong:
            receive(&memory_->token, sizeof(memory_->token), ack);
            state_ = State::sending;
            return;
        case State::wait_ack:
        case State::sampled:
            end_sample();
            if (sample_ <= samples_) {
                state_ = State::begin;
                return;
            }
            memory_->start = {0, sample_};  // no more samples
            send(memory_->start.data(), sizeof(memory_->start), hello);
            state_ = State::told;
            return;
        case State::told:
            if (!reported_) {
                reported_ = true;
                send(memory_->values.data(), memory_->values.size() * sizeof(double), report);
                return;
            }
            receive(&memory_->wrong, sizeof(memory_->wrong), verdict);
            state_ = State::judged;
            return;
        case State::judged:
            finished_ = true;
            return;
        }
    }

    State state_{State::begin};
    std::uint64_t sample_{};  // 0: finds out how many messages a sample takes
    std::uint64_t messages_{std::max<std::uint64_t>(fixed_messages_, 1)};
    std::uint64_t sent_{};
    bool reported_{};
    Clock::time_point started_;
};

class Receiver final : public End {
  public:
    using End::End;

  private:
    enum class State : std::uint8_t { begin, greeted, receiving, answering, verifying, reported, judged, end };

    void verify()
    {
        base::Rng rng = words_of(flow_, memory_->start[1]);
        failed_ = !memory_->buffer->from_wire();
        for (std::uint64_t& word : words()) {
            wrong_ += word != rng.next() ? 1U : 0U;
            word = 0;
        }
        failed_ = failed_ || !memory_->buffer->to_wire();
    }

    void go_on() override
    {
        switch (state_) {
        case State::begin:
            receive(memory_->start.data(), sizeof(memory_->start), hello);
            state_ = State::greeted;
            return;
        case State::greeted:
            if (memory_->start[0] == 0) {
                receive(memory_->values.data(), memory_->values.size() * sizeof(double), report);
                state_ = State::reported;
                return;
            }
            got_ = 0;
            send(&memory_->token, sizeof(memory_->token), ready);
            state_ = State::receiving;
            return;
        case State::receiving:
            if (got_ == memory_->start[0]) {
                if (is_latency_) {
                    state_ = State::verifying;
                } else {
                    send(&memory_->token, sizeof(memory_->token), ack);
                    state_ = State::verifying;
                }
                return;
            }
            receive(wire(), bytes(), data);
            ++got_;
            state_ = is_latency_ ? State::answering : State::receiving;
            return;
        case State::answering:
            send(&memory_->token, sizeof(memory_->token), ack);
            state_ = State::receiving;
            return;
        case State::verifying:
            verify();
            state_ = State::begin;
            return;
        case State::reported:
            memory_->wrong = wrong_;
            send(&memory_->wrong, sizeof(memory_->wrong), verdict);
            state_ = State::judged;
            return;
        case State::judged:
        case State::end:
            finished_ = true;
            return;
        }
    }

    State state_{State::begin};
    std::uint64_t got_{};
    std::uint64_t wrong_{};
};

}  // namespace

std::vector<FlowOutcome> run_link_test(const Comm& comm, const LinkTest& test, int number, const LinkSettings& settings)
{
    std::vector<std::unique_ptr<End>> ends;
    std::vector<int> peers;
    std::map<std::pair<int, int>, int> beside;
    for (const Flow& flow : test.flows) {
        const int flow_number = number * most_beside + beside[{flow.from, flow.to}]++;
        if (flow.from == comm.rank()) {
            ends.push_back(std::make_unique<Sender>(comm, test, flow, flow_number, settings));
            peers.push_back(flow.to);
        } else if (flow.to == comm.rank()) {
            ends.push_back(std::make_unique<Receiver>(comm, test, flow, flow_number, settings));
            peers.push_back(flow.from);
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
    for (std::size_t i = 0; i < ends.size(); ++i) {
        outcomes.push_back(ends[i]->outcome(peers[i]));
    }
    return outcomes;
}

}  // namespace memsweep::mpi
