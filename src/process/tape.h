#pragma once
// Tapes: every read of a live walk, kept in a small file, so that the walk can be repeated on any
// machine. The format is described in tape.cc.
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "process/remote_memory.h"

namespace linescope {

struct Tape {
  // One call of Read, as it went.
  struct Record {
    std::vector<RemoteRange> ranges;
    int64_t result = 0;            // bytes, or -errno
    std::vector<std::byte> bytes;  // `result` of them, packed in the order of the ranges
  };

  // What the walk needs besides memory: "python" → "3.12.1", "runtime" → "0x7f…", thread stacks, …
  std::map<std::string, std::string> facts;
  std::vector<Record> records;

  [[nodiscard]] std::string Serialize() const;
  static Result<Tape> Parse(std::string_view file);  // kUnsupported, kCorrupt
  Status Save(const std::filesystem::path& path) const;
  static Result<Tape> Load(const std::filesystem::path& path);

  void SetFact(std::string key, std::string value) { facts[std::move(key)] = std::move(value); }
  [[nodiscard]] std::optional<std::string> Fact(const std::string& key) const;
};

// A tape file of a body made elsewhere (tape.cc describes both). For tests of the parser.
std::string PackTapeBody(std::string_view body);

// Passes reads on to another memory and keeps them. Allocates: not for measuring.
class TapeRecorder : public RemoteMemory {
 public:
  explicit TapeRecorder(RemoteMemory& inner) : inner_(inner) {}
  ssize_t Read(std::span<const RemoteRange> ranges, void* out) override;

  Tape& tape() { return tape_; }

 private:
  RemoteMemory& inner_;
  Tape tape_;
};

// Answers reads from a tape. The rules:
//  1. There is a place on the tape, at first before the first record. The *image* is what the
//  records up to the place
//     have read, newer bytes over older ones.
//  2. A read whose ranges are exactly those of a record behind the place is answered with that
//  record, failures
//     included; the place moves behind the record and the image takes in all records passed over.
//     So the same walk sees the same instants.
//  3. Any other read is answered from the image, and bytes that it lacks from their first record
//  behind the place; the
//     place stays. It stops at the first byte that no record holds, and fails with -EFAULT if that
//     is the first of all.
// So a walk that reads less, more often or in other pieces than the recorded one still works, as
// far as the bytes reach. No allocation in Read.
class TapeMemory : public RemoteMemory {
 public:
  explicit TapeMemory(Tape tape);
  ~TapeMemory() override;
  ssize_t Read(std::span<const RemoteRange> ranges, void* out) override;

  // Back to the beginning.
  void Rewind();
  // Records passed so far.
  [[nodiscard]] size_t place() const { return place_; }
  [[nodiscard]] const Tape& tape() const { return tape_; }

 private:
  static constexpr size_t kPage = 4096;
  struct Page;

  void Store(const Tape::Record& record, bool only_new_bytes, bool into_image);
  size_t Copy(Address address, size_t size, std::byte* out) const;
  [[nodiscard]] size_t FindRecord(std::span<const RemoteRange> ranges) const;

  Tape tape_;
  std::unordered_map<Address, std::unique_ptr<Page>> pages_;
  std::unordered_map<uint64_t, std::vector<size_t>> records_by_hash_;  // each list ascending
  size_t place_ = 0;
};

}  // namespace linescope
