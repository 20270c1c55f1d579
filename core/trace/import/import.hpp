// Logs of other tools into traces.
//
// Cost     a text log at some hundred MB/s.
// Memory   bounded for logs that are read line by line: the live blocks and a MiB; a PyTorch snapshot stands in memory,
//          without its stack frames.
// Errors   invalid_input: an unknown format, or a log that is none of its format. A bad line is counted and left out.
// Threads  one.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/import/log_text.hpp"
#include "core/trace/totals.hpp"
#include "core/trace/trace_writer.hpp"

namespace memsweep::trace {

struct BadLine {
    std::uint64_t number{};  // from 1; of a binary log its record
    std::string reason;
};
inline constexpr std::size_t named_bad_lines = 5;

enum class FreeOrder { lifo, fifo, random };  // which block of a class a log without addresses means

struct ImportOptions {
    std::string name;  // of the log, for messages; RMM's names its device
    FreeOrder free_order{FreeOrder::lifo};
    std::optional<std::uint64_t> uid;       // only this process of a log that holds several
    std::uint64_t drawn_live{100'000};      // of a distribution: blocks that are live at the beginning,
    std::uint64_t drawn_events{1'000'000};  // and what is drawn after them
};

// Takes what importers find: writes it, and keeps the account.
class ImportSink {
  public:
    explicit ImportSink(TraceWriter& writer) : writer_{&writer} {}

    void add(const Event& event)
    {
        writer_->add(event);
        accounting_.add(event);
    }
    void define_space(std::uint32_t space, SpaceKind kind, std::uint32_t device, std::string_view name);
    void bad(std::uint64_t number, std::string_view reason);
    void count_ghost() noexcept { ++ghosts_; }

    [[nodiscard]] const Accounting& accounting() const noexcept { return accounting_; }
    [[nodiscard]] std::uint64_t bad_lines() const noexcept { return bad_lines_; }
    [[nodiscard]] const std::vector<BadLine>& first_bad_lines() const noexcept { return first_bad_lines_; }
    [[nodiscard]] std::uint64_t ghosts() const noexcept { return ghosts_; }

  private:
    TraceWriter* writer_;
    Accounting accounting_;
    std::vector<BadLine> first_bad_lines_;
    std::uint64_t bad_lines_{};
    std::uint64_t ghosts_{};  // blocks that were live before the log begins
};

using Importer = base::Expected<void> (*)(LogText& log, ImportSink& sink, const ImportOptions& options);

struct ImportFormat {
    std::string_view name;
    std::string_view help;
    std::uint64_t ticks_per_second{};  // of the stamps that its importer gives
    bool (*looks_like)(std::string_view head);
    Importer import;
};

[[nodiscard]] std::span<const ImportFormat> import_formats();

// By name, or by the first bytes of the log.
[[nodiscard]] base::Expected<const ImportFormat*> find_import_format(std::string_view name, std::string_view head,
                                                                     const std::string& log_name);

base::Expected<void> import_rmm(LogText& log, ImportSink& sink, const ImportOptions& options);
base::Expected<void> import_umpire(LogText& log, ImportSink& sink, const ImportOptions& options);
base::Expected<void> import_pytorch(LogText& log, ImportSink& sink, const ImportOptions& options);
base::Expected<void> import_heaptrack(LogText& log, ImportSink& sink, const ImportOptions& options);
base::Expected<void> import_mtrace(LogText& log, ImportSink& sink, const ImportOptions& options);
base::Expected<void> import_dj_mtrace(LogText& log, ImportSink& sink, const ImportOptions& options);
base::Expected<void> import_dj_workload(LogText& log, ImportSink& sink, const ImportOptions& options);
base::Expected<void> import_fleetbench(LogText& log, ImportSink& sink, const ImportOptions& options);
base::Expected<void> import_csapp(LogText& log, ImportSink& sink, const ImportOptions& options);
base::Expected<void> import_valgrind(LogText& log, ImportSink& sink, const ImportOptions& options);
base::Expected<void> import_ltrace(LogText& log, ImportSink& sink, const ImportOptions& options);
base::Expected<void> import_malloc_bench(LogText& log, ImportSink& sink, const ImportOptions& options);

}  // namespace memsweep::trace
