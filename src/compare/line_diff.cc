#include "compare/line_diff.h"

#include <algorithm>
#include <unordered_map>

namespace linescope {
namespace {

using Lines = std::span<const uint32_t>;

// Points (x, y) of the edit graph: x lines of the base and y of the other text are behind.
class Myers {
 public:
  Myers(Lines base, Lines now, uint64_t effort) : base_(base), now_(now), effort_(effort) {
    furthest_.resize(base.size() + now.size() + 3);
    backmost_.resize(furthest_.size());
  }

  LinePairs Solve() && {
    SolveBox(0, Size(base_), 0, Size(now_));
    std::ranges::sort(pairs_);
    return std::move(pairs_);
  }

 private:
  static constexpr int64_t kNever = -1;
  struct Snake {
    int64_t x0, y0, x1, y1;
  };

  static int64_t Size(Lines lines) { return static_cast<int64_t>(lines.size()); }
  [[nodiscard]] bool Same(int64_t x, int64_t y) const {
    return base_[static_cast<size_t>(x)] == now_[static_cast<size_t>(y)];
  }
  void Match(int64_t x, int64_t y) {
    pairs_.emplace_back(static_cast<uint32_t>(x), static_cast<uint32_t>(y));
  }

  void SolveBox(int64_t x0, int64_t x1, int64_t y0, int64_t y1) {
    for (; x0 < x1 && y0 < y1 && Same(x0, y0); ++x0, ++y0) Match(x0, y0);
    for (; x0 < x1 && y0 < y1 && Same(x1 - 1, y1 - 1); --x1, --y1) Match(x1 - 1, y1 - 1);
    if (x0 == x1 || y0 == y1) return;
    const Snake snake = MiddleSnake(x0, x1, y0, y1);
    if (snake.x0 == kNever) {
      SolveAroundUnique(x0, x1, y0, y1);
      return;
    }
    for (int64_t x = snake.x0, y = snake.y0; x < snake.x1; ++x, ++y) Match(x, y);
    SolveBox(x0, snake.x0, y0, snake.y0);
    SolveBox(snake.x1, x1, snake.y1, y1);
  }

  // Where the best ways from both corners of a box meet. x0 is kNever when the effort is used up.
  Snake MiddleSnake(int64_t x0, int64_t x1, int64_t y0, int64_t y1) {
    const int64_t n = x1 - x0, m = y1 - y0, delta = n - m;
    const bool odd = delta % 2 != 0;
    const int64_t middle = m + 1;  // of the arrays: diagonal 0
    std::fill_n(furthest_.begin(), n + m + 3, kNever);
    std::fill_n(backmost_.begin(), n + m + 3, kNever);
    for (int64_t d = 0; d <= (n + m + 1) / 2; ++d) {
      const int64_t cost = 2 * d + 2;
      if (effort_ < static_cast<uint64_t>(cost)) return {kNever, 0, 0, 0};
      effort_ -= static_cast<uint64_t>(cost);
      // Diagonals that lie outside the box are left out, with the parity that d asks for.
      const int64_t low = d > m ? 2 * m - d : d;  // -k of the lowest
      const int64_t first = -low, last = d > n ? 2 * n - d : d;
      for (int64_t k = first; k <= last; k += 2) {
        int64_t x = Step(furthest_, middle + k, d, k, n, m);
        if (x == kNever) continue;
        const int64_t from = x;
        while (x < n && x - k < m && Same(x0 + x, y0 + x - k)) ++x;
        furthest_[static_cast<size_t>(middle + k)] = x;
        const int64_t back = delta - k;
        if (odd && back >= -(d - 1) && back <= d - 1 && InBox(back, n, m)) {
          const int64_t met = backmost_[static_cast<size_t>(middle + back)];
          if (met != kNever && x + met >= n) return {x0 + from, y0 + from - k, x0 + x, y0 + x - k};
        }
      }
      for (int64_t k = first; k <= last; k += 2) {
        int64_t x = Step(backmost_, middle + k, d, k, n, m);
        if (x == kNever) continue;
        const int64_t from = x;
        while (x < n && x - k < m && Same(x1 - 1 - x, y1 - 1 - (x - k))) ++x;
        backmost_[static_cast<size_t>(middle + k)] = x;
        const int64_t front = delta - k;
        if (!odd && front >= -d && front <= d && InBox(front, n, m)) {
          const int64_t met = furthest_[static_cast<size_t>(middle + front)];
          if (met != kNever && x + met >= n)
            return {x1 - x, y1 - (x - k), x1 - from, y1 - (from - k)};
        }
      }
    }
    return {kNever, 0, 0, 0};
  }

