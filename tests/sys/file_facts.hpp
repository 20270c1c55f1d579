// What tests ask about files and about failed writes.
#pragma once

#include <string>

#include <sys/stat.h>

#include "core/base/expected.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::tests {

inline mode_t mode_of(const std::string& path)
{
    struct stat file {};
    REQUIRE(::stat(path.c_str(), &file) == 0);
    return file.st_mode & 07777U;
}

inline ino_t inode_of(const std::string& path)
{
    struct stat file {};
    REQUIRE(::lstat(path.c_str(), &file) == 0);
    return file.st_ino;
}

inline std::string message_of(const base::Expected<void>& result)
{
    return result ? "" : base::describe(result.error());
}

}  // namespace memsweep::tests
