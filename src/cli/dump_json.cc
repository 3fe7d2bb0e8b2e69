#include "cli/dump_text.h"
#include "cli/version.h"
#include "report/json_writer.h"

namespace linescope {
namespace {

constexpr int kFormat = 1;

const char* KindName(Variable::Kind kind) {
  switch (kind) {
    case Variable::Kind::kLocal:
      return "local";
    case Variable::Kind::kCell:
      return "cell";
    case Variable::Kind::kFree:
      return "free";
    case Variable::Kind::kNamespace:
      break;
  }
  return "namespace";
}

const char* StackName(DumpThread::Stack stack) {
  switch (stack) {
    case DumpThread::Stack::kExact:
      return "exact";
    case DumpThread::Stack::kRunning:
      return "running";
    case DumpThread::Stack::kUnknown:
      break;
  }
  return "unknown";
}

std::optional<std::string> Known(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

void WriteFrame(const DumpFrame& frame, DumpSources& sources, JsonWriter& json) {
  const DumpSourceLine source = sources.LineOf(frame);
  json.BeginObject().Field("kind", frame.native ? "native" : "python");
  json.Field("function", frame.function).Field("name", frame.name);
  json.Field("file", frame.file).Field("line", frame.line).Field("first_line", frame.first_line);
  json.Field("source", source.text).Field("source_note", Known(source.note));
  json.Key("locals");
  if (frame.locals) {
    json.BeginArray();
    for (const Variable& variable : frame.locals->variables) {
      json.BeginObject().Field("name", variable.name).Field("kind", KindName(variable.kind));
      json.Field("type", Known(variable.value.type)).Field("value", variable.value.text);
      json.Field("cut", variable.value.cut).EndObject();
    }
    json.EndArray().Field("locals_left_out", frame.locals->left_out);
  } else {
    json.Null().Key("locals_left_out").Null();
  }
  json.EndObject();
}

}  // namespace

std::string DumpJson(const ProcessDump& dump, DumpSources& sources) {
  JsonWriter json;
  json.BeginObject().Field("format", kFormat).Field("linescope", kVersion);
  json.Field("pid", dump.pid).List("namespace_pids", dump.namespace_pids);
  json.List("command", dump.command);
  json.Field("executable", Known(dump.executable));
  json.Field("working_directory", Known(dump.working_directory));
  json.Field("python", dump.python_version).Field("python_file", dump.python_file);
  json.Field("started_unix_ns", dump.started_unix_ns);
  json.Field("taken_unix_ns", dump.taken_unix_ns).Field("stopped_ns", dump.stopped_ns);
  json.Field("other_threads", dump.other_threads).List("warnings", dump.warnings);
  json.Key("threads").BeginArray();
  for (const DumpThread& thread : dump.threads) {
    json.BeginObject().Field("id", thread.tid).Field("ident", thread.ident);
    json.Field("name", Known(thread.name)).Field("main", thread.is_main);
    json.Field("interpreter", thread.interpreter).Field("state", StateName(thread.state));
    json.Field("holds_gil", thread.holds_gil).Field("stack", StackName(thread.stack));
    json.Field("native_note", Known(thread.native_note));
    json.Key("frames").BeginArray();
    for (const DumpFrame& frame : thread.frames) WriteFrame(frame, sources, json);
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  return std::move(json).Take() + "\n";
}

}  // namespace linescope
