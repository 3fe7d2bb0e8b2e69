// Coroutines and tasks made up in memory, by the layout of each version. That the layouts are those
// of the interpreters is what e2e/test_tasks.py holds against reality.
#include "python/task_reader.h"

#include <gmock/gmock.h>

#include "unit/python/fake_python.h"

namespace linescope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using State = CoroutineReader::State;

// Of no version: where a made-up interpreter of 3.14 and later has its lists.
constexpr layout::Tasks kLists = {.size = 200,
                                  .callback = 24,
                                  .waiter = 40,
                                  .coroutine = 48,
                                  .name = 56,
                                  .awaited_by = 64,
                                  .awaited_by_is_set = 72,
                                  .node = 80,
                                  .interpreter_tasks = 512,
                                  .thread_tasks = 640,
                                  .running_task = 664};

class TaskReaderTest : public ::testing::TestWithParam<const layout::Table*> {
 protected:
  TaskReaderTest() {
    if (!reader_.ready()) reader_.SetOffsets(kLists);
  }

  FakeMemory& memory() { return python_.memory(); }
  layout::Tasks offsets() const {
    const layout::Tasks* known = layout::TasksFor(at_.minor);
    return known != nullptr ? *known : kLists;
  }

  // One that stands at unit 3 of a function of this name; nothing awaited yet.
  Address Coroutine(const std::string& name, const std::string& type = "coroutine",
                    int32_t variables = 2) {
    const FakePython::CodeSpec spec{.name = name, .nlocalsplus = variables};
    const Address code = python_.Code(spec);
    const Address object = python_.Allocate(1024);
    memory().Put(object + at_.objects.type, TypeOf(type));
    const layout::Coroutine& coroutine = layout::CoroutineFor(at_.minor);
    if (coroutine.frame_object != layout::kNone) {
      const Address frame = python_.Allocate(1024), values = frame + 512;
      memory().Put(object + coroutine.frame_object, frame);
      memory().Put(frame + at_.frame.code, code);
      memory().Put(frame + at_.frame.owner, static_cast<uint8_t>(at_.executing - 1));
      memory().Put(frame + at_.frame.instr,
                   int32_t{at_.position == layout::Position::kUnits ? 3 : 6});
      memory().Put(frame + coroutine.values, values);
      if (coroutine.depth_is_end) memory().Put(frame + coroutine.depth, values);
    } else {
      const Address frame = object + at_.generator.frame;
      memory().Put(frame + at_.frame.code, code | (at_.frame.code_tags & 1));
      memory().Put(frame + at_.frame.instr, code + at_.code.bytecode + 6);
      memory().Put(object + coroutine.state, coroutine.first_suspended);
      variables_[object] = static_cast<Address>(variables);
      Deepen(object, 0);
    }
    return object;
  }
  // As many values on top of its variables.
  void Deepen(Address object, Address depth) {
    const Address frame = object + at_.generator.frame, values = variables_[object] + depth;
    if (at_.liveness == layout::Liveness::kStacktop) {
      memory().Put(frame + at_.frame.stacktop, static_cast<int32_t>(values));
    } else {
      memory().Put(frame + at_.frame.stacktop, frame + at_.frame.locals + values * 8);
    }
  }
  void Await(Address object, Address awaited) {
    const layout::Coroutine& coroutine = layout::CoroutineFor(at_.minor);
    if (coroutine.frame_object == layout::kNone) {
      Deepen(object, 1);
      memory().Put(object + at_.generator.frame + at_.frame.locals + variables_[object] * 8,
                   awaited);
      return;
    }
    Address frame = 0;
    ASSERT_TRUE(memory().ReadValue(object + coroutine.frame_object, &frame));
    memory().Put(frame + 512, awaited);
    if (coroutine.depth_is_end) {
      memory().Put(frame + coroutine.depth, frame + 520);
    } else {
      memory().Put(frame + coroutine.depth, uint32_t{1});
    }
  }
  void Run(Address object) {
    const layout::Coroutine& coroutine = layout::CoroutineFor(at_.minor);
    if (coroutine.frame_object != layout::kNone) {
      Address frame = 0;
      ASSERT_TRUE(memory().ReadValue(object + coroutine.frame_object, &frame));
      memory().Put(frame + at_.frame.owner, at_.executing);
      return;
    }
    memory().Put(object + at_.generator.frame + at_.frame.previous, Address{0x5000});
    memory().Put(object + coroutine.state, static_cast<int8_t>(coroutine.last_suspended + 1));
  }
  // An object of this type that keeps `first` as such iterators do.
  Address Between(const std::string& type, Address first) {
    const Address object = python_.Allocate(64);
    memory().Put(object + at_.objects.type, TypeOf(type));
    memory().Put(object + layout::kAwaited, first);
    return object;
  }
  Address TypeOf(const std::string& name) {
    Address& type = types_[name];
    if (type == 0) type = python_.Type(name);
    return type;
  }
  std::vector<std::string> Follow(Address coroutine) {
    std::vector<StackFrame> frames;
    chain_ = CoroutineReader(&memory(), GetParam(), &codes_).Follow(coroutine, 0, &frames);
    std::vector<std::string> names;
    for (const StackFrame& frame : frames) names.push_back(frame.code->name);
    return names;
  }

