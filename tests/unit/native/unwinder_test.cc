// The unwinder and the symbolizer on this very process: registers by getcontext, its own stack
// copied, its own files named.
#include "native/unwinder.h"

#include <gtest/gtest.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstring>

#include "native/symbolizer.h"
#include "process/fake_memory.h"
#include "process/remote_memory.h"

namespace linescope {
namespace {

Registers Here(const ucontext_t& context) {
  const auto& words = context.uc_mcontext.gregs;
  const int in_order[Registers::kCount] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                           REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                           REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  Registers registers;
  for (size_t i = 0; i < Registers::kCount; ++i) {
    registers.Set(i, static_cast<uint64_t>(words[in_order[i]]));
  }
  return registers;
}

struct Captured {
  std::vector<std::byte> stack;
  Registers registers;
  UnwindEnd end = UnwindEnd::kStack;
  std::vector<NativeFrame> frames;
};

// How much of the stack is copied.
size_t g_limit = 1 << 20;

[[gnu::noinline]] void Capture(CodeMap* map, Unwinder* unwinder, Captured* out) {
  ucontext_t context;
  ::getcontext(&context);
  out->registers = Here(context);
  const Address begin = out->registers.stack(), end = map->StackEnd(begin);
  ASSERT_NE(end, 0u);
  out->stack.resize(std::min<size_t>(end - begin, g_limit));
  // Not by memcpy, which must not touch the space between variables when addresses are checked.
  ASSERT_TRUE(
      OpenRemoteMemory(::getpid()).value()->ReadExact(begin, out->stack.data(), out->stack.size()));
  out->end = unwinder->Unwind(out->registers, {begin, out->stack}, &out->frames);
}

[[gnu::noinline]] void Nested(int depth, CodeMap* map, Unwinder* unwinder, Captured* out) {
  if (depth > 0) {
    Nested(depth - 1, map, unwinder, out);
  } else {
    Capture(map, unwinder, out);
  }
  asm volatile("" ::: "memory");  // no tail call
}

struct Self {
  Self() : memory(OpenRemoteMemory(::getpid()).value()), map(::getpid(), memory.get()) {
    map.Refresh();
  }
  std::string NameAt(const NativeFrame& frame) {
    auto file = OpenMappedFile(::getpid(), frame.module->file.mappings.front());
    if (!file) return file.error().what;
    auto symbols = SymbolFile::Open(std::move(*file), frame.module->file.path, {""});
    if (!symbols) return symbols.error().what;
    return (*symbols)->At(frame.pc - frame.module->bias).back().name;
  }
  std::unique_ptr<RemoteMemory> memory;
  CodeMap map;
};

TEST(Unwinder, WholeStackOfThisThread) {
  Self self;
  Unwinder unwinder(&self.map);
  Captured captured;
  for (int i = 0; i < 2; ++i) {  // the second time from what it remembers
    Nested(5, &self.map, &unwinder, &captured);
    ASSERT_EQ(captured.end, UnwindEnd::kRoot) << self.NameAt(captured.frames.back());
    ASSERT_GT(captured.frames.size(), 8u);
    EXPECT_TRUE(self.NameAt(captured.frames[0]).contains("Capture"));
    for (size_t j = 1; j <= 6; ++j) {
      EXPECT_TRUE(self.NameAt(captured.frames[j]).contains("Nested")) << j;
    }
    EXPECT_EQ(self.NameAt(captured.frames.back()), "_start");
    for (size_t j = 1; j < captured.frames.size(); ++j) {
      EXPECT_GT(captured.frames[j].stack, captured.frames[j - 1].stack);
    }
  }
}

TEST(Unwinder, EndsWhereTheCopyEnds) {
  Self self;
  Unwinder unwinder(&self.map);
  Captured whole, part;
  Nested(20, &self.map, &unwinder, &whole);
  ASSERT_EQ(whole.end, UnwindEnd::kRoot);
  // As much as reaches up to the tenth frame.
  g_limit = whole.frames[10].stack - whole.frames[0].stack;
  Nested(20, &self.map, &unwinder, &part);
  g_limit = 1 << 20;
  EXPECT_EQ(part.end, UnwindEnd::kStack);
  EXPECT_GE(part.frames.size(), 9u);
  EXPECT_LE(part.frames.size(), 11u);
}

TEST(Unwinder, SaysWhatIsMissing) {
  Self self;
  Unwinder unwinder(&self.map);
  Captured captured;
  Nested(1, &self.map, &unwinder, &captured);
  const StackCopy copy{captured.registers.stack(), captured.stack};
  std::vector<NativeFrame> frames;

  Registers nowhere = captured.registers;
  nowhere.Set(Registers::kInstruction, 0x10);
  EXPECT_EQ(unwinder.Unwind(nowhere, copy, &frames), UnwindEnd::kCode);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].module, nullptr);

  Registers unknown;
  unknown.Set(Registers::kStack, captured.registers.stack());
  EXPECT_EQ(unwinder.Unwind(unknown, copy, &frames), UnwindEnd::kRegister);

  const StackCopy nothing{captured.registers.stack(), {}};
  EXPECT_EQ(unwinder.Unwind(captured.registers, nothing, &frames), UnwindEnd::kStack);
  EXPECT_EQ(frames.size(), 1u);
}

TEST(CodeMap, ReadsOnlyWhatDoesNotChange) {
  Self self;
  static char writable[64];
  static const char constant[] = "constant";
  char out[9];
  EXPECT_FALSE(self.map.ReadConstant(reinterpret_cast<Address>(writable), out, 1));
  ASSERT_TRUE(self.map.ReadConstant(reinterpret_cast<Address>(constant), out, sizeof constant));
  EXPECT_STREQ(out, constant);
  EXPECT_FALSE(self.map.Refresh());  // nothing changed
  const CodeModule* vdso = self.map.Find(0);
  EXPECT_EQ(vdso, nullptr);
}

TEST(CodeMap, TheKernelsLibraryIsNamedFromMemory) {
  Self self;
  const auto mappings = ReadMaps(::getpid());
  ASSERT_TRUE(mappings);
  for (const Mapping& mapping : *mappings) {
    if (mapping.path != "[vdso]") continue;
    const CodeModule* module = self.map.Find(mapping.start + 64);
    ASSERT_NE(module, nullptr);
    EXPECT_FALSE(module->unwind.empty());
    auto symbols = SymbolFile::Open(CopyElfImage(self.memory.get(), *module), "[vdso]", {});
    ASSERT_TRUE(symbols) << symbols.error().what;
    const auto ranges =
        FindFunctions(CopyElfImage(self.memory.get(), *module).get(),
                      [](std::string_view name) { return name == "__vdso_clock_gettime"; });
    ASSERT_EQ(ranges.size(), 1u);
    EXPECT_EQ((*symbols)->At(ranges[0].begin).back().name, "__vdso_clock_gettime");
    return;
  }
  GTEST_SKIP() << "no vdso is mapped";
}

TEST(ElfImage, OtherBytesAreNone) {
  FakeMemory memory;
  memory.Zero(0x1000, 4096);
  EXPECT_FALSE(ReadElfImage(&memory, 0x1000));
  EXPECT_FALSE(ReadElfImage(&memory, 0x9000));
}

}  // namespace
}  // namespace linescope
