#include "app/result_path.hpp"

#include <cctype>
#include <cstdlib>

#include <fmt/format.h>

namespace memsweep::app {
namespace {

std::string first_set(std::initializer_list<const char*> variables, std::string otherwise)
{
    for (const char* variable : variables) {
        if (const char* value = std::getenv(variable); value != nullptr && *value != '\0') {
            return value;
        }
    }
    return otherwise;
}

// 2026-01-31T12:00:00.000Z -> 20260131T120000Z, which any file system takes.
std::string compact(const std::string& utc)
{
    std::string text;
    for (const char c : utc.substr(0, utc.find('.'))) {
        if (c != '-' && c != ':' && c != 'Z') {
            text += c;
        }
    }
    return text + "Z";
}

// A host or scenario name must not reach into another folder.
std::string file_name(std::string text)
{
    for (char& c : text) {
        if (c == '/' || std::iscntrl(static_cast<unsigned char>(c)) != 0) {
            c = '_';
        }
    }
    return text;
}

}  // namespace

base::Expected<std::string> expand_path(const std::string& pattern, const PathFacts& facts)
{
    std::string path;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%') {
            path += pattern[i];
            continue;
        }
        const char letter = i + 1 < pattern.size() ? pattern[++i] : '\0';
        switch (letter) {
        case 'h':
            path += file_name(first_set({"SLURMD_NODENAME"}, facts.host));
            break;
        case 'r':
            path += file_name(first_set({"SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"}, "0"));
            break;
        case 's':
            path += file_name(facts.scenario);
            break;
        case 't':
            path += compact(facts.utc);
            break;
        case '%':
            path += '%';
            break;
        default:
            return base::fail(base::ErrorCode::invalid_input,
                              fmt::format("\"%{}\" in \"{}\" is not %h, %r, %s, %t or %%",
                                          letter == '\0' ? "" : std::string(1, letter), pattern),
                              "--out");
        }
    }
    return path;
}

}  // namespace memsweep::app
