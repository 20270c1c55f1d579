// The test framework sets signal handlers of its own for every test case; traps set theirs once per process. A test
// case that traps faults begins with one of these.
#pragma once

#include <csignal>

#include "core/sys/signals.hpp"

namespace memsweep::tests {

class TrapHandlers {
  public:
    TrapHandlers()
    {
        static const struct sigaction of_traps = [] {
            static_cast<void>(sys::trapped([] {}));
            struct sigaction installed {};
            ::sigaction(SIGSEGV, nullptr, &installed);
            return installed;
        }();
        ::sigaction(SIGSEGV, &of_traps, nullptr);
        ::sigaction(SIGBUS, &of_traps, nullptr);
    }
};

}  // namespace memsweep::tests
