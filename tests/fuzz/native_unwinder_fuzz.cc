// A mapped file's headers and unwinding tables, and a stack to go with them, of any bytes: first 32
// bytes of registers (stack pointer, next instruction, frame pointer, length of the stack), then
// the stack, then the file as it is mapped.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "native/unwinder.h"
#include "process/fake_memory.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace linescope;
  constexpr Address kFile = 0x400000, kStack = 0x7f0000000000;
  constexpr size_t kPage = 4096;
  uint64_t words[4];
  if (size < sizeof words) return 0;
  std::memcpy(words, data, sizeof words);
  data += sizeof words;
  size -= sizeof words;
  const size_t stack_size = std::min<size_t>(words[3] % 65536, size);
  const std::span<const std::byte> stack(reinterpret_cast<const std::byte*>(data), stack_size);
  std::vector<std::byte> file((size - stack_size + kPage - 1) / kPage * kPage + kPage);
  if (size > stack_size) std::memcpy(file.data(), data + stack_size, size - stack_size);

  FakeMemory memory;
  memory.Write(kFile, file);
  CodeMap map(0, &memory);
  Mapping code, data_stack;
  code.start = kFile;
  code.end = kFile + file.size();
  code.readable = code.executable = true;
  code.inode = 1;
  code.path = "/code";
  data_stack.start = kStack;
  data_stack.end = kStack + 65536;
  data_stack.readable = data_stack.writable = true;
  map.Use({code, data_stack});
  if (const auto image = ReadElfImage(&memory, kFile)) (void)image->segments.size();
  if (const CodeModule* module = map.Find(kFile)) (void)CopyElfImage(&memory, *module);

  Registers registers;
  registers.Set(Registers::kStack, kStack + words[0] % 65536);
  registers.Set(Registers::kInstruction, kFile + words[1] % file.size());
  if (words[2] != 0) registers.Set(Registers::kFrame, kStack + words[2] % 65536);
  Unwinder unwinder(&map);
  std::vector<NativeFrame> frames;
  for (int i = 0; i < 2; ++i) {
    unwinder.Unwind(registers, {registers.stack(), stack}, &frames);
    if (frames.empty()) __builtin_trap();
  }
  return 0;
}
