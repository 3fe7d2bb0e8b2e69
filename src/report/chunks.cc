#include "report/chunks.h"

#include <span>
#include <unordered_map>
#include <utility>

#include "report/container.h"
#include "report/encoding.h"
#include "report/parallel.h"

namespace linescope {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
// Smaller chunks make the file larger, larger ones make opening a source slower.
constexpr size_t kChunkTextBytes = 64 << 10;

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

class TokenColumns {
 public:
  void Push(const ReportSource& source) {
    uint32_t line = 0;        // whose start is `line_start`
    uint32_t line_start = 0;  // UTF-16 units from the start of the text
    uint32_t line_units = 0;  // of that line, with its line end
    uint32_t end = 0;         // of the token before
    for (const Token& token : source.index.tokens) {
      while (line < token.line) {
        line_start += line_units;
        line_units = Utf16Length(source.text.Line(++line)) + 1;
      }
      const uint32_t begin = line_start + token.column;
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
  return container.Build();
}

std::string SourcesContainer(const ReportModel& model, const std::vector<uint32_t>& files) {
  StringColumn texts;
  TokenColumns tokens;
  std::vector<uint32_t> line;
  GroupStarts line_start;
  MetricColumn metrics;
  StatementColumns statements;
  DefinitionColumns definitions;
  for (const uint32_t id : files) {
    const ReportFile& file = model.files[id];
    texts.Push(file.source->text.text);
    tokens.Push(*file.source);
    for (const ReportLine& measured : file.lines) {
      line.push_back(measured.line);
      metrics.Push(measured.metrics);
    }
    line_start.EndGroup(line.size());
    statements.Push(*file.source);
    definitions.Push(*file.source, FunctionRows(model, id));
  }
  ContainerBuilder container;
  container.Add("file", std::span(files));
  texts.AddTo(container, "text");
  tokens.AddTo(container);
  container.Add("line", std::span(std::as_const(line)));
  line_start.AddTo(container, "line_start");
  metrics.AddTo(container);
  statements.AddTo(container);
  definitions.AddTo(container);
  return container.Build();
}

ReportChunks BuildChunks(const ReportModel& model, unsigned threads) {
  ReportChunks chunks;
  const std::vector<std::vector<uint32_t>> groups = GroupSources(model);
  const uint32_t before = model.functions.empty() ? 0 : 1;
  if (before > 0) chunks.functions = 0;
  chunks.files.resize(model.files.size());
  for (uint32_t group = 0; group < groups.size(); ++group) {
    for (const uint32_t file : groups[group]) chunks.files[file] = before + group;
  }
  chunks.base64.resize(before + groups.size());
  ParallelFor(chunks.base64.size(), threads, [&](size_t number) {
    const std::string container = number < before
                                      ? FunctionsContainer(model)
                                      : SourcesContainer(model, groups[number - before]);
    chunks.base64[number] = Base64(Gzip(container));
  });
  return chunks;
}

}  // namespace linescope
