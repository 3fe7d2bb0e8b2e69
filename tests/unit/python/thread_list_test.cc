#include "python/thread_list.h"

#include <gmock/gmock.h>

#include <functional>
#include <map>

#include "python/runtime.h"
#include "unit/python/fake_python.h"

namespace linescope {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

class ThreadListTest : public ::testing::TestWithParam<const layout::Table*> {
 protected:
  Address Interpreter(int64_t id) {
    const layout::Interpreter& at = GetParam()->interpreter;
    const Address address =
        python_.Allocate(std::max({at.id, at.next, at.threads_head, at.modules, at.sysdict}) + 512);
    python_.memory().Put(address + at.id, id);
    python_.memory().Put(address + at.modules, Address{0xabc0});
    return address;
  }
  static Address Pthread(int native_id) { return (Address{0x4000} + native_id) << 16; }
  [[nodiscard]] PythonThread Expected(Address thread, Address interpreter, int native_id) const {
    return {.tstate = thread,
            .interpreter = interpreter,
            .pthread_id = Pthread(native_id),
            .native_id = native_id,
            .identity = static_cast<uint64_t>(native_id)};
  }
  Address Thread(Address interpreter, int native_id) {
    const layout::Thread& at = GetParam()->thread;
    const Address address = python_.Allocate(512);
    python_.memory().Put(address + at.interpreter, interpreter);
    python_.memory().Put(address + at.identity, uint64_t(native_id));
    python_.memory().Put(address + at.pthread_id, Pthread(native_id));
    if (at.native_id == layout::kNone) {
      python_.memory().Zero(Pthread(native_id), 1024);
      python_.memory().Put(Pthread(native_id) + at.tid_in_pthread, native_id);
    }
    return address;
  }
  void Link(Address interpreter, std::initializer_list<Address> threads) {
    Address at = interpreter + GetParam()->interpreter.threads_head;
    for (const Address thread : threads) {
      python_.memory().Put(at, thread);
      at = thread + GetParam()->thread.next;
    }
  }
  void SetHead(Address interpreter) {
    python_.memory().Put(runtime_ + GetParam()->runtime.interpreters_head, interpreter);
  }
  bool Read() { return ReadThreadList(&python_.memory(), *GetParam(), runtime_, &list_); }
  std::vector<int> NativeIds() {
    std::vector<int> ids;
    for (const PythonThread& thread : list_.threads) ids.push_back(thread.native_id);
    return ids;
  }
  RuntimeState Probe() { return ProbeRuntime(&python_.memory(), *GetParam(), runtime_); }

