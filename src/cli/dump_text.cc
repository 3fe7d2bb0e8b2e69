#include "cli/dump_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/file_name.h"
#include "cli/figures.h"
#include "process/namespaces.h"
#include "report/format.h"

namespace linescope {
namespace {

// Wider cells push what follows them to the right, in their own line only.
constexpr int kWidestFunction = 40, kWidestPlace = 32;
constexpr int kNarrowestSource = 8;

class TextDump {
 public:
  TextDump(const ProcessDump& dump, DumpSources& sources, const Terminal& terminal)
      : dump_(dump), sources_(sources), terminal_(terminal) {
    paths_.working_directory = dump.working_directory;
  }

  std::string Write() {
    WriteHead();
    for (const DumpThread& thread : dump_.threads) WriteThread(thread);
    return std::move(out_);
  }

 private:
  struct Row {
    std::string function, place;
  };

  [[nodiscard]] const char* Bold() const { return terminal_.colour ? "\x1b[1m" : ""; }
  [[nodiscard]] const char* Dim() const { return terminal_.colour ? "\x1b[2m" : ""; }
  [[nodiscard]] const char* Plain() const { return terminal_.colour ? "\x1b[0m" : ""; }

  void WriteHead() {
    out_ += fmt::format("{}Process {}{}", Bold(), DescribePid(dump_.pid, dump_.namespace_pids),
                        Plain());
    if (!dump_.command.empty()) out_ += ": " + Printable(JoinCommand(dump_.command));
    const size_t count = dump_.threads.size();
    out_ +=
        fmt::format("\nPython {}, {} thread{}", dump_.python_version, count, count == 1 ? "" : "s");
    if (dump_.other_threads > 0) out_ += fmt::format(" and {} without Python", dump_.other_threads);
    out_ += dump_.stopped_ns ? ", stopped for " + FormatDuration(*dump_.stopped_ns)
                             : std::string(", none was stopped");
    out_ += "; newest call first\n";
  }

  void WriteThread(const DumpThread& thread) {
    out_ += fmt::format("\n{}Thread {}", Bold(), thread.tid);
    if (!thread.name.empty()) out_ += fmt::format(" \"{}\"", Printable(thread.name));
    out_ += fmt::format("{}: {}", Plain(), StateName(thread.state));
    if (thread.holds_gil == true) out_ += ", holds the GIL";
    if (thread.interpreter != 0) out_ += fmt::format(", interpreter {}", thread.interpreter);
    if (thread.stack == DumpThread::Stack::kRunning) out_ += ", read as it ran";
    out_ += '\n';
    if (thread.stack == DumpThread::Stack::kUnknown) {
      out_ += "  its stack cannot be read\n";
    } else if (!thread.runs_python()) {
      out_ += "  no Python code\n";
    }
    if (!thread.native_note.empty()) out_ += fmt::format("  {}\n", thread.native_note);
    std::vector<Row> rows;
    int function_width = 0, place_width = 0;
    for (const DumpFrame& frame : thread.frames) {
      Row row{Printable(frame.function),
              Printable(frame.native ? NativePlace(frame) : ShortPath(frame.file, paths_))};
      if (frame.line) row.place += fmt::format(":{}", *frame.line);
      function_width = std::max(function_width, DisplayWidth(row.function));
      place_width = std::max(place_width, DisplayWidth(row.place));
      rows.push_back(std::move(row));
    }
    function_width = std::min(function_width, kWidestFunction);
    place_width = std::min(place_width, kWidestPlace);
    for (size_t i = 0; i < rows.size(); ++i) {
      WriteFrame(thread.frames[i], rows[i], function_width, place_width);
    }
  }

  // The paths of sources are those of the machine that compiled them, and those of libraries long:
  // their last part says enough.
  static std::string NativePlace(const DumpFrame& frame) {
    return std::string(FileName(frame.file));
  }

  void WriteFrame(const DumpFrame& frame, const Row& row, int function_width, int place_width) {
    const DumpSourceLine source = sources_.LineOf(frame);
    std::string line = "  " + row.function;
    int used = 2 + DisplayWidth(row.function);
    const auto pad_to = [&](int column) {
      const int blanks = std::max(0, column - used);
      line.append(static_cast<size_t>(blanks), ' ');
      used += blanks;
    };
    pad_to(2 + function_width);
    line += "  " + row.place;
    used += 2 + DisplayWidth(row.place);
    std::string text = Printable(source.text.value_or(""));
    // A missing file, or none, needs no words; a changed one does.
    if (!source.note.empty() && frame.file.starts_with('/') && (source.text || Changed(source))) {
      text += fmt::format("{}({})", text.empty() ? "" : "  ", Printable(source.note));
    }
    if (!text.empty()) {
      pad_to(2 + function_width + 2 + place_width);
      used += 2;
      if (terminal_.width)
        text = Ellipsize(text, std::max(kNarrowestSource, *terminal_.width - used));
      line += fmt::format("  {}{}{}", Dim(), text, Plain());
    }
    out_ += line + '\n';
    if (frame.locals) WriteVariables(*frame.locals);
  }

  void WriteVariables(const FrameVariables& locals) {
    for (const Variable& variable : locals.variables) {
      out_ +=
          fmt::format("      {} = {}\n", Printable(variable.name), Printable(variable.value.text));
    }
    if (locals.left_out > 0) out_ += fmt::format("      … {} more variables\n", locals.left_out);
  }

  static bool Changed(const DumpSourceLine& source) { return source.note.contains("changed"); }

  const ProcessDump& dump_;
  DumpSources& sources_;
  const Terminal& terminal_;
  RunInfo paths_;
  std::string out_;
};

}  // namespace

std::string DumpText(const ProcessDump& dump, DumpSources& sources, const Terminal& terminal) {
  return TextDump(dump, sources, terminal).Write();
}

}  // namespace linescope
