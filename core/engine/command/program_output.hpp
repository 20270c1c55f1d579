// The output of foreign programs, taken from their pipes as it comes, so that no program ever waits for us.
//
// Cost     a read of at most 64 KiB at a time.
// Memory   64 KiB for all; 2 KiB for last words; a checksum keeps no output.
// Errors   os: no pipe.
// Threads  one for all of them: they share a buffer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/expected.hpp"
#include "core/sys/descriptor.hpp"

namespace memsweep::engine {

// A pipe whose writer must never wait for us.
class Drain {
  public:
    virtual ~Drain() = default;
    Drain() = default;
    Drain(const Drain&) = delete;
    Drain& operator=(const Drain&) = delete;

    // Opens a pipe that holds so many bytes, or fewer if a limit says so; 0: as many as the kernel's default.
    [[nodiscard]] base::Expected<void> open(int wanted_bytes = 0);

    // -1: nobody will ever write again, or it was never opened.
    [[nodiscard]] int fd() const { return read_end_.get(); }
    [[nodiscard]] int write_end() const { return write_end_.get(); }
    void close_write_end() { write_end_.reset(); }

    // Reads bytes that wait now, at most 64 KiB of them, so that other pipes get their turn.
    void read_some();
    // Reads the rest. Call after all writers have ended.
    void read_all();

    // Gets the bytes that are read, too. Empty: nobody does.
    using Listener = std::function<void(std::string_view bytes)>;
    void listen(Listener listener) { listener_ = std::move(listener); }

  private:
    virtual void take(std::string_view bytes) = 0;

    Listener listener_;
    sys::UniqueFd read_end_;
    sys::UniqueFd write_end_;
};

class LastWords final : public Drain {
  public:
    // The last three lines, each inert; empty: nothing was printed.
    [[nodiscard]] std::string text() const;

  private:
    void take(std::string_view bytes) override;

    std::string kept_;
};

class Checksum final : public Drain {
  public:
    static constexpr int pipe_bytes = 1 << 20;  // as much as an unprivileged process may have

    Checksum();
    ~Checksum() override;
    Checksum(const Checksum&) = delete;
    Checksum& operator=(const Checksum&) = delete;

    // "xxh64:44bc2cf5ad770999", as `xxhsum -H64` prints it.
    [[nodiscard]] std::string text() const;

  private:
    void take(std::string_view bytes) override;

    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace memsweep::engine
