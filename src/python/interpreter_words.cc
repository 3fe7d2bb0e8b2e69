#include "python/interpreter_words.h"

#include "python/target_words.h"

namespace linescope {
namespace {

// struct _gil_runtime_state (Include/internal/pycore_gil.h, 3.8 to 3.15): interval, holder, locked,
// a count, then two conditions and two locks of the C library: 208 bytes with those of x86-64, 224
// with those of aarch64.
constexpr Address kGilBytes = 224;
constexpr uint32_t kHolderInGil = 8;

}  // namespace

InterpreterWords::InterpreterWords(RemoteMemory* memory, const layout::Table* table,
                                   Address runtime, Address interpreter)
    : table_(table), interpreter_(interpreter) {
  if (table->runtime.gc_collecting != layout::kNone) {
    collecting_at_ = runtime + table->runtime.gc_collecting;
  } else if (table->interpreter.gc_collecting != layout::kNone) {
    collecting_at_ = interpreter + table->interpreter.gc_collecting;
  }
  if (table->free_threaded) return;
  if (table->runtime.gil_holder != layout::kNone) {
    gil_ = runtime + table->runtime.gil_holder - kHolderInGil;
  } else if (!memory->ReadValue(interpreter + table->interpreter.gil, &gil_) ||
             !PlausiblePointer(gil_)) {
    gil_ = 0;
  }
}

void InterpreterWords::Plan(const Wanted& wanted, std::vector<RemoteRange>* ranges) {
  planned_ = {.gil = wanted.gil && gil_ != 0, .gc = wanted.gc && collecting_at_ != 0};
  planned_bytes_ = 0;
  auto add = [&](Address address, size_t size) {
    ranges->push_back({address, size});
    planned_bytes_ += size;
  };
  if (planned_.gil) add(gil_ + kHolderInGil, kHolderBytes);
  if (planned_.gc) add(collecting_at_, sizeof(int32_t));
}

void InterpreterWords::Take(const std::byte* bytes) {
  holder_.reset();
  collecting_ = false;
  if (bytes == nullptr) return;
  if (planned_.gil) {
    const bool locked = Load<int32_t>(bytes + sizeof(Address)) > 0;
    holder_ = locked ? Load<Address>(bytes) : 0;
    bytes += kHolderBytes;
  }
  if (planned_.gc) collecting_ = Load<int32_t>(bytes) != 0;
}

bool InterpreterWords::IsOfGil(Address address) const {
  return gil_ != 0 && address - gil_ < kGilBytes;
}

}  // namespace linescope
