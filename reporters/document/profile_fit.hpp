// The report on the fit of a runtime profile. It has a sentence per key with the value, its origin and its certainty,
// and says how close the model comes to each recording.
#pragma once

#include <string>
#include <vector>

#include "core/lifetime/profile_fit.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

struct JudgedRecording {
    lifetime::Agreement agreement;
    bool is_check{};  // used only to check the fit
};

struct ProfileReport {
    std::string name;
    std::string profile;          // the profile that it inherits
    std::string why;              // why it inherits that one
    lifetime::ReleaseKeys given;  // keys that recordings or options set
    lifetime::ProfileFit fit;
    std::vector<JudgedRecording> recordings;

    [[nodiscard]] std::uint64_t recorded_collections() const;  // collections in the recordings used for the fit
};

// "managed_bytes is 18000: ..."
[[nodiscard]] std::string key_sentence(const ProfileReport& report, const lifetime::FittedKey& key);

[[nodiscard]] Document document(const ProfileReport& report);

}  // namespace memsweep::reporters
