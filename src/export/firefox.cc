#include <fmt/format.h>

#include <unordered_map>

#include "export/export.h"
#include "export/places.h"
#include "profile/titles.h"
#include "report/json_writer.h"

namespace linescope {
namespace {

// The versions written; the profiler upgrades older ones. 61 is the first whose tables of sources
// and frames are shared by all threads in the form used here.
constexpr int kGeckoVersion = 31;
constexpr int kProcessedVersion = 61;
constexpr double kMillisecond = 1e6;

class StringTable {
 public:
  uint32_t Of(const std::string& text) {
    const auto [at, fresh] = known_.try_emplace(text, static_cast<uint32_t>(strings_.size()));
    if (fresh) strings_.push_back(text);
    return at->second;
  }
  [[nodiscard]] const std::vector<std::string>& strings() const { return strings_; }

 private:
  std::unordered_map<std::string, uint32_t> known_;
  std::vector<std::string> strings_;
};

// Positions in the list of categories below.
enum Category : uint8_t { kOther, kProject, kLibrary, kNative };

void WriteCategory(const char* name, const char* colour, JsonWriter& json) {
  json.BeginObject().Field("name", name).Field("color", colour);
  json.List("subcategories", std::vector<std::string>{"Other"}).EndObject();
}

class ProfileWriter {
 public:
  ProfileWriter(ProfileReader& reader, const Profile& profile,
                std::vector<std::vector<Slice>> slices)
      : reader_(reader),
        profile_(profile),
        slices_(std::move(slices)),
        places_(CollectPlaces(profile)) {}

  std::string Write() && {
    json_.BeginObject();
    WriteMeta();
    json_.Key("libs").BeginArray().EndArray();
    json_.Key("pages").BeginArray().EndArray();
    json_.Key("threads").BeginArray();
    for (ThreadId id = 0; id < slices_.size(); ++id) WriteThread(id);
    json_.EndArray();
    json_.Key("shared").BeginObject();
    WriteStacks();
    WriteFrames();
    WriteFunctions();
    for (const char* table : {"resourceTable", "nativeSymbols"}) WriteEmptyTable(table);
    WriteSources();
    json_.List("stringArray", strings_.strings()).EndObject().EndObject();
    return std::move(json_).Take() + "\n";
  }

 private:
  void WriteMeta() {
    const RunInfo& run = reader_.run();
    json_.Key("meta").BeginObject();
    json_.Field("importedFrom", Creator(run)).Field("product", RunTitle(run));
    json_.Field("version", kGeckoVersion).Field("preprocessedProfileVersion", kProcessedVersion);
    json_.Field("interval", run.rate_hz > 0 ? 1000 / run.rate_hz : 1.0);
    json_.Field("startTime", static_cast<double>(run.started_unix_ns) / kMillisecond);
    json_.Field("processType", 0).Field("stackwalk", 0).Field("debug", false);
    json_.Field("platform", "Linux").Field("oscpu", "Linux").Field("toolkit", "");
    json_.Field("symbolicated", true).Field("symbolicationNotSupported", true);
    json_.Field("usesOnlyOneStackType", true).Field("sourceCodeIsNotOnSearchfox", true);
    json_.Key("markerSchema").BeginArray().EndArray();
    json_.Key("categories").BeginArray();
    WriteCategory("Other", "grey", json_);
    WriteCategory("Project", "orange", json_);
    WriteCategory("Library", "blue", json_);
    WriteCategory("Native", "purple", json_);
    json_.EndArray();
    json_.Key("sampleUnits").BeginObject().Field("time", "ms").Field("eventDelay", "ms");
    json_.Field("threadCPUDelta", "ns").EndObject().EndObject();
  }

  // Stacks are those of the profile, with one more for threads in no Python code.
  [[nodiscard]] uint32_t StackIndex(StackId stack) const {
    return stack == kNoStack ? static_cast<uint32_t>(profile_.stacks.size()) : stack;
  }

  void WriteThread(ThreadId id) {
    const ThreadRecord& thread = reader_.threads()[id];
    const ProcessRecord& process = reader_.processes()[thread.process];
    const auto ms = [](std::optional<int64_t> ns) {
      return ns ? std::optional(static_cast<double>(*ns) / kMillisecond) : std::nullopt;
    };
    json_.BeginObject().Field("processType", "default");
    json_.Field("processStartupTime", ms(process.start_ns));
    json_.Field("processShutdownTime", ms(process.end_ns));
    json_.Field("registerTime", ms(thread.start_ns)).Field("unregisterTime", ms(thread.end_ns));
    json_.Key("pausedRanges").BeginArray().EndArray();
    // The profiler takes a process by the name of its main thread.
    json_.Field("name", ValidText(thread.name)).Field("isMainThread", thread.is_main);
    json_.Field("processName", ValidText(ProcessTitle(process)));
    // A pid that was used twice, as by exec, is two processes.
    json_.Field("pid", fmt::format("{}.{}", process.pid, thread.process)).Field("tid", thread.tid);
    json_.Key("samples").BeginObject();
    const std::vector<Slice>& slices = slices_[id];
    json_.Column("stack", slices, [this](const Slice& slice) { return StackIndex(slice.stack); });
    json_.Column("time", slices, [&](const Slice& slice) { return *ms(slice.start_ns); });
    json_.Column("weight", slices, [&](const Slice& slice) { return *ms(slice.duration_ns); });
    json_.Field("weightType", "tracing-ms").Field("length", uint64_t{slices.size()}).EndObject();
    json_.Key("markers").BeginObject();
    for (const char* column : {"data", "name", "startTime", "endTime", "phase", "category"})
      json_.Key(column).BeginArray().EndArray();
    json_.Field("length", 0).EndObject().EndObject();
  }

