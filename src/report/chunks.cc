#include "report/chunks.h"

#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "report/call_chunks.h"
#include "report/container.h"
#include "report/encoding.h"
#include "report/parallel.h"

namespace linescope {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
// Smaller chunks make the file larger, larger ones make opening a source slower.
constexpr size_t kChunkTextBytes = 128 << 10;

// The sections `m.*` and `m.missing`.
class MetricColumn {
 public:
  void Push(const ReportMetrics& metrics) {
    time_.push_back(static_cast<double>(metrics.time_ns.value_or(0)));
    samples_.push_back(static_cast<double>(metrics.samples));
    total_.push_back(static_cast<double>(metrics.total_ns.value_or(0)));
    missing_.push_back((metrics.time_ns ? 0u : 1u << 0) | (metrics.total_ns ? 0u : 1u << 2));
  }

  void AddTo(ContainerBuilder& container) const {
    container.Add("m.time", std::span(time_));
    container.Add("m.samples", std::span(samples_));
    container.Add("m.total", std::span(total_));
    container.Add("m.missing", std::span(missing_));
  }

 private:
  std::vector<double> time_, samples_, total_;
  std::vector<uint32_t> missing_;
};

// A u32 column of rows in groups: `name_start`.
class GroupStarts {
 public:
  void EndGroup(size_t rows) { start_.push_back(static_cast<uint32_t>(rows)); }
  void AddTo(ContainerBuilder& container, const char* name) const {
    container.Add(name, std::span(start_));
  }

 private:
  std::vector<uint32_t> start_ = {0};
};

// Offsets in a text, in UTF-16 units, of places in lines that never go back.
class TextPosition {
 public:
  explicit TextPosition(const SourceText& text) : text_(text) {}
  uint32_t Of(uint32_t line, uint32_t column) {
    while (line_ < line) {
      line_start_ += line_units_;
      line_units_ = Utf16Length(text_.Line(++line_)) + 1;
    }
    return line_start_ + column;
  }

 private:
  const SourceText& text_;
  uint32_t line_ = 0;        // whose start is `line_start_`
  uint32_t line_start_ = 0;  // from the start of the text
  uint32_t line_units_ = 0;  // of that line, with its line end
};

class TokenColumns {
 public:
  void Push(const ReportSource& source) {
    TextPosition position(source.text);
    uint32_t end = 0;  // of the token before
    for (const Token& token : source.index.tokens) {
      const uint32_t begin = position.Of(token.line, token.column);
      gap_.Push(begin - end);
      length_.Push(token.length);
      class_.push_back(static_cast<uint8_t>(token.token_class));
      end = begin + token.length;
    }
    gap_.EndGroup();
    length_.EndGroup();
    class_start_.EndGroup(class_.size());
  }

  void AddTo(ContainerBuilder& container) const {
    gap_.AddTo(container, "token_gap");
    length_.AddTo(container, "token_length");
    container.Add("token_class", std::span(class_));
    class_start_.AddTo(container, "token_class_start");
  }

 private:
  VarintColumn gap_, length_;
  std::vector<uint8_t> class_;
  GroupStarts class_start_;
};

class ExpressionColumns {
 public:
  void Push(const std::vector<ReportExpression>& expressions) {
    for (const ReportExpression& expression : expressions) {
      column_.push_back(expression.column);
      end_line_.push_back(expression.end_line);
      end_column_.push_back(expression.end_column);
      time_.push_back(static_cast<double>(expression.cost.time_ns));
      samples_.push_back(static_cast<double>(expression.cost.samples));
    }
    start_.EndGroup(column_.size());
  }

  void AddTo(ContainerBuilder& container) const {
    container.Add("expr_column", std::span(column_));
    container.Add("expr_end_line", std::span(end_line_));
    container.Add("expr_end_column", std::span(end_column_));
    container.Add("expr_time", std::span(time_));
    container.Add("expr_samples", std::span(samples_));
    start_.AddTo(container, "expr_start");
  }

