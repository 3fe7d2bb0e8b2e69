#pragma once
// What an interpreter's own words say of its GIL and its garbage collector, to be read in one go
// with the stacks of its threads.
#include <cstdint>
#include <optional>
#include <vector>

#include "process/remote_memory.h"
#include "python/layout.h"
#include "python/thread_list.h"

namespace linescope {

// Belongs to one interpreter of the target.
class InterpreterWords {
 public:
  struct Wanted {
    bool gil = false;  // who holds the GIL; not needed where the threads' own words tell
    bool gc = false;   // whether the garbage collector is at work
  };
  // Reads where the GIL is, once.
  InterpreterWords(RemoteMemory* memory, const layout::Table* table, Address runtime,
                   Address interpreter);

  [[nodiscard]] Address interpreter() const { return interpreter_; }
  // Whether the words of a table's threads tell who holds the GIL.
  static bool ThreadsTell(const layout::Table& table) {
    return table.thread.status != layout::kNone;
  }

  // Appends what is to be read.
  void Plan(const Wanted& wanted, std::vector<RemoteRange>* ranges);
  // Number of bytes that the last Plan asked for.
  [[nodiscard]] size_t planned_bytes() const { return planned_bytes_; }
  // Takes in the bytes of the planned ranges; nullptr: they could not be read.
  void Take(const std::byte* bytes);

  // The thread state that holds the GIL, 0 when none does. nullopt: not read, or there is no GIL.
  [[nodiscard]] std::optional<Address> gil_holder() const { return holder_; }
  [[nodiscard]] bool collecting() const { return collecting_; }
  // Whether `address` is of the lock and the conditions that make up the GIL: a thread that waits
  // there waits for the GIL.
  [[nodiscard]] bool IsOfGil(Address address) const;

 private:
  static constexpr uint32_t kHolderBytes = 16;  // the holder and `locked` behind it

  const layout::Table* table_;
  Address interpreter_;
  Address gil_ = 0;  // struct _gil_runtime_state; 0: there is none, or it is not known
  Address collecting_at_ = 0;
  Wanted planned_;
  size_t planned_bytes_ = 0;
  std::optional<Address> holder_;
  bool collecting_ = false;
};

}  // namespace linescope
