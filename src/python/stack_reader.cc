#include "python/stack_reader.h"

#include <algorithm>

#include "python/data_stack_reader.h"
#include "python/frame_object_reader.h"
#include "python/target_words.h"

namespace linescope {

std::unique_ptr<StackReader> MakeStackReader(RemoteMemory* memory, const layout::Table* table,
                                             CodeCache* codes, const PythonThread& thread) {
  if (table->liveness == layout::Liveness::kObject) {
    return std::make_unique<FrameObjectReader>(memory, table, codes, thread);
  }
  return std::make_unique<DataStackReader>(memory, table, codes, thread);
}

void StackReader::ClearPlan() {
  pieces_.clear();
  planned_bytes_ = 0;
}

size_t StackReader::Add(Address address, size_t size, std::vector<RemoteRange>* ranges) {
  pieces_.push_back({{address, size}, planned_bytes_});
  ranges->push_back({address, size});
  planned_bytes_ += size;
  return pieces_.size() - 1;
}

void StackReader::AddUncertain(std::vector<RemoteRange>* ranges) {
  first_uncertain_piece_ = pieces_.size();
  for (const Code* code : uncertain_) Add(code->address, codes_->header_size(), ranges);
}

void StackReader::BeginDecision(const std::byte* bytes, int64_t now_ns) {
  late_used_ = 0;
  regions_.clear();
  ClearNext();
  for (size_t i = 0; i < uncertain_.size(); ++i) {
    codes_->VerifyFrom(bytes + pieces_[first_uncertain_piece_ + i].offset, uncertain_[i], now_ns);
  }
  if (codes_->generation() != generation_) {
    // Equal words need not mean equal frames any more.
    generation_ = codes_->generation();
    frames_.clear();
    raw_.clear();
  }
}

void StackReader::Accept() {
  unchanged_ = next_unchanged_;
  frames_.swap(next_);
  raw_.swap(next_raw_);
  CollectUncertain();
}

bool StackReader::IsEntry(size_t i) const {
  if (table_->liveness == layout::Liveness::kObject) return true;
  if (table_->frame.is_entry != layout::kNone) return raw_[i].is_entry;
  return i == 0 || raw_[i].previous != frames_[i - 1].address;
}

const std::byte* StackReader::At(Address address, size_t size) const {
  for (const Region& region : regions_) {
    // No sum that garbage could wrap.
    const uint64_t offset = address - region.begin, length = region.end - region.begin;
    if (size <= length && offset <= length - size) return region.data + offset;
  }
  return nullptr;
}

const std::byte* StackReader::AtOrRead(Address address, size_t size) {
  if (const std::byte* at = At(address, size)) return at;
  if (!PlausiblePointer(address)) return nullptr;
  if (late_used_ == late_.size()) late_.emplace_back();
  std::vector<std::byte>& bytes = late_[late_used_];
  bytes.resize(size);
  if (!memory_->ReadExact(address, bytes.data(), size)) return nullptr;
  ++late_used_;
  regions_.push_back({address, address + size, bytes.data()});
  return bytes.data();
}

Code* StackReader::CodeOf(const RawFrame& raw, int64_t now_ns) {
  if (!PlausiblePointer(raw.code)) return nullptr;
  Code* code = codes_->Load(raw.code, now_ns);
  if (code == nullptr || Stands(raw, *code)) return code;
  if (raw.copy != 0 && codes_->ReadCopies(code, now_ns) && Stands(raw, *code)) return code;
  // A leftover, or the address holds other code by now: nothing would ever check an entry that no
  // stack is decided by.
  constexpr int64_t kLeftover = 1'000'000;
  if (now_ns - code->verified_ns < kLeftover || codes_->Verify(code, now_ns)) return nullptr;
  code = codes_->Load(raw.code, now_ns);
  return code != nullptr && Stands(raw, *code) ? code : nullptr;
}

void StackReader::ClearNext() {
  next_.clear();
  next_raw_.clear();
  next_unchanged_ = 0;
}

bool StackReader::Push(Address address, const RawFrame& raw, int64_t now_ns) {
  const size_t i = next_.size();
  if (i == next_unchanged_ && i < frames_.size() && frames_[i].address == address &&
      raw_[i] == raw) {
    next_.push_back(frames_[i]);
    next_raw_.push_back(raw);
    ++next_unchanged_;
    return true;
  }
  Code* code = CodeOf(raw, now_ns);
  if (code == nullptr) return false;
  const bool was_here = i == next_unchanged_ && i < frames_.size() &&
                        frames_[i].address == address && frames_[i].code == code;
  // Where another frame stood, the address may hold a new code object by now.
  if ((!was_here || code->transient || code->IsNew()) && code->IsDue(now_ns) &&
      !codes_->Verify(code, now_ns)) {
    code = CodeOf(raw, now_ns);
    if (code == nullptr) return false;
  }
  next_.push_back({address, code, UnitOf(*code, raw)});
  next_raw_.push_back(raw);
  return true;
}

// New code takes the address of old, and a frame at the same place then has the same words: mostly
// where code is not from a file, and at the start of a program, where modules are imported one
// after the other. So the header of such code is read along with the next sample.
void StackReader::CollectUncertain() {
  constexpr size_t kMaxUncertain = 32;
  uncertain_.clear();
  certain_ = std::min(certain_, unchanged_);
  size_t lowest = frames_.size();
  for (size_t i = frames_.size(); i-- > certain_;) {
    if (!frames_[i].code->dynamic && !frames_[i].code->IsNew()) continue;
    lowest = i;
    if (uncertain_.size() == kMaxUncertain) continue;
    Code* code = codes_->Find(frames_[i].code->address);
    if (code == frames_[i].code &&
        std::find(uncertain_.begin(), uncertain_.end(), code) == uncertain_.end()) {
      uncertain_.push_back(code);
    }
  }
  certain_ = lowest;
}

}  // namespace linescope