 private:
  std::vector<uint32_t> column_, end_line_, end_column_;
  std::vector<double> time_, samples_;
  GroupStarts start_;
};

// Changes against another run: `diff` and `diff_flags`.
class ChangeColumns {
 public:
  void Push(const std::optional<ReportChange>& change) {
    delta_.push_back(change ? static_cast<double>(change->delta_ns) : 0);
    flags_.push_back(static_cast<uint8_t>(
        !change ? kNoChange : (change->noise ? kNoise : 0) | (change->base_ns ? 0 : kNoBase)));
  }
  void AddTo(ContainerBuilder& container) const {
    container.Add("diff", std::span(delta_));
    container.Add("diff_flags", std::span(flags_));
  }

 private:
  enum : uint8_t { kNoise = 1, kNoBase = 2, kNoChange = 4 };
  std::vector<double> delta_;
  std::vector<uint8_t> flags_;
};

class StatementColumns {
 public:
  void Push(const ReportSource& source) {
    for (const LineRange& range : source.index.statements) {
      first_.push_back(range.first);
      last_.push_back(range.last);
    }
    start_.EndGroup(first_.size());
  }

  void AddTo(ContainerBuilder& container) const {
    container.Add("stmt_first", std::span(first_));
    container.Add("stmt_last", std::span(last_));
    start_.AddTo(container, "stmt_start");
  }

 private:
  std::vector<uint32_t> first_, last_;
  GroupStarts start_;
};

// Where links stand is told as it is for tokens; what they lead to, by rows of a table, because
// many lead to the same.
class LinkColumns {
 public:
  void Push(const ReportSource& source) {
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> rows;
    for (const Link& link : source.links) rows.try_emplace({link.file, link.target_line}, 0);
    for (auto& [target, row] : rows) {
      row = static_cast<uint32_t>(file_.size()) - first_;
      file_.push_back(target.first);
      line_.push_back(target.second);
    }
    first_ = static_cast<uint32_t>(file_.size());
    target_start_.EndGroup(file_.size());
    TextPosition position(source.text);
    uint32_t end = 0;  // of the link before
    for (const Link& link : source.links) {
      const uint32_t begin = position.Of(link.line, link.column);
      gap_.Push(begin - end);
      length_.Push(link.length);
      target_.Push(rows.at({link.file, link.target_line}));
      end = begin + link.length;
    }
    gap_.EndGroup();
    length_.EndGroup();
    target_.EndGroup();
  }

  void AddTo(ContainerBuilder& container) const {
    gap_.AddTo(container, "link_gap");
    length_.AddTo(container, "link_length");
    target_.AddTo(container, "link_target");
    container.Add("target_file", std::span(file_));
    container.Add("target_line", std::span(line_));
    target_start_.AddTo(container, "target_start");
  }

 private:
  VarintColumn gap_, length_, target_;
  std::vector<uint32_t> file_, line_;
  GroupStarts target_start_;
  uint32_t first_ = 0;  // row of the current group's first target
};

class DefinitionColumns {
 public:
  // `rows`: the row in the functions chunk of each definition of this file that has one.
  void Push(const ReportSource& source, const std::unordered_map<uint32_t, uint32_t>& rows) {
    const auto& definitions = source.index.definitions;
    for (uint32_t i = 0; i < definitions.size(); ++i) {
      const Definition& definition = definitions[i];
      if (definition.kind != DefinitionKind::kFunction &&
          definition.kind != DefinitionKind::kAsyncFunction &&
          definition.kind != DefinitionKind::kClass) {
        continue;
      }
      const bool named_here = definition.name_line == definition.line;
      line_.push_back(definition.line);
      last_.push_back(definition.last_line);
      column_.push_back(named_here ? definition.name_column : 0);
      length_.push_back(named_here ? Utf16Length(definition.name) : 0);
      const auto row = rows.find(i);
      function_.push_back(row == rows.end() ? kNone : row->second);
    }
    start_.EndGroup(line_.size());
  }