  static bool InBox(int64_t k, int64_t n, int64_t m) { return k >= -m && k <= n; }

  // How far diagonal k is reached with one more difference; kNever when that leaves the box.
  static int64_t Step(const std::vector<int64_t>& reached, int64_t at, int64_t d, int64_t k,
                      int64_t n, int64_t m) {
    if (d == 0) return 0;
    int64_t best = kNever;
    const int64_t left = reached[static_cast<size_t>(at - 1)];
    if (left != kNever && left < n) best = left + 1;
    const int64_t above = reached[static_cast<size_t>(at + 1)];
    if (above != kNever && above - k <= m) best = std::max(best, above);
    return best;
  }

  // Anchors: lines that occur once in each part of the box, in the longest order that both share.
  // What lies between them is matched where it begins and ends the same.
  void SolveAroundUnique(int64_t x0, int64_t x1, int64_t y0, int64_t y1) {
    struct Seen {
      int64_t in_base = 0, in_now = 0, x = 0, y = 0;
    };
    std::unordered_map<uint32_t, Seen> seen;
    for (int64_t x = x0; x < x1; ++x) {
      Seen& line = seen[base_[static_cast<size_t>(x)]];
      ++line.in_base;
      line.x = x;
    }
    for (int64_t y = y0; y < y1; ++y) {
      Seen& line = seen[now_[static_cast<size_t>(y)]];
      ++line.in_now;
      line.y = y;
    }
    std::vector<std::pair<int64_t, int64_t>> unique;
    for (const auto& [number, line] : seen) {
      if (line.in_base == 1 && line.in_now == 1) unique.emplace_back(line.x, line.y);
    }
    std::ranges::sort(unique);
    int64_t x = x0, y = y0;
    for (const auto& [ax, ay] : Increasing(unique)) {
      TrimBetween(x, ax, y, ay);
      Match(ax, ay);
      x = ax + 1;
      y = ay + 1;
    }
    TrimBetween(x, x1, y, y1);
  }

  void TrimBetween(int64_t x0, int64_t x1, int64_t y0, int64_t y1) {
    for (; x0 < x1 && y0 < y1 && Same(x0, y0); ++x0, ++y0) Match(x0, y0);
    for (; x0 < x1 && y0 < y1 && Same(x1 - 1, y1 - 1); --x1, --y1) Match(x1 - 1, y1 - 1);
  }

  // The longest part of points sorted by x whose y increase, too.
  static std::vector<std::pair<int64_t, int64_t>> Increasing(
      const std::vector<std::pair<int64_t, int64_t>>& points) {
    std::vector<size_t> ends, before(points.size());
    for (size_t i = 0; i < points.size(); ++i) {
      const auto at = std::ranges::lower_bound(ends, points[i].second, {},
                                               [&](size_t end) { return points[end].second; });
      before[i] = at == ends.begin() ? i : *(at - 1);
      if (at == ends.end()) {
        ends.push_back(i);
      } else {
        *at = i;
      }
    }
    std::vector<std::pair<int64_t, int64_t>> out;
    if (ends.empty()) return out;
    for (size_t i = ends.back();; i = before[i]) {
      out.push_back(points[i]);
      if (before[i] == i) break;
    }
    std::ranges::reverse(out);
    return out;
  }

