#include <fmt/format.h>

#include "export/export.h"
#include "export/places.h"
#include "profile/titles.h"
#include "report/json_writer.h"

namespace linescope {
namespace {

void WriteFrames(const Profile& profile, const Places& places, JsonWriter& json) {
  json.Key("shared").BeginObject().Key("frames").BeginArray();
  for (uint32_t place = 0; place < places.places.size(); ++place) {
    json.BeginObject().Field("name", PlaceName(profile, places, place));
    if (place != places.no_python) {
      json.Field("file", PlaceFile(profile, places, place));
      if (places.places[place].line > 0) json.Field("line", places.places[place].line);
    }
    json.EndObject();
  }
  json.EndArray().EndObject();
}

}  // namespace

Result<std::string> SpeedscopeJson(ProfileReader& reader, const Profile& profile) {
  LS_TRY(slices, LayOutSlices(reader, profile));
  const Places places = CollectPlaces(profile);
  JsonWriter json;
  json.BeginObject();
  json.Field("$schema", "https://www.speedscope.app/file-format-schema.json");
  json.Field("exporter", Creator(reader.run())).Field("name", RunTitle(reader.run()));
  WriteFrames(profile, places, json);
  json.Key("profiles").BeginArray();
  for (ThreadId id = 0; id < slices.size(); ++id) {
    if (slices[id].empty()) continue;
    json.BeginObject().Field("type", "evented");
    json.Field("name", ValidText(ThreadTitle(reader, id))).Field("unit", "nanoseconds");
    json.Field("startValue", 0);
    json.Field("endValue", slices[id].back().start_ns + slices[id].back().duration_ns);
    json.Key("events").BeginArray();
    for (const FrameEvent& event : FrameEvents(profile.stacks, places, slices[id])) {
      json.BeginObject().Field("type", event.open ? "O" : "C").Field("frame", event.place);
      json.Field("at", event.at_ns).EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  return std::move(json).Take() + "\n";
}

}  // namespace linescope
