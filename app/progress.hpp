// Tells the person who waits how far the run is: on a terminal one status line on stderr, elsewhere one line per case.
//
// The line is drawn between repetitions only, never inside a timed phase.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "app/options.hpp"
#include "core/engine/observer.hpp"
#include "core/sys/clock.hpp"

namespace memsweep::app {

// nullptr for ProgressMode::none and ::json (which an EventLog on stderr serves).
[[nodiscard]] std::unique_ptr<engine::Observer> make_progress(ProgressMode mode, const sys::Clock& clock);

}  // namespace memsweep::app
