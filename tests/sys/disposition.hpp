// What happens on a signal, set for a while and set back.
#pragma once

#include <csignal>

namespace memsweep::tests {

class Disposition {
  public:
    Disposition(int signal, void (*handler)(int)) : signal_{signal}
    {
        struct sigaction action {};  // without SA_RESTART: calls are cut short
        action.sa_handler = handler;
        ::sigaction(signal, &action, &before_);
    }
    Disposition(const Disposition&) = delete;
    Disposition& operator=(const Disposition&) = delete;
    ~Disposition() { ::sigaction(signal_, &before_, nullptr); }

  private:
    int signal_;
    struct sigaction before_ {};
};

}  // namespace memsweep::tests