  // Tasks in the thread's list; their awaiters are set after.
  Address Task(Address coroutine) {
    const Address task = python_.Allocate(256);
    memory().Put(task + offsets().coroutine, coroutine);
    return task;
  }
  void List(const std::vector<Address>& tasks) {
    Address at = tstate_ + kLists.thread_tasks;
    for (const Address task : tasks) {
      memory().Put(at, task + kLists.node);
      at = task + kLists.node;
    }
    memory().Put(at, tstate_ + kLists.thread_tasks);
  }
  std::vector<AsyncTask> Read() {
    ThreadList threads;
    threads.threads.push_back({.tstate = tstate_});
    return reader_.Read(threads, 0);
  }

  const layout::Table& at_ = *GetParam();
  FakePython python_{GetParam()};
  CodeCache codes_{&python_.memory(), GetParam()};
  TaskReader reader_{&python_.memory(), GetParam(), &codes_};
  std::map<std::string, Address> types_;
  std::map<Address, Address> variables_;  // how many a coroutine has
  CoroutineReader::Chain chain_;
  Address tstate_ = python_.Allocate(1024);
};

TEST_P(TaskReaderTest, FollowsWhatIsAwaited) {
  const Address outer = Coroutine("outer"), inner = Coroutine("inner"),
                generator = Coroutine("numbers", "async_generator");
  EXPECT_THAT(Follow(outer), ElementsAre("outer"));
  EXPECT_EQ(chain_.state, State::kWaiting);
  Await(outer, inner);
  Await(inner, Between("async_generator_asend", generator));
  Await(generator, Between("_asyncio.FutureIter", 0x7770));
  EXPECT_THAT(Follow(outer), ElementsAre("outer", "inner", "numbers"));
  EXPECT_EQ(chain_.future, 0x7770u);
}

TEST_P(TaskReaderTest, ACoroutineNeedsNoVariables) {
  const Address outer = Coroutine("outer", "coroutine", 0), inner = Coroutine("inner");
  Await(outer, inner);
  EXPECT_THAT(Follow(outer), ElementsAre("outer", "inner"));
}

TEST_P(TaskReaderTest, FramesStandWhereTheyAreSuspended) {
  std::vector<StackFrame> frames;
  const Address coroutine = Coroutine("f");
  CoroutineReader reader(&memory(), GetParam(), &codes_);
  const CoroutineReader::Chain chain = reader.Follow(coroutine, 0, &frames);
  ASSERT_THAT(frames, SizeIs(1));
  EXPECT_EQ(frames[0].unit, 3);
  EXPECT_EQ(frames[0].address, chain.frame);
  EXPECT_EQ(reader.FrameOf(coroutine), chain.frame);
}

TEST_P(TaskReaderTest, EndsWhereNoCoroutineIs) {
  const Address outer = Coroutine("outer");
  for (const Address awaited : {Address{0}, Address{3}, Address{0x7fff'0000'0000}, outer,
                                Between("async_generator_asend", outer), Between("Iter", outer)}) {
    Await(outer, awaited);
    EXPECT_THAT(Follow(outer), ElementsAre("outer")) << awaited;
  }
  EXPECT_THAT(Follow(0), IsEmpty());
  EXPECT_THAT(Follow(Between("list", 0)), IsEmpty());
}

