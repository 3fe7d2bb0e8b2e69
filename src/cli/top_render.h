#pragma once
// A live model and a view of it as rows of styled text: for the terminal, and as plain text.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/top_model.h"
#include "cli/top_sources.h"
#include "cli/top_view.h"
#include "sampler/session.h"

namespace linescope {

enum class TopStyle : uint8_t {
  kPlain,
  kBold,
  kDim,
  kHeading,   // of columns
  kSelected,  // row or tab
  kHot,
  kWarm,
  kGood,
  kBad,
};

struct TopText {
  std::string text;  // printable UTF-8
  TopStyle style = TopStyle::kPlain;
};
using TopRow = std::vector<TopText>;

struct TopFrame {
  std::vector<TopRow> rows;  // as many as the terminal has, none wider
  // Where the text cursor stands, while a filter is typed.
  std::optional<std::pair<int, int>> cursor;  // row, column
};

// What is not in the model.
struct TopFacts {
  std::string title;  // "app.py"; the process is named beside it
  int pid = 0;
  double rate_hz = 0;
  Consistency consistency = Consistency::kAuto;
  int64_t elapsed_ns = 0;
  bool sampling = true;
  std::string outcome;  // how the target ended; empty: it runs
  bool failed = false;  // it did not end well
  std::string project_root, working_directory;
  std::vector<std::string> output;  // the last lines that a launched program printed
  std::string output_place;         // where its output goes
};

class TopRenderer {
 public:
  static constexpr int kPaneRows = 3;  // of the program's output, below a table

  // Glyphs beyond ASCII only where `unicode`.
  TopRenderer(TopSources* sources, bool unicode) : sources_(sources), unicode_(unicode) {}

  TopFrame Render(const TopModel& model, TopView& view, const TopFacts& facts, int width,
                  int height);
  // Facts and the first `rows` rows of a table, as plain text. Unset `width`: nothing is cut.
  std::string Text(const TopModel& model, const TopQuery& query, const TopFacts& facts, size_t rows,
                   std::optional<int> width);

 private:
  struct Table;
  Table MakeTable(const TopModel& model, const TopQuery& query, const TopPage& page,
                  const TopFacts& facts);
  std::vector<TopRow> Facts(const TopModel& model, const TopFacts& facts, TopSpan span,
                            bool paused);
  TopRow Tabs(const TopView& view);
  TopRow KeyLine(const TopView& view, int width);
  std::string EmptyReason(const TopModel& model, const TopView& view, const TopFacts& facts);
  std::vector<TopRow> Details(const TopModel& model, const TopView& view, const TopFacts& facts);
  std::vector<TopRow> Help();
  void AddSource(const TopModel& model, uint32_t file, int32_t line, const TopView& view,
                 std::vector<TopRow>* rows);
  void AddStack(const TopModel& model, NodeId node, const TopFacts& facts,
                std::vector<TopRow>* rows);
  std::string SourceLine(const std::string& file, int32_t line);
  [[nodiscard]] std::string Fit(std::string_view text, int width, bool keep_end = false) const;
  // A row of the table; of its headings where there are no `cells`.
  TopRow Layout(const Table& table, const std::vector<int>& widths,
                const std::vector<TopText>* cells) const;
  TopRow FitRow(const TopRow& row, int width) const;

  TopSources* sources_;
  bool unicode_;
};

}  // namespace linescope
