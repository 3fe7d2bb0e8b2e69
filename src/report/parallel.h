#pragma once
// Work on the items of a vector by a few threads.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace linescope {

// Calls `work(i)` once for each i below `count`, from up to `threads` threads (0: as many as there
// are CPUs), in no fixed order. `work` must not throw.
template <class Work>
void ParallelFor(size_t count, unsigned threads, Work work) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  threads = static_cast<unsigned>(std::min<size_t>(threads, count));
  std::atomic<size_t> next = 0;
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  if (threads <= 1) return run();
  std::vector<std::jthread> pool;
  for (unsigned i = 0; i < threads; ++i) pool.emplace_back(run);
}

}  // namespace linescope
