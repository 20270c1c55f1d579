// Fingerprints decide whether two runs are comparable. A fingerprint is a digest of everything that is measured, and of
// nothing else.
//
// Sources  SHA-256 of libmd. docs/scenario-format.md describes the digested text. Whoever changes that text also
//          changes `fingerprint_version`: earlier results are then no longer compared with later ones.
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

// Computes the SHA-256 of bytes that arrive in several parts. Call hex() only one time, at the end.
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

// Returns the SHA-256 of the bytes as 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256(std::string_view bytes);

// Sets the fingerprints of the plan and of each case.
//
// The plan's fingerprint covers its expanded content, with sorted keys: name, isolation, requirements, assertions, and
// the parameters, memory, release, steps and series of every case. It does not depend on repetitions, warm-up, timeout,
// seed, order, description, or the spelling of the file. If an axis or a variable changes, the cases change, and so
// does the fingerprint.
//
// A case's fingerprint covers the plan's name, isolation and requirements and the case itself, without the assertions.
void take_fingerprints(model::Plan& plan);

// Returns the canonical JSON of one object, from which fingerprints are made. Its keys are sorted, and numbers replace
// strings with units. `object` has the type to which `options` are bound; `plain` is a default-constructed object of
// this type.
[[nodiscard]] std::string canonical_object(std::span<const OptionInfo> options, const void* object, const void* plain);

}  // namespace memsweep::scenarios
