#include <fmt/format.h>

#include "export/export.h"
#include "export/places.h"
#include "profile/titles.h"
#include "report/json_writer.h"

namespace linescope {
namespace {

// The format counts in microseconds.
constexpr double kMicrosecond = 1000;

void WriteName(const char* what, int pid, int tid, const std::string& name, JsonWriter& json) {
  json.BeginObject().Field("ph", "M").Field("name", what).Field("pid", pid).Field("tid", tid);
  json.Key("args").BeginObject().Field("name", name).EndObject().EndObject();
}

// Begin and end events rather than whole spans: those have a start and a duration, whose sum is
// rounded, and readers take a child that ends a nanosecond late for one that is not a child.
void WriteSpans(const Profile& profile, const Places& places, const std::vector<FrameEvent>& events,
                int pid, int tid, JsonWriter& json) {
  for (const FrameEvent& event : events) {
    json.BeginObject().Field("ph", event.open ? "B" : "E").Field("pid", pid).Field("tid", tid);
    json.Field("name", PlaceName(profile, places, event.place)).Field("cat", "python");
    json.Field("ts", static_cast<double>(event.at_ns) / kMicrosecond);
    if (event.place != places.no_python) {
      const int32_t line = places.places[event.place].line;
      json.Key("args").BeginObject().Field("file", PlaceFile(profile, places, event.place));
      json.Field("line", line > 0 ? std::optional(line) : std::nullopt).EndObject();
    }
    json.EndObject();
  }
}

}  // namespace

Result<std::string> ChromeTraceJson(ProfileReader& reader, const Profile& profile) {
  LS_TRY(slices, LayOutSlices(reader, profile));
  const Places places = CollectPlaces(profile);
  JsonWriter json;
  json.BeginObject().Field("displayTimeUnit", "ms");
  json.Key("otherData").BeginObject().Field("creator", Creator(reader.run()));
  json.Field("title", RunTitle(reader.run())).Field("time", TimeName(profile.weight)).EndObject();
  json.Key("traceEvents").BeginArray();
  for (const ProcessRecord& process : reader.processes())
    WriteName("process_name", process.pid, process.pid, ValidText(ProcessTitle(process)), json);
  for (ThreadId id = 0; id < slices.size(); ++id) {
    const ThreadRecord& thread = reader.threads()[id];
    const int pid = reader.processes()[thread.process].pid;
    WriteName("thread_name", pid, thread.tid, ValidText(thread.name), json);
    WriteSpans(profile, places, FrameEvents(profile.stacks, places, slices[id]), pid, thread.tid,
               json);
  }
  json.EndArray().EndObject();
  return std::move(json).Take() + "\n";
}

}  // namespace linescope
