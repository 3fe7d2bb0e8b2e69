#include "sampler/batch.h"

#include <sys/eventfd.h>

#include <utility>

namespace linescope {

BatchQueue::BatchQueue() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

bool BatchQueue::HasRoom() const {
  const std::lock_guard lock(mutex_);
  return pending_.size() < kMaxPending;
}

void BatchQueue::Push(Batch batch) {
  {
    const std::lock_guard lock(mutex_);
    pending_.push_back(std::move(batch));
  }
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event_.get(), &one, sizeof one);
}

std::vector<Batch> BatchQueue::TakeAll() {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t read = ::read(event_.get(), &count, sizeof count);
  const std::lock_guard lock(mutex_);
  return std::exchange(pending_, {});
}

}  // namespace linescope
