#include "app/mpi/link_test.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <sched.h>

#include <fmt/format.h>

#include "core/base/rng.hpp"

namespace memsweep::mpi {
namespace {

using Clock = std::chrono::steady_clock;

enum Kind : int { hello, ready, data, ack, report, verdict, kinds };

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

// Memory that MPI may write to after the test was given up, kept until the process ends.
struct Memory {
    std::vector<std::uint64_t> words;
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
    End(const Comm& comm, const LinkTest& test, Flow flow, int number, const LinkSettings& settings)
        : comm_{comm}, settings_{settings}, flow_{flow}, number_{number}, is_latency_{test.pattern == Pattern::latency},
          memory_{std::make_shared<Memory>()}
    {
        const std::size_t bytes = is_latency_ ? settings.latency_bytes : settings.bytes;
        memory_->words.resize((bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
        memory_->values.resize(settings.samples);
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
            go_on();
        }
        return true;
    }
    [[nodiscard]] FlowOutcome outcome(int peer) const
    {
        FlowOutcome outcome{.flow = flow_, .wrong_words = memory_->wrong};
        if (finished_) {
            outcome.values = memory_->values;
        } else {
            outcome.problem = fmt::format("no answer from {}", comm_.name(peer));
            abandoned().push_back(memory_);
        }
        return outcome;
    }

  protected:
    virtual void go_on() = 0;  // begins the next transfer, or finishes

    [[nodiscard]] std::size_t bytes() const { return memory_->words.size() * sizeof(std::uint64_t); }
    void send(const void* from, std::size_t count, Kind kind)
    {
        const int peer = comm_.rank() == flow_.from ? flow_.to : flow_.from;
        transfer_ = comm_.begin_send(from, count, peer, number_ * kinds + kind);
    }
    void receive(void* to, std::size_t count, Kind kind)
    {
        const int peer = comm_.rank() == flow_.from ? flow_.to : flow_.from;
        transfer_ = comm_.begin_receive(to, count, peer, number_ * kinds + kind);
    }

    const Comm& comm_;
    const LinkSettings& settings_;
    Flow flow_;
    int number_;
    bool is_latency_;
    bool finished_{};
    bool failed_{};
    std::shared_ptr<Memory> memory_;
    Transfer transfer_;
};

class Sender final : public End {
  public:
    using End::End;

  private:
    enum class State : std::uint8_t { begin, wait_ready, start_clock, sending, pong, wait_ack, sampled, told, judged };

    void begin_sample()
    {
        base::Rng rng = words_of(flow_, sample_);
        std::ranges::generate(memory_->words, [&] { return rng.next(); });
        memory_->start = {messages_, sample_};
        send(memory_->start.data(), sizeof(memory_->start), hello);
        state_ = State::wait_ready;
    }

    void end_sample()
    {
        const double elapsed = seconds_since(started_);
        const auto messages = static_cast<double>(messages_);
        if (sample_ == 0) {
            const double wanted = elapsed > 0 ? settings_.sample_seconds / (elapsed / messages) : 1;
            messages_ = is_latency_ ? round_trips
                                    : std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(wanted)), 1,
                                                                most_messages);
        } else {
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
            send(memory_->words.data(), bytes(), data);
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
            if (sample_ <= settings_.samples) {
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
    std::uint64_t messages_{1};
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
        for (std::uint64_t& word : memory_->words) {
            wrong_ += word != rng.next() ? 1U : 0U;
            word = 0;
        }
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
            receive(memory_->words.data(), bytes(), data);
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
    for (const Flow& flow : test.flows) {
        if (flow.from == comm.rank()) {
            ends.push_back(std::make_unique<Sender>(comm, test, flow, number, settings));
            peers.push_back(flow.to);
        } else if (flow.to == comm.rank()) {
            ends.push_back(std::make_unique<Receiver>(comm, test, flow, number, settings));
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
