// Fingerprints decide whether two runs are comparable. They are digests of everything that is measured, and of nothing
// else.
//
// Sources  SHA-256 of libmd. docs/scenario-format.md describes the digested text. Change it only together with
//          `fingerprint_version`, because earlier results are then no longer compared with later ones.
// Cost     one JSON text per case; tens of milliseconds for 10,000 cases.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace memsweep::model {
struct Plan;
}

namespace memsweep::scenarios {

struct OptionInfo;

inline constexpr std::string_view fingerprint_version = "memsweep-fingerprint-1";

// The SHA-256 of bytes that come piece by piece; hex() once, at the end.
class Digest {
  public:
    Digest();
    Digest(const Digest&) = delete;
    Digest& operator=(const Digest&) = delete;
    ~Digest();

    void add(std::string_view bytes);
    [[nodiscard]] std::string hex();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256(std::string_view bytes);

// Sets the fingerprints of the plan and of each case.
//
// The plan's fingerprint covers the expanded content, key-sorted: name, isolation, requirements, every case's
// parameters, memory, release, steps and series, and the assertions. Neither repetitions, warm-up, timeout, seed, order
// and description nor the spelling of the file change it. A changed axis or variable does, through its cases.
//
// A case's fingerprint covers name, isolation, requirements and the case, without the assertions.
void take_fingerprints(model::Plan& plan);

// The canonical JSON of one object by its rows, from which fingerprints are made: keys sorted, numbers instead of unit
// strings. `plain` is default-constructed, and both have the type to which the rows are bound.
[[nodiscard]] std::string canonical_object(std::span<const OptionInfo> options, const void* object, const void* plain);

}  // namespace memsweep::scenarios