  static constexpr size_t kRuntimeBytes = 2048;
  FakePython python_{GetParam()};
  Address runtime_ = python_.Allocate(kRuntimeBytes);
  ThreadList list_;
};

TEST_P(ThreadListTest, ReadsAllInterpretersAndThreads) {
  const Address first = Interpreter(0), second = Interpreter(1);
  const Address a = Thread(first, 11), b = Thread(first, 12), c = Thread(second, 13);
  SetHead(first);
  python_.memory().Put(first + GetParam()->interpreter.next, second);
  Link(first, {a, b});
  Link(second, {c});
  ASSERT_TRUE(Read());
  EXPECT_THAT(list_.interpreters,
              ElementsAre(Field(&PythonInterpreter::id, 0), Field(&PythonInterpreter::id, 1)));
  EXPECT_EQ(list_.interpreters[0].modules, 0xabc0u);
  EXPECT_THAT(list_.threads,
              ElementsAre(Expected(a, first, 11), Expected(b, first, 12), Expected(c, second, 13)));
  // Before 3.13 it is ready when its `sys` shows how objects lie.
  EXPECT_EQ(Probe(), GetParam()->minor < 13 ? RuntimeState::kStarting : RuntimeState::kReady);
}

TEST_P(ThreadListTest, IsEmptyBeforeTheFirstInterpreter) {
  EXPECT_TRUE(Read());
  EXPECT_THAT(list_.interpreters, IsEmpty());
  EXPECT_EQ(Probe(), RuntimeState::kStarting);
  SetHead(Interpreter(0));
  EXPECT_TRUE(Read());
  EXPECT_THAT(list_.threads, IsEmpty());
  EXPECT_EQ(Probe(), RuntimeState::kStarting);
}

TEST_P(ThreadListTest, FailsWhenTheRuntimeIsUnreadable) {
  python_.memory().Unmap(runtime_, kRuntimeBytes);
  EXPECT_FALSE(Read());
  EXPECT_EQ(Probe(), RuntimeState::kBad);
}

TEST_P(ThreadListTest, EndsInCycles) {
  const Address first = Interpreter(0), second = Interpreter(1);
  const Address a = Thread(first, 11), b = Thread(first, 12);
  SetHead(first);
  Link(first, {a, b, a});
  python_.memory().Put(first + GetParam()->interpreter.next, second);
  python_.memory().Put(second + GetParam()->interpreter.next, first);
  ASSERT_TRUE(Read());
  EXPECT_EQ(list_.interpreters.size(), 2u);
  EXPECT_THAT(NativeIds(), ElementsAre(11, 12));
}

TEST_P(ThreadListTest, EndsAtAFreedThread) {
  const Address first = Interpreter(0);
  const Address a = Thread(first, 11), freed = Thread(0x5555'5550, 12), c = Thread(first, 13);
  SetHead(first);
  Link(first, {a, freed, c});
  ASSERT_TRUE(Read());
  EXPECT_THAT(NativeIds(), ElementsAre(11)) << "what a freed state names is not to be trusted";
  const Address unmapped = 0x7000'0000;
  Link(first, {a});
  python_.memory().Put(a + GetParam()->thread.next, unmapped);
  ASSERT_TRUE(Read());
  EXPECT_THAT(NativeIds(), ElementsAre(11));
  python_.memory().Put(a + GetParam()->thread.next, Address{0x7001});
  ASSERT_TRUE(Read());
  EXPECT_THAT(NativeIds(), ElementsAre(11));
}

// The target goes on while it is read: before the given read, counted from 1, something happens.
class BusyMemory final : public RemoteMemory {
 public:
  explicit BusyMemory(FakeMemory* memory) : memory_(memory) {}
  void Before(uint64_t read, std::function<void()> change) { changes_[read] = std::move(change); }
  ssize_t Read(std::span<const RemoteRange> ranges, void* out) override {
    if (const auto change = changes_.find(++calls_); change != changes_.end()) change->second();
    return memory_->Read(ranges, out);
  }

 private:
  FakeMemory* memory_;
  std::map<uint64_t, std::function<void()>> changes_;
};

TEST_P(ThreadListTest, WalksAgainWhenAThreadEndsUnderItsEyes) {
  const Address first = Interpreter(0);
  const Address gone = Thread(first, 11), main = Thread(first, 12);
  SetHead(first);
  Link(first, {gone, main});
  BusyMemory busy(&python_.memory());
  // Of the runtime, the interpreter (its next, id and modules) and its first thread.
  constexpr uint64_t kBeforeTheThread = 6;
  busy.Before(kBeforeTheThread, [&] {
    Link(first, {main});
    python_.memory().Put(gone + GetParam()->thread.next, Address{0x6e6f7468696e67});
  });
  ASSERT_TRUE(ReadThreadList(&busy, *GetParam(), runtime_, &list_));
  EXPECT_THAT(NativeIds(), ElementsAre(12));
}

TEST_P(ThreadListTest, LeavesOutThreadsThatHaveNotBegun) {
  const Address first = Interpreter(0);
  SetHead(first);
  Link(first, {Thread(first, 0), Thread(first, 12)});
  ASSERT_TRUE(Read());
  EXPECT_THAT(NativeIds(), ElementsAre(12));
}

TEST_P(ThreadListTest, ProbingRefusesAnotherInterpretersThread) {
  const Address first = Interpreter(0);
  SetHead(first);
  Link(first, {Thread(first + 16, 11)});
  EXPECT_EQ(Probe(), RuntimeState::kBad);
  SetHead(0x1001);
  EXPECT_EQ(Probe(), RuntimeState::kBad);
}

TEST_P(ThreadListTest, StandsUntilSomethingChanges) {
  const Address first = Interpreter(0), second = Interpreter(1);
  const Address a = Thread(first, 11), b = Thread(first, 12), c = Thread(second, 13);
  FakeMemory& memory = python_.memory();
  const layout::Thread& at = GetParam()->thread;
  SetHead(first);
  memory.Put(first + GetParam()->interpreter.next, second);
  Link(first, {a, b});
  Link(second, {c});
  auto stands = [&] { return ThreadListStands(&memory, *GetParam(), runtime_, list_); };
  EXPECT_FALSE(stands()) << "nothing was read yet";
  ASSERT_TRUE(Read());
  const uint64_t calls = memory.calls();
  EXPECT_TRUE(stands());
  EXPECT_EQ(memory.calls(), calls + 1) << "one call for all";

  const Address d = Thread(second, 14);
  Link(second, {c, d});
  EXPECT_FALSE(stands()) << "a thread more";
  Link(second, {c});
  memory.Put(c + at.next, Address{0});
  EXPECT_TRUE(stands());
  memory.Put(b + at.identity, uint64_t{99});
  EXPECT_FALSE(stands()) << "another thread at the same address";
  memory.Put(b + at.identity, uint64_t{12});
  Link(first, {b, a});
  EXPECT_FALSE(stands()) << "another order";
  Link(first, {a, b});
  memory.Put(b + at.next, Address{0});
  EXPECT_TRUE(stands());
  Address modules = 0;
  ASSERT_TRUE(memory.ReadValue(first + GetParam()->interpreter.modules, &modules));
  memory.Put(first + GetParam()->interpreter.modules, Address{0x5555'0000});
  EXPECT_FALSE(stands()) << "its modules, which are made after it";
  memory.Put(first + GetParam()->interpreter.modules, modules);
  memory.Put(second + GetParam()->interpreter.next, first);
  EXPECT_FALSE(stands()) << "an interpreter more";
  memory.Put(second + GetParam()->interpreter.next, Address{0});
  memory.Unmap(runtime_, kRuntimeBytes);
  EXPECT_FALSE(stands());
}

TEST_P(ThreadListTest, TellsWhoHoldsTheGil) {
  const layout::Table& table = *GetParam();
  const Address first = Interpreter(0);
  Address holder = 0, locked = 0;
  if (table.runtime.gil_holder != layout::kNone) {
    holder = runtime_ + table.runtime.gil_holder;
    locked = runtime_ + table.runtime.gil_locked;
  } else {
    const Address gil = python_.Allocate(64);
    python_.memory().Put(first + table.interpreter.gil, gil);
    holder = gil + table.gil.holder;
    locked = gil + table.gil.locked;
    if (table.free_threaded) python_.memory().Put(gil + table.gil.enabled, INT32_MAX);
  }
  auto read = [&] { return ReadGilHolder(&python_.memory(), table, runtime_, first); };
  python_.memory().Put(holder, Address{0x4440});
  python_.memory().Put(locked, int32_t{1});
  EXPECT_EQ(read(), 0x4440u);
  python_.memory().Put(locked, int32_t{0});
  EXPECT_EQ(read(), 0u) << "the last holder is not the holder";
  python_.memory().Put(locked, int32_t{-1});
  EXPECT_EQ(read(), 0u) << "not made yet";
  python_.memory().FailWith(ESRCH);
  EXPECT_EQ(read(), kGilUnknown);
}

INSTANTIATE_TEST_SUITE_P(Python, ThreadListTest, EachTable(), TableName);

}  // namespace
}  // namespace linescope
