#include "export/places.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "export/export.h"
#include "profile/titles.h"
#include "source/text.h"

namespace linescope {
namespace {

// Rank of each stack in a walk that keeps every subtree together.
std::vector<uint32_t> PreorderRanks(const StackTree& tree) {
  // Subtree sizes, then each node's place among its siblings, in two passes over the ids.
  std::vector<uint32_t> size(tree.size(), 1);
  for (size_t id = tree.size(); id-- > 0;) {
    if (tree.parent[id] != kNoStack) size[tree.parent[id]] += size[id];
  }
  std::vector<uint32_t> rank(tree.size()), next(tree.size());
  uint32_t next_root = 0;
  for (size_t id = 0; id < tree.size(); ++id) {
    uint32_t& free = tree.parent[id] == kNoStack ? next_root : next[tree.parent[id]];
    rank[id] = free;
    next[id] = free + 1;
    free += size[id];
  }
  return rank;
}

}  // namespace

std::vector<uint32_t> Places::Path(const StackTree& tree, StackId stack) const {
  std::vector<uint32_t> path;
  if (stack == kNoStack) path.push_back(no_python);
  for (StackId id = stack; id != kNoStack; id = tree.parent[id]) path.push_back(of_stack[id]);
  std::ranges::reverse(path);
  return path;
}

Places CollectPlaces(const Profile& profile) {
  const StackTree& tree = profile.stacks;
  Places out;
  out.of_stack.reserve(tree.size());
  std::unordered_map<uint64_t, uint32_t> known;
  for (size_t id = 0; id < tree.size(); ++id) {
    const Place place{.function = tree.function[id], .line = std::max(tree.range[id].line, 0)};
    const uint64_t key = uint64_t{place.function} << 32 | static_cast<uint32_t>(place.line);
    const auto [at, fresh] = known.try_emplace(key, static_cast<uint32_t>(out.places.size()));
    if (fresh) out.places.push_back(place);
    out.of_stack.push_back(at->second);
  }
  if (profile.without_frames.samples > 0) {
    out.no_python = static_cast<uint32_t>(out.places.size());
    out.places.push_back({.function = UINT32_MAX});
  }
  return out;
}

std::string ValidText(std::string text) {
  MakeValidUtf8(text);
  return text;
}

std::string PlaceName(const Profile& profile, const Places& places, uint32_t place) {
  if (place == places.no_python) return std::string(kNoPython);
  const FunctionInfo& function = profile.functions[places.places[place].function];
  return ValidText(DisplayName(function));
}

std::string PlaceFile(const Profile& profile, const Places& places, uint32_t place) {
  if (place == places.no_python) return "";
  return ValidText(profile.functions[places.places[place].function].file);
}

std::string Creator(const RunInfo& run) {
  return run.linescope_version.empty() ? "LineScope" : "LineScope " + run.linescope_version;
}

std::string RunTitle(const RunInfo& run) { return ValidText(TitleOf(run)); }

const char* TimeName(Weight weight) {
  switch (weight) {
    case Weight::kWall:
      return "wall time";
    case Weight::kActive:
      return "wall time, idle threads left out";
    case Weight::kCpu:
      return "time on a CPU";
    case Weight::kGil:
      return "time holding the GIL";
  }
  return "";
}

Result<std::vector<std::vector<Slice>>> LayOutSlices(ProfileReader& reader,
                                                     const Profile& profile) {
  const std::vector<uint32_t> rank = PreorderRanks(profile.stacks);
  struct Row {
    int64_t bucket;
    uint32_t rank;  // threads without frames first
    StackId stack;
    int64_t time_ns;
  };
  std::vector<std::vector<Row>> rows(reader.threads().size());
  LS_CHECK_OK(reader.ForEachSample([&](const SampleRow& row) {
    const SampleCell& cell = row.cell;
    if (!Counts(profile.weight, cell.state)) return;
    const uint32_t order = cell.stack == kNoStack ? 0 : rank[cell.stack] + 1;
    ForEachBucket(row, [&](int64_t bucket, const Cost& cost) {
      if (const int64_t time = profile.Time(cost); time > 0)
        rows[cell.thread].push_back({bucket, order, cell.stack, time});
    });
  }));

  const int64_t width = reader.bucket_width_ns();
  std::vector<std::vector<Slice>> threads(rows.size());
  for (size_t thread = 0; thread < rows.size(); ++thread) {
    std::ranges::sort(rows[thread], {},
                      [](const Row& row) { return std::tuple(row.bucket, row.rank); });
    int64_t free_ns = 0;
    for (const Row& row : rows[thread]) {
      int64_t begin = 0;
      if (__builtin_mul_overflow(row.bucket, width, &begin)) begin = free_ns;
      begin = std::max(begin, free_ns);
      if (__builtin_add_overflow(begin, row.time_ns, &free_ns))
        return Fail(ErrorCode::kCorrupt, "the profile's times are larger than any run's");
      // One stack in several states is one slice.
      std::vector<Slice>& slices = threads[thread];
      if (!slices.empty() && slices.back().stack == row.stack &&
          slices.back().start_ns + slices.back().duration_ns == begin) {
        slices.back().duration_ns += row.time_ns;
      } else {
        slices.push_back({begin, row.time_ns, row.stack});
      }
    }
  }
  return threads;
}

std::vector<FrameEvent> FrameEvents(const StackTree& tree, const Places& places,
                                    const std::vector<Slice>& slices) {
  std::vector<FrameEvent> events;
  std::vector<uint32_t> open;
  int64_t end_ns = 0;
  const auto close_to = [&](size_t depth) {
    for (; open.size() > depth; open.pop_back()) events.push_back({false, end_ns, open.back()});
  };
  for (const Slice& slice : slices) {
    const std::vector<uint32_t> path = places.Path(tree, slice.stack);
    size_t common = 0;
    if (slice.start_ns == end_ns) {
      while (common < open.size() && common < path.size() && open[common] == path[common]) ++common;
    }
    close_to(common);
    for (; common < path.size(); ++common) {
      events.push_back({true, slice.start_ns, path[common]});
      open.push_back(path[common]);
    }
    end_ns = slice.start_ns + slice.duration_ns;
  }
  close_to(0);
  return events;
}

}  // namespace linescope