TEST_P(TaskReaderTest, BearsACircle) {
  const Address a = Coroutine("a"), b = Coroutine("b");
  Await(a, b);
  Await(b, a);
  EXPECT_THAT(Follow(a), ElementsAre("a", "b"));
}

TEST_P(TaskReaderTest, ARunningCoroutineHasNoFramesHere) {
  const Address outer = Coroutine("outer"), inner = Coroutine("inner");
  Await(outer, inner);
  Run(inner);
  Follow(outer);
  EXPECT_EQ(chain_.state, State::kRunning);
  Run(outer);
  EXPECT_THAT(Follow(outer), IsEmpty());
  EXPECT_EQ(chain_.state, State::kRunning);
}

TEST_P(TaskReaderTest, ListsTasksWithThoseWhoAwaitThem) {
  if (at_.minor < 14) GTEST_SKIP() << "this version has no lists";
  const Address a = Task(Coroutine("a")), b = Task(Coroutine("b")), c = Task(Coroutine("c"));
  memory().Put(b + kLists.awaited_by, a);
  List({a, b, c});
  const std::vector<AsyncTask> tasks = Read();
  ASSERT_THAT(tasks, SizeIs(3));
  EXPECT_EQ(tasks[0].parent, SIZE_MAX);
  EXPECT_EQ(tasks[1].parent, 0u);
  EXPECT_EQ(tasks[1].frames.at(0).code->name, "b");
  EXPECT_TRUE(reader_.IsStill(tasks[2]));
  memory().Put(c + kLists.coroutine, Coroutine("d"));
  EXPECT_FALSE(reader_.IsStill(tasks[2]));
  memory().Put(tstate_ + kLists.running_task, b);
  ASSERT_TRUE(reader_.Running(tstate_));
  EXPECT_EQ(reader_.Running(tstate_)->awaiter, a);
}

TEST_P(TaskReaderTest, BearsDamagedLists) {
  if (at_.minor < 14) GTEST_SKIP() << "this version has no lists";
  const Address a = Task(Coroutine("a")), b = Task(Coroutine("b"));
  // Tasks that await each other, in a list that leads back into itself.
  memory().Put(a + kLists.awaited_by, b);
  memory().Put(b + kLists.awaited_by, a);
  List({a, b});
  memory().Put(b + kLists.node, a + kLists.node);
  std::vector<AsyncTask> tasks = Read();
  ASSERT_THAT(tasks, SizeIs(2));
  EXPECT_TRUE((tasks[0].parent == SIZE_MAX) != (tasks[1].parent == SIZE_MAX));
  memory().Put(b + kLists.node, Address{0x12345});
  EXPECT_THAT(Read(), SizeIs(2));
  memory().Put(a + kLists.coroutine, Address{0});
  EXPECT_THAT(Read(), SizeIs(1));
}

INSTANTIATE_TEST_SUITE_P(Python, TaskReaderTest, EachTable(), TableName);

TEST(AsyncioDebug, IsCheckedBeforeItIsBelieved) {
  // As CPython 3.14.3 has it on x86-64.
  std::array<uint64_t, 13> words = {168,    136,   96,  108, 109, 128, 152,
                                    225824, 10848, 928, 856, 864, 872};
  const auto found = layout::ReadAsyncioDebug(std::as_bytes(std::span(words)));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->coroutine, 128u);
  EXPECT_EQ(found->waiter, 120u);
  EXPECT_EQ(found->thread_tasks, 872u);
  EXPECT_FALSE(layout::ReadAsyncioDebug(std::as_bytes(std::span(words)).first(96)));
  for (const size_t i : {0, 1, 2, 4, 5, 6, 8, 11, 12}) {
    auto broken = words;
    broken[i] = i == 0 ? 8 : 1 << 25;
    EXPECT_FALSE(layout::ReadAsyncioDebug(std::as_bytes(std::span(broken)))) << i;
  }
}

}  // namespace
}  // namespace linescope
