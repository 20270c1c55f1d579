// Reads the output of foreign programs from pipes as soon as it arrives, so that no program waits for us.
//
// Cost     one read of at most 64 KiB at a time.
// Memory   64 KiB for all pipes together; 2 KiB for each LastWords; a Checksum keeps no output.
// Errors   os: a pipe cannot be made.
// Threads  one for all objects, because they share a buffer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/expected.hpp"
#include "core/sys/descriptor.hpp"

namespace memsweep::engine {

// A pipe through which we read a program's output. Holds its reading end and, until close_write_end(), also the writing
// end, which the program inherits.
class Drain {
  public:
    virtual ~Drain() = default;
    Drain() = default;
    Drain(const Drain&) = delete;
    Drain& operator=(const Drain&) = delete;

    // Opens a pipe with a capacity of `wanted_bytes`, or less if the system limits it; 0: the kernel's default.
    [[nodiscard]] base::Expected<void> open(int wanted_bytes = 0);

    // The descriptor to read from; -1: the pipe is at its end, or was never opened.
    [[nodiscard]] int fd() const { return read_end_.get(); }
    [[nodiscard]] int write_end() const { return write_end_.get(); }
    void close_write_end() { write_end_.reset(); }

    // Reads waiting bytes, at most 64 KiB, so that other pipes get their turn.
    void read_some();
    // Reads the rest. Call after all writers have ended.
    void read_all();

    // From now on, `listener` also gets all bytes that are read. An empty `listener` ends this.
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
    // The last three lines of the output, with control characters escaped; empty: nothing was printed.
    [[nodiscard]] std::string text() const;

  private:
    void take(std::string_view bytes) override;

    std::string kept_;
};

class Checksum final : public Drain {
  public:
    static constexpr int pipe_bytes = 1 << 20;  // Linux's default limit for a process without privileges

    Checksum();
    ~Checksum() override;
    Checksum(const Checksum&) = delete;
    Checksum& operator=(const Checksum&) = delete;

    // The checksum of the output: "xxh64:" and the hash as `xxhsum -H64` prints it, for example
    // "xxh64:44bc2cf5ad770999".
    [[nodiscard]] std::string text() const;

  private:
    void take(std::string_view bytes) override;

    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace memsweep::engine