  void AddTo(ContainerBuilder& container) const {
    container.Add("def_line", std::span(line_));
    container.Add("def_last", std::span(last_));
    start_.AddTo(container, "def_start");
    container.Add("def_function", std::span(function_));
    container.Add("def_column", std::span(column_));
    container.Add("def_length", std::span(length_));
  }

 private:
  std::vector<uint32_t> line_, last_, function_, column_, length_;
  GroupStarts start_;
};

// Rows in the functions chunk by definition. Functions are sorted by file.
std::unordered_map<uint32_t, uint32_t> FunctionRows(const ReportModel& model, uint32_t file) {
  std::unordered_map<uint32_t, uint32_t> rows;
  const auto functions = std::ranges::equal_range(model.functions, file, {}, &ReportFunction::file);
  for (const ReportFunction& function : functions) {
    if (function.definition)
      rows.emplace(*function.definition, static_cast<uint32_t>(&function - model.functions.data()));
  }
  return rows;
}

void AddLineChanges(const ReportComparison& comparison, const std::vector<uint32_t>& files,
                    ContainerBuilder& container) {
  std::vector<uint32_t> line;
  GroupStarts start;
  ChangeColumns changes;
  for (const uint32_t file : files) {
    for (const ReportLineChange& change : comparison.lines[file]) {
      line.push_back(change.line);
      changes.Push(change.change);
    }
    start.EndGroup(line.size());
  }
  container.Add("diff_line", std::span(std::as_const(line)));
  start.AddTo(container, "diff_line_start");
  changes.AddTo(container);
}

// Which files share a chunk.
std::vector<std::vector<uint32_t>> GroupSources(const ReportModel& model) {
  std::vector<std::vector<uint32_t>> groups;
  size_t bytes = kChunkTextBytes;  // of the last group
  for (uint32_t file = 0; file < model.files.size(); ++file) {
    if (!model.files[file].source) continue;
    const size_t size = model.files[file].source->text.text.size();
    if (bytes + size > kChunkTextBytes || groups.empty()) {
      groups.emplace_back();
      bytes = 0;
    }
    groups.back().push_back(file);
    bytes += size;
  }
  return groups;
}

}  // namespace

const std::vector<std::string>& MetricColumns() {
  static const std::vector<std::string> columns = {"time", "samples", "total"};
  return columns;
}

std::string FunctionsContainer(const ReportModel& model) {
  StringColumn names;
  std::vector<uint32_t> file, line, last;
  std::vector<uint8_t> kind;
  MetricColumn metrics;
  for (const ReportFunction& function : model.functions) {
    std::string name = function.name;
    MakeValidUtf8(name);
    names.Push(name);
    file.push_back(function.file);
    line.push_back(function.line);
    last.push_back(function.last_line.value_or(0));
    kind.push_back(static_cast<uint8_t>(function.kind));
    metrics.Push(function.metrics);
  }
  ContainerBuilder container;
  names.AddTo(container, "name");
  container.Add("file", std::span(std::as_const(file)));
  container.Add("line", std::span(std::as_const(line)));
  container.Add("last", std::span(std::as_const(last)));
  container.Add("kind", std::span(std::as_const(kind)));
  metrics.AddTo(container);
  if (model.comparison) {
    ChangeColumns changes;
    for (const auto& change : model.comparison->functions) changes.Push(change);
    changes.AddTo(container);
  }
  return container.Build();
}