  const Lines base_, now_;
  uint64_t effort_;
  std::vector<int64_t> furthest_, backmost_;
  LinePairs pairs_;
};

// Positions of the lines that occur in the other text, too: others can never be matched.
std::vector<uint32_t> Shared(Lines lines, Lines other) {
  std::vector<uint32_t> sorted(other.begin(), other.end());
  std::ranges::sort(sorted);
  std::vector<uint32_t> positions;
  for (uint32_t i = 0; i < lines.size(); ++i) {
    if (std::ranges::binary_search(sorted, lines[i])) positions.push_back(i);
  }
  return positions;
}

}  // namespace

LinePairs CommonLines(Lines base, Lines now, uint64_t effort) {
  const std::vector<uint32_t> base_at = Shared(base, now), now_at = Shared(now, base);
  std::vector<uint32_t> base_shared, now_shared;
  for (const uint32_t at : base_at) base_shared.push_back(base[at]);
  for (const uint32_t at : now_at) now_shared.push_back(now[at]);
  LinePairs pairs = Myers(base_shared, now_shared, effort).Solve();
  for (auto& [x, y] : pairs) {
    x = base_at[x];
    y = now_at[y];
  }
  return pairs;
}

std::vector<LineRun> MovedRuns(Lines base, Lines now, const std::vector<bool>& base_taken,
                               const std::vector<bool>& now_taken, const MoveOptions& options) {
  // A line that stands in very many places says nothing about where it came from.
  constexpr size_t kMostPlaces = 32;
  std::unordered_map<uint32_t, std::vector<uint32_t>> places;
  for (uint32_t i = 0; i < base.size(); ++i) {
    if (base_taken[i]) continue;
    auto& list = places[base[i]];
    if (list.size() <= kMostPlaces) list.push_back(i);
  }
  std::unordered_map<uint32_t, uint32_t> base_count, now_count;
  for (const uint32_t number : base) ++base_count[number];
  for (const uint32_t number : now) ++now_count[number];

  struct Candidate {
    LineRun run;
    uint64_t weight = 0;
  };
  const auto free = [](const std::vector<bool>& taken, size_t at) {
    return at < taken.size() && !taken[at];
  };
  const auto measure = [&](LineRun run) {
    Candidate candidate{run, 0};
    bool once = false;
    for (uint32_t i = 0; i < run.length; ++i) {
      const uint32_t number = now[run.now + i];
      candidate.weight += options.weight[number];
      once |= options.weight[number] >= options.once && base_count[number] == 1 &&
              now_count[number] == 1;
    }
    if (candidate.weight < options.least && !once) candidate.run.length = 0;
    return candidate;
  };
  std::vector<Candidate> candidates;
  for (uint32_t i = 0; i < now.size(); ++i) {
    if (now_taken[i] || options.weight[now[i]] == 0) continue;
    const auto found = places.find(now[i]);
    if (found == places.end() || found->second.size() > kMostPlaces) continue;
    for (const uint32_t at : found->second) {
      // Only where a run begins. A blank line before it is no beginning of its own.
      LineRun run{at, i, 1};
      if (at > 0 && i > 0 && free(base_taken, at - 1) && free(now_taken, i - 1) &&
          base[at - 1] == now[i - 1] && options.weight[now[i - 1]] > 0)
        continue;
      while (free(base_taken, at + run.length) && free(now_taken, i + run.length) &&
             base[at + run.length] == now[i + run.length])
        ++run.length;
      const Candidate candidate = measure(run);
      if (candidate.run.length > 0) candidates.push_back(candidate);
    }
  }
  std::ranges::stable_sort(candidates, std::greater(), &Candidate::weight);

  std::vector<bool> base_used = base_taken, now_used = now_taken;
  std::vector<LineRun> runs;
  for (const Candidate& candidate : candidates) {
    // What weightier runs have left of it.
    LineRun part{candidate.run.base, candidate.run.now, 0};
    for (uint32_t i = 0; i <= candidate.run.length; ++i) {
      const uint32_t x = candidate.run.base + i, y = candidate.run.now + i;
      if (i < candidate.run.length && !base_used[x] && !now_used[y]) {
        if (part.length++ == 0) {
          part.base = x;
          part.now = y;
        }
        continue;
      }
      if (part.length > 0 && measure(part).run.length > 0) {
        runs.push_back(part);
        for (uint32_t j = 0; j < part.length; ++j)
          base_used[part.base + j] = now_used[part.now + j] = true;
      }
      part.length = 0;
    }
  }
  return runs;
}

}  // namespace linescope
