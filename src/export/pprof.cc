#include <array>
#include <unordered_map>

#include "export/export.h"
#include "export/places.h"
#include "report/encoding.h"

namespace linescope {
namespace {

// Field numbers of pprof's profile.proto.
enum ProfileField { kSampleType = 1, kSample = 2, kLocation = 4, kFunction = 5, kStringTable = 6 };
enum ProfileFact {
  kTimeNanos = 9,
  kDurationNanos = 10,
  kPeriodType = 11,
  kPeriod = 12,
  kComment = 13,
  kDefaultSampleType = 14
};

// One protocol buffer message.
class Message {
 public:
  void Varint(int field, uint64_t value) {
    if (value == 0) return;  // the default, which is not written
    Raw(static_cast<uint64_t>(field) << 3);
    Raw(value);
  }
  void Bytes(int field, std::string_view bytes) {
    Raw(static_cast<uint64_t>(field) << 3 | 2);
    Raw(bytes.size());
    out_ += bytes;
  }
  template <class Numbers>
  void Packed(int field, const Numbers& numbers) {
    Message packed;
    for (const uint64_t number : numbers) packed.Raw(number);
    Bytes(field, packed.out_);
  }
  [[nodiscard]] const std::string& text() const { return out_; }

 private:
  void Raw(uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(value | 0x80);
    out_ += static_cast<char>(value);
  }
  std::string out_;
};

class StringTable {
 public:
  StringTable() { Of(""); }
  uint64_t Of(const std::string& text) {
    const auto [at, fresh] = known_.try_emplace(ValidText(text), strings_.size());
    if (fresh) strings_.push_back(at->first);
    return at->second;
  }
  void AddTo(Message& profile) const {
    for (const std::string& text : strings_) profile.Bytes(kStringTable, text);
  }

 private:
  std::unordered_map<std::string, uint64_t> known_;
  std::vector<std::string> strings_;
};

std::string ValueType(StringTable& strings, const char* type, const char* unit) {
  Message message;
  message.Varint(1, strings.Of(type));
  message.Varint(2, strings.Of(unit));
  return message.text();
}

std::string TextLabel(StringTable& strings, const char* key, const std::string& value) {
  Message label;
  label.Varint(1, strings.Of(key));
  label.Varint(2, strings.Of(value));
  return label.text();
}

std::string NumberLabel(StringTable& strings, const char* key, int value) {
  Message label;
  label.Varint(1, strings.Of(key));
  label.Varint(3, static_cast<uint64_t>(value));
  return label.text();
}

const char* TimeType(Weight weight) {
  switch (weight) {
    case Weight::kWall:
    case Weight::kActive:
      return "wall";
    case Weight::kCpu:
      return "cpu";
    case Weight::kGil:
      return "gil";
  }
  return "";
}

// Ids count from 1; a location is a place, a function is that of the profile.
void WriteLocations(const Profile& profile, const Places& places, StringTable& strings,
                    Message& out) {
  for (uint32_t place = 0; place < places.places.size(); ++place) {
    const bool none = place == places.no_python;
    Message line;
    line.Varint(1, none ? profile.functions.size() + 1 : places.places[place].function + 1);
    line.Varint(2, static_cast<uint64_t>(places.places[place].line));
    Message location;
    location.Varint(1, place + 1);
    location.Bytes(4, line.text());
    out.Bytes(kLocation, location.text());
  }
  const auto write_function = [&](uint64_t id, const std::string& name, const std::string& file,
                                  int32_t first_line) {
    Message function;
    function.Varint(1, id);
    function.Varint(2, strings.Of(name));
    function.Varint(3, strings.Of(name));
    function.Varint(4, strings.Of(file));
    function.Varint(5, static_cast<uint64_t>(std::max(first_line, 0)));
    out.Bytes(kFunction, function.text());
  };
  for (FunctionId id = 0; id < profile.functions.size(); ++id) {
    const FunctionInfo& function = profile.functions[id];
    write_function(uint64_t{id} + 1, DisplayName(function), function.file, function.first_line);
  }
  if (places.no_python != UINT32_MAX)
    write_function(profile.functions.size() + 1, std::string(kNoPython), "", 0);
}

void WriteSamples(const ProfileReader& reader, const Profile& profile, const Places& places,
                  StringTable& strings, Message& out) {
  for (const StackCost& stack : profile.stack_costs) {
    const int64_t time = profile.Time(stack.cost);
    if (stack.cost.samples == 0 && time == 0) continue;
    const std::vector<uint32_t> path = places.Path(profile.stacks, stack.stack);
    std::vector<uint64_t> leaf_first;
    for (size_t i = path.size(); i-- > 0;) leaf_first.push_back(path[i] + 1);
    const ThreadRecord& thread = reader.threads()[stack.thread];
    Message sample;
    sample.Packed(1, leaf_first);
    sample.Packed(2, std::array{stack.cost.samples, static_cast<uint64_t>(time)});
    sample.Bytes(3, TextLabel(strings, "thread", thread.name));
    sample.Bytes(3, NumberLabel(strings, "thread_id", thread.tid));
    sample.Bytes(3, NumberLabel(strings, "pid", reader.processes()[thread.process].pid));
    sample.Bytes(3, TextLabel(strings, "state", ThreadStateName(stack.state)));
    out.Bytes(kSample, sample.text());
  }
}

}  // namespace

std::string PprofGzip(const ProfileReader& reader, const Profile& profile) {
  const RunInfo& run = reader.run();
  const Places places = CollectPlaces(profile);
  const char* time_type = TimeType(profile.weight);
  StringTable strings;
  Message out;
  out.Bytes(kSampleType, ValueType(strings, "samples", "count"));
  out.Bytes(kSampleType, ValueType(strings, time_type, "nanoseconds"));
  WriteSamples(reader, profile, places, strings, out);
  WriteLocations(profile, places, strings, out);
  out.Varint(kTimeNanos, static_cast<uint64_t>(std::max<int64_t>(run.started_unix_ns, 0)));
  out.Varint(kDurationNanos, static_cast<uint64_t>(std::max<int64_t>(reader.end().elapsed_ns, 0)));
  out.Bytes(kPeriodType, ValueType(strings, time_type, "nanoseconds"));
  if (run.rate_hz > 0) out.Varint(kPeriod, static_cast<uint64_t>(1e9 / run.rate_hz));
  out.Packed(kComment, std::array{strings.Of(Creator(run)), strings.Of(RunTitle(run))});
  out.Varint(kDefaultSampleType, strings.Of(time_type));
  strings.AddTo(out);
  return Gzip(out.text());
}

}  // namespace linescope
