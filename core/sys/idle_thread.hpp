// A second thread that sleeps as long as it lives. With one, the C library takes its locks and std::shared_ptr counts
// with locked instructions, as they do in any program that has threads.
#pragma once

#include <atomic>
#include <thread>

namespace memsweep::sys {

class IdleThread {
  public:
    IdleThread() : thread_{[this] { asleep_.wait(true); }} {}
    IdleThread(const IdleThread&) = delete;
    IdleThread& operator=(const IdleThread&) = delete;
    ~IdleThread()
    {
        asleep_.store(false);
        asleep_.notify_one();
        thread_.join();
    }

  private:
    std::atomic<bool> asleep_{true};
    std::thread thread_;
};

}  // namespace memsweep::sys