std::string CallersContainer(const CallGraph& calls) {
  StringColumn names, files;
  std::vector<uint8_t> kind;
  for (const OutsideFunction& function : calls.outside) {
    for (const auto& [text, column] :
         {std::pair(&function.name, &names), std::pair(&function.file, &files)}) {
      std::string valid = *text;
      MakeValidUtf8(valid);
      column->Push(valid);
    }
    kind.push_back(static_cast<uint8_t>(function.kind));
  }
  ContainerBuilder container;
  names.AddTo(container, "outside_name");
  files.AddTo(container, "outside_file");
  container.Add("outside_kind", std::span(std::as_const(kind)));
  const auto add = [&](const std::string& name, const std::vector<CallEdge>& edges,
                       const std::vector<uint32_t>& start) {
    std::vector<uint32_t> function, line;
    std::vector<uint8_t> direct;
    std::vector<double> time, samples;
    for (const CallEdge& edge : edges) {
      function.push_back(edge.function);
      line.push_back(edge.line);
      direct.push_back(edge.direct ? 1 : 0);
      time.push_back(static_cast<double>(edge.time_ns));
      samples.push_back(static_cast<double>(edge.samples));
    }
    container.Add(name + "_start", std::span(start));
    container.Add(name + "_function", std::span(std::as_const(function)));
    container.Add(name + "_line", std::span(std::as_const(line)));
    container.Add(name + "_direct", std::span(std::as_const(direct)));
    container.Add(name + "_time", std::span(std::as_const(time)));
    container.Add(name + "_samples", std::span(std::as_const(samples)));
  };
  add("caller", calls.callers, calls.caller_start);
  add("callee", calls.callees, calls.callee_start);
  return container.Build();
}

std::string SourcesContainer(const ReportModel& model, const std::vector<uint32_t>& files) {
  StringColumn texts;
  TokenColumns tokens;
  std::vector<uint32_t> line;
  GroupStarts line_start;
  MetricColumn metrics;
  ExpressionColumns expressions;
  StatementColumns statements;
  LinkColumns links;
  DefinitionColumns definitions;
  for (const uint32_t id : files) {
    const ReportFile& file = model.files[id];
    texts.Push(file.source->text.text);
    tokens.Push(*file.source);
    for (const ReportLine& measured : file.lines) {
      line.push_back(measured.line);
      metrics.Push(measured.metrics);
      expressions.Push(measured.expressions);
    }
    line_start.EndGroup(line.size());
    statements.Push(*file.source);
    links.Push(*file.source);
    definitions.Push(*file.source, FunctionRows(model, id));
  }
  ContainerBuilder container;
  container.Add("file", std::span(files));
  texts.AddTo(container, "text");
  tokens.AddTo(container);
  container.Add("line", std::span(std::as_const(line)));
  line_start.AddTo(container, "line_start");
  metrics.AddTo(container);
  expressions.AddTo(container);
  statements.AddTo(container);
  links.AddTo(container);
  definitions.AddTo(container);
  if (model.comparison) AddLineChanges(*model.comparison, files, container);
  return container.Build();
}

ReportChunks BuildChunks(const ReportModel& model, unsigned threads) {
  ReportChunks chunks;
  // What makes each chunk, by its number.
  std::vector<std::function<std::string()>> makers;
  const auto add = [&](std::function<std::string()> make) {
    makers.push_back(std::move(make));
    return static_cast<uint32_t>(makers.size() - 1);
  };
  if (!model.functions.empty()) chunks.functions = add([&] { return FunctionsContainer(model); });
  chunks.files.resize(model.files.size());
  for (std::vector<uint32_t>& group : GroupSources(model)) {
    const auto number = static_cast<uint32_t>(makers.size());
    for (const uint32_t file : group) chunks.files[file] = number;
    add([&model, group = std::move(group)] { return SourcesContainer(model, group); });
  }
  const CallTree& calls = model.calls;
  const RoundedTimes times(calls);
  if (!calls.cells.empty()) chunks.calls = add([&] { return CallTreeContainer(calls); });
  for (const auto& part : CellParts(calls))
    chunks.samples.push_back(add([&, part] { return CellsContainer(calls, times, part); }));
  if (!model.functions.empty())
    chunks.callers = add([&] { return CallersContainer(model.callers); });

  chunks.text.resize(makers.size());
  ParallelFor(makers.size(), threads,
              [&](size_t number) { chunks.text[number] = Base91(Gzip(makers[number]())); });
  return chunks;
}

}  // namespace linescope