  void WriteStacks() {
    const StackTree& tree = profile_.stacks;
    const bool none = places_.no_python != UINT32_MAX;
    json_.Key("stackTable").BeginObject().Key("frame").BeginArray();
    for (const uint32_t place : places_.of_stack) json_.Uint(place);
    if (none) json_.Uint(places_.no_python);
    json_.EndArray().Key("prefix").BeginArray();
    for (const StackId parent : tree.parent)
      json_.Value(parent == kNoStack ? std::nullopt : std::optional(parent));
    if (none) json_.Null();
    json_.EndArray().Field("length", uint64_t{tree.size()} + (none ? 1 : 0)).EndObject();
  }

  [[nodiscard]] Category CategoryOf(uint32_t place) const {
    if (place == places_.no_python) return kOther;
    const FunctionInfo& function = profile_.functions[places_.places[place].function];
    if (function.in_project) return kProject;
    return function.kind == FunctionKind::kNative ? kNative : kLibrary;
  }

  // A column that holds the same in every row.
  template <class T>
  void WriteConstant(const char* name, size_t rows, const T& value) {
    json_.Key(name).BeginArray();
    for (size_t i = 0; i < rows; ++i) json_.Value(value);
    json_.EndArray();
  }

  // A function of the profile is a function here; the one after them is kNoPython.
  void WriteFrames() {
    const size_t rows = places_.places.size();
    const std::optional<int> null;
    json_.Key("frameTable").BeginObject();
    WriteConstant("address", rows, -1);
    WriteConstant("inlineDepth", rows, 0);
    json_.Key("category").BeginArray();
    for (uint32_t place = 0; place < rows; ++place) json_.Uint(CategoryOf(place));
    json_.EndArray();
    WriteConstant("subcategory", rows, 0);
    json_.Column("func", places_.places, [this](const Place& place) {
      return std::min<uint32_t>(place.function, static_cast<uint32_t>(profile_.functions.size()));
    });
    WriteConstant("nativeSymbol", rows, null);
    WriteConstant("innerWindowID", rows, 0);
    json_.Column("line", places_.places, [](const Place& place) {
      return place.line > 0 ? std::optional(place.line) : std::nullopt;
    });
    WriteConstant("column", rows, null);
    json_.Field("length", uint64_t{rows}).EndObject();
  }

  void WriteFunctions() {
    const auto& functions = profile_.functions;
    const size_t rows = functions.size() + (places_.no_python != UINT32_MAX ? 1 : 0);
    const std::optional<int> null;
    json_.Key("funcTable").BeginObject().Key("name").BeginArray();
    for (const FunctionInfo& function : functions) {
      json_.Uint(strings_.Of(ValidText(DisplayName(function))));
    }
    if (rows > functions.size()) json_.Uint(strings_.Of(std::string(kNoPython)));
    json_.EndArray();
    WriteConstant("isJS", rows, false);
    WriteConstant("relevantForJS", rows, false);
    WriteConstant("resource", rows, -1);
    json_.Key("source").BeginArray();
    for (const FunctionInfo& function : functions) json_.Uint(SourceOf(function.file));
    if (rows > functions.size()) json_.Null();
    json_.EndArray().Key("lineNumber").BeginArray();
    for (const FunctionInfo& function : functions) {
      json_.Value(function.first_line > 0 ? std::optional(function.first_line) : std::nullopt);
    }
    if (rows > functions.size()) json_.Null();
    json_.EndArray();
    WriteConstant("columnNumber", rows, null);
    json_.Field("length", uint64_t{rows}).EndObject();
  }

  uint32_t SourceOf(const std::string& file) {
    const auto [at, fresh] = sources_.try_emplace(file, static_cast<uint32_t>(filenames_.size()));
    if (fresh) filenames_.push_back(strings_.Of(ValidText(file)));
    return at->second;
  }

  void WriteSources() {
    const std::optional<int> null;
    json_.Key("sources").BeginObject();
    WriteConstant("id", filenames_.size(), null);
    json_.List("filename", filenames_);
    WriteConstant("startLine", filenames_.size(), 1);
    WriteConstant("startColumn", filenames_.size(), 1);
    WriteConstant("sourceMapURL", filenames_.size(), null);
    json_.Field("length", uint64_t{filenames_.size()}).EndObject();
  }

  void WriteEmptyTable(const char* name) {
    json_.Key(name).BeginObject().Field("length", 0);
    for (const char* column :
         {"lib", "name", "host", "type", "libIndex", "address", "functionSize"})
      json_.Key(column).BeginArray().EndArray();
    json_.EndObject();
  }

  ProfileReader& reader_;
  const Profile& profile_;
  const std::vector<std::vector<Slice>> slices_;
  const Places places_;
  StringTable strings_;
  std::unordered_map<std::string, uint32_t> sources_;
  std::vector<uint32_t> filenames_;  // by source: position in strings_
  JsonWriter json_;
};

}  // namespace

Result<std::string> FirefoxJson(ProfileReader& reader, const Profile& profile) {
  LS_TRY(slices, LayOutSlices(reader, profile));
  return ProfileWriter(reader, profile, std::move(slices)).Write();
}

}  // namespace linescope
