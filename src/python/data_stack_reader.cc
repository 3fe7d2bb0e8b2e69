#include "python/data_stack_reader.h"

#include <algorithm>
#include <cstring>

#include "python/target_words.h"

namespace linescope {
namespace {

// A newest chunk that is used up to here is read in one range, up to a little above the highest top
// of late: 1 KiB is copied in some 20 ns, while a further range costs 110 ns and is another
// instant.
constexpr size_t kWhole = 8192;
constexpr size_t kAboveTop = 512;
// Of a higher one, so much below the top is read first, then the rest, then the anchor.
constexpr size_t kBelowTop = 2048;
// The highest top is forgotten by so much a sample.
constexpr size_t kHighDecay = 64;
constexpr size_t kAnchor = 256;
// Frames off the data stack that were not met for so many samples are no longer read ahead.
constexpr uint32_t kHeapTtl = 32;
constexpr size_t kMaxHeap = 512;
// Bounds against garbage that looks like a list. A stack of real frames is bounded by its chunks.
constexpr size_t kMaxChunks = 1 << 16;
constexpr uint64_t kMaxChunkBytes = uint64_t{1} << 30;
constexpr size_t kMaxOffStack = 1 << 20;

// The number of the bytecode's copy; there are no more than threads at one time.
uint16_t CopyNumber(const std::byte* at) {
  return static_cast<uint16_t>(std::min<uint32_t>(Load<uint32_t>(at), UINT16_MAX));
}

// Whether [offset, offset + size) lies within `bytes`; no sum that garbage could wrap.
bool Fits(uint64_t offset, uint64_t size, uint64_t bytes) {
  return size <= bytes && offset <= bytes - size;
}

}  // namespace

DataStackReader::DataStackReader(RemoteMemory* memory, const layout::Table* table, CodeCache* codes,
                                 const PythonThread& thread)
    : StackReader(memory, table, codes, thread),
      marks_executing_(table->liveness == layout::Liveness::kStacktop),
      first_word_(table->thread.status != layout::kNone ? table->thread.status
                                                        : table->thread.current_frame) {}

void DataStackReader::ResetPrediction() {
  known_ = false;
  heap_.clear();
  uncertain_.clear();
  cframe_ = 0;
}

// Learns the chunks of the data stack. Where they are never found, as in a version to come that
// keeps its frames otherwise, the links between frames are all that is left: one range a frame, and
// a thread that runs may be read between two instants.
bool DataStackReader::Refresh() {
  // A thread has no sound chunks for a few instructions, while one is pushed or popped.
  constexpr uint32_t kTooOften = 12;
  known_ = ReadChunks();
  refused_ = known_ ? 0 : refused_ + 1;
  linked_ = refused_ >= kTooOften;
  if (!known_) chunks_.clear();
  return known_;
}

// Follows the headers of the chunks: one read a chunk.
bool DataStackReader::ReadChunks() {
  chunks_.clear();
  const layout::Thread& at = table_->thread;
  Address words[3];  // chunk, top, limit follow each other
  if (!memory_->ReadExact(tstate_ + at.chunk, words, sizeof words)) return false;
  Address chunk = newest_chunk_ = words[0];
  top_ = words[1];
  uint64_t total = 0;
  while (chunk != 0 && chunks_.size() < kMaxChunks) {
    Address header[3];  // previous, size, top
    if (!PlausiblePointer(chunk) || !memory_->ReadExact(chunk, header, sizeof header)) return false;
    if (header[1] < layout::kChunkData || header[1] > kMaxChunkBytes) return false;
    const bool holds_top = top_ >= chunk + layout::kChunkData && top_ <= chunk + header[1];
    // While a chunk is pushed or popped, the top lies in the one below it for some instructions.
    if (chunks_.empty() && !holds_top && chunk == newest_chunk_) {
      chunk = header[0];
      continue;
    }
    if (chunks_.empty() != holds_top) return false;
    const uint64_t used =
        chunks_.empty() ? top_ - chunk : layout::kChunkData + header[2] * sizeof(Address);
    if (used > header[1] || (total += used) > kMaxChunkBytes) return false;
    if (chunks_.empty()) limit_ = chunk + header[1];
    chunks_.push_back({chunk, used, nullptr, 0});
    chunk = header[0];
  }
  if (at.cframe_frame != layout::kNone &&
      !memory_->ReadValue(tstate_ + at.current_frame, &cframe_)) {
    return false;
  }
  if (at.base_frame != layout::kNone && base_frame_ == 0 &&
      !memory_->ReadValue(tstate_ + at.base_frame, &base_frame_)) {
    return false;
  }
  return true;
}

void DataStackReader::Plan(bool exact, std::vector<RemoteRange>* ranges) {
  ClearPlan();
  if (!known_) Refresh();
  const layout::Thread& at = table_->thread;
  split_ = false;
  newest_piece_ = SIZE_MAX;
  if (known_ && !chunks_.empty()) {
    const Chunk& newest = chunks_.front();
    const Address start = newest.address + layout::kChunkData;
    high_ = high_ >= start + kHighDecay && high_ <= limit_ ? high_ - kHighDecay : start;
    high_ = std::max(high_, top_);
    if (high_ - newest.address > kWhole) high_ = std::min<Address>(high_, top_ + kBelowTop);
    const Address end = std::min<Address>(limit_, high_ + kAboveTop);
    split_ =
        !exact && end - newest.address > kWhole + kAboveTop && top_ - newest.address > kBelowTop;
    const Address begin = split_ ? (top_ - kBelowTop) & ~Address{7} : newest.address;
    split_at_ = begin;
    newest_piece_ = Add(begin, end - begin, ranges);
  }
  // Generators, coroutines and entry markers, neighbours merged.
  for (size_t i = 0; i < heap_.size();) {
    Address begin = heap_[i].address, end = begin + heap_[i].size;
    size_t j = i + 1;
    while (j < heap_.size() && heap_[j].address < end + kMergeGap) {
      end = std::max(end, heap_[j].address + heap_[j].size);
      ++j;
    }
    Add(begin, end - begin, ranges);
    i = j;
  }
  AddUncertain(ranges);
  if (split_)
    rest_piece_ = Add(chunks_.front().address,
                      pieces_[newest_piece_].range.address - chunks_.front().address, ranges);
  for (size_t i = 1; i < chunks_.size() && known_; ++i)
    Add(chunks_[i].address, chunks_[i].bytes, ranges);
  words_piece_ = Add(tstate_ + first_word_, at.limit + 8 - first_word_, ranges);
  if (cframe_ != 0) Add(cframe_ + at.cframe_frame, 8, ranges);
  if (split_) anchor_piece_ = Add(pieces_[newest_piece_].range.address, kAnchor, ranges);
}

size_t DataStackReader::ChunkOf(Address address) const {
  auto holds = [&](size_t i) {
    const Address end = i == 0 ? limit_ : chunks_[i].address + chunks_[i].bytes;
    return address >= chunks_[i].address && address < end;
  };
  // A walk stays in a chunk or goes on to the next older one.
  if (last_chunk_ < chunks_.size() && holds(last_chunk_)) return last_chunk_;
  if (last_chunk_ + 1 < chunks_.size() && holds(last_chunk_ + 1)) return ++last_chunk_;
  for (size_t i = 0; i < chunks_.size(); ++i) {
    if (holds(i)) return last_chunk_ = i;
  }
  return kNoChunk;
}

DataStackReader::RawFrame DataStackReader::Parse(const std::byte* at) const {
  const layout::Frame& frame = table_->frame;
  return {.code = Load<Address>(at + frame.code) & ~frame.code_tags,
          .previous = Load<Address>(at + frame.previous),
          .instr = Load<Address>(at + frame.instr),
          .stacktop = Load<int32_t>(at + frame.stacktop),
          .copy = frame.copy == layout::kNone ? uint16_t{0} : CopyNumber(at + frame.copy),
          .owner = Load<uint8_t>(at + frame.owner),
          .is_entry = frame.is_entry != layout::kNone && Load<uint8_t>(at + frame.is_entry) != 0};
}

void DataStackReader::Remember(Address address, uint32_t size) {
  auto it =
      std::lower_bound(heap_.begin(), heap_.end(), address,
                       [](const HeapFrame& frame, Address value) { return frame.address < value; });
  if (it != heap_.end() && it->address == address) {
    it->size = std::max(it->size, size);
    it->last_used = sample_;
    return;
  }
  if (heap_.size() < kMaxHeap) heap_.insert(it, {address, size, sample_});
}

bool DataStackReader::HeapAt(Address address, RawFrame* out) {
  const uint32_t header = table_->frame.locals;
  const std::byte* at = AtOrRead(address, header);
  if (at == nullptr) return false;
  *out = Parse(at);
  if (IsMarker(*out)) {
    if (address != base_frame_) Remember(address, header);
    return true;
  }
  if (out->owner != static_cast<uint8_t>(Owner::kGenerator)) return false;
  // The whole frame, so that what it iterates over (on its own stack) is in the image, too.
  uint32_t size = header;
  if (const Code* code = codes_->Find(out->code)) size = std::max(size, code->frame_bytes);
  Remember(address, size);
  return true;
}

bool DataStackReader::LinkedAt(Address address, RawFrame* out) {
  const uint32_t header = table_->frame.locals;
  const std::byte* at = AtOrRead(address, header);
  if (at == nullptr) return false;
  *out = Parse(at);
  Remember(address, header);
  return out->owner == static_cast<uint8_t>(Owner::kThread);
}

bool DataStackReader::CanPush(const RawFrame& raw, const Code& code) const {
  // The trampoline of Class() stands at its first unit while __init__ runs.
  return (code.shim && UnitOf(code, raw) == 0) ||
         (FlagsOf(code, raw) & (kUnitPush | kUnitOpaque)) != 0;
}

bool DataStackReader::MovedAway(const RawFrame& raw, const Code& code) const {
  return (FlagsOf(code, raw) & kUnitMove) != 0;
}

bool DataStackReader::Dead(const RawFrame& raw, const Code& code) const {
  return raw.stacktop != -1 && (FlagsOf(code, raw) & kUnitReturn) != 0;
}

bool DataStackReader::Nested(const RawFrame& raw, const Code& code, Address parent) {
  if (raw.previous == parent && table_->c_entry_frames) return false;
  if (marks_executing_) {
    if (raw.stacktop != -1 &&
        (raw.stacktop < code.nlocalsplus ||
         (FlagsOf(code, raw) & (kUnitPush | kUnitIterate | kUnitOpaque)) == 0)) {
      return false;
    }
  } else if (MovedAway(raw, code)) {
    return false;
  }
  if (!ChainTo(raw.previous, parent)) return false;
  const bool called_by_generator = !between_.empty() && between_.front() == raw.previous;
  if (!marks_executing_) return !called_by_generator || MayHaveCalled(between_raw_.front());
  if (table_->frame.is_entry == layout::kNone) {
    return !called_by_generator || between_raw_.front().stacktop != -1;
  }
  if (called_by_generator && !raw.is_entry && between_raw_.front().stacktop == -1) return false;
  return between_.empty() ? raw.is_entry : between_raw_.back().is_entry;
}

// 3.14+: `raw` stands where it may have called another frame inline.
bool DataStackReader::MayHaveCalled(const RawFrame& raw) const {
  const Code* code = codes_->Find(raw.code);
  return code == nullptr || !Stands(raw, *code) || CanPush(raw, *code);
}

void DataStackReader::ClearBetween() {
  between_.clear();
  between_raw_.clear();
  markers_.clear();
}

bool DataStackReader::ChainTo(Address from, Address parent) {
  ClearBetween();
  for (Address at = from; at != parent;) {
    if (at == 0 || OnDataStack(at) || between_.size() > kMaxOffStack) return false;
    // Nothing of the thread can be below its first frame's entry marker.
    if (parent == 0 && between_.empty() && OnCStack(at)) return true;
    RawFrame raw;
    if (!HeapAt(at, &raw)) return false;
    if (raw.owner == static_cast<uint8_t>(Owner::kGenerator)) {
      between_.push_back(at);
      between_raw_.push_back(raw);
    } else if (at != base_frame_) {
      markers_.push_back(at);
    }
    if (raw.previous == at) return false;
    at = raw.previous;
  }
  return true;
}

// Only of a stack that was decided: what a leftover leads to may look like a marker, and lie
// anywhere.
void DataStackReader::LearnMarkers() {
  for (const Address address : markers_) {
    if (c_stack_low_ == 0 || address < c_stack_low_) c_stack_low_ = address;
    c_stack_high_ = std::max(c_stack_high_, address);
  }
  markers_.clear();
}

bool DataStackReader::PushBetween(int64_t now_ns) {
  const size_t size = next_.size();
  for (size_t i = between_.size(); i-- > 0;) {
    if (Push(between_[i], between_raw_[i], now_ns)) continue;
    next_.resize(size);
    next_raw_.resize(size);
    next_unchanged_ = std::min(next_unchanged_, size);
    return false;
  }
  LearnMarkers();
  return true;
}

Decision DataStackReader::Decide(const std::byte* bytes, bool exact, int64_t now_ns) {
  ++sample_;
  const layout::Thread& at = table_->thread;
  const std::byte* words = bytes + pieces_[words_piece_].offset;
  auto word = [&](uint32_t field) { return Load<Address>(words + (field - first_word_)); };
  if (word(at.identity) != identity_) return Decision::kGone;
  if (at.status != layout::kNone && !table_->free_threaded) {
    holds_gil_ = (static_cast<uint32_t>(word(at.status)) & layout::kThreadActive) != 0;
    if (at.gil_requested != layout::kNone) {
      wants_gil_ = static_cast<uint32_t>(word(at.gil_requested)) != 0;
    }
  }
  const Address chunk = word(at.chunk), top = word(at.top);
  current_frame_ = word(at.current_frame);
  if (at.cframe_frame != layout::kNone) {
    const Address cframe = current_frame_;
    if (cframe == cframe_ && cframe != 0) {
      const Piece& piece = pieces_[split_ ? pieces_.size() - 2 : pieces_.size() - 1];
      current_frame_ = Load<Address>(bytes + piece.offset);
    } else {
      // The C frame record moved (a new eval loop began or ended).
      cframe_ = cframe;
      current_frame_ = 0;
      if (exact && cframe != 0 && !memory_->ReadValue(cframe + at.cframe_frame, &current_frame_)) {
        return Decision::kUnreadable;
      }
    }
  }
  if (!known_ || chunk != newest_chunk_ ||
      (!chunks_.empty() && (top < chunks_.front().address + layout::kChunkData || top > limit_))) {
    known_ = false;
    if ((chunk != 0 || current_frame_ != 0) && !linked_) return Decision::kAgain;
  }
  if (chunk == 0 && current_frame_ == 0) {
    frames_.clear();
    raw_.clear();
    unchanged_ = 0;
    return Decision::kOk;
  }
  last_chunk_ = 0;
  BeginDecision(bytes, now_ns);
  if (known_ && !chunks_.empty()) {
    const Piece& newest = pieces_[newest_piece_];
    const std::byte* data = bytes + newest.offset;
    Address begin = newest.range.address;
    if (split_) {
      // Put the two parts together, so that slots are contiguous.
      const Piece& rest = pieces_[rest_piece_];
      newest_.resize(rest.range.size + newest.range.size);
      std::memcpy(newest_.data(), bytes + rest.offset, rest.range.size);
      std::memcpy(newest_.data() + rest.range.size, data, newest.range.size);
      begin = rest.range.address;
      data = newest_.data();
    }
    const Address end = newest.range.address + newest.range.size;
    chunks_.front().data = data;
    chunks_.front().read = end - begin;
    regions_.push_back({begin, end, data});
    for (const Piece& piece : pieces_) {
      if (&piece == &newest ||
          (split_ && (&piece == &pieces_[rest_piece_] || &piece == &pieces_[anchor_piece_]))) {
        continue;
      }
      regions_.push_back(
          {piece.range.address, piece.range.address + piece.range.size, bytes + piece.offset});
    }
    // Sealed chunks say how far they are used; that must be what was read.
    const size_t first_sealed = words_piece_ - (chunks_.size() - 1);
    for (size_t i = 1; i < chunks_.size(); ++i) {
      const Piece& piece = pieces_[first_sealed + i - 1];
      const std::byte* header = bytes + piece.offset;
      chunks_[i].data = header;
      chunks_[i].read = piece.range.size;
      if (layout::kChunkData + Load<uint64_t>(header + layout::kChunkTop) * 8 != chunks_[i].bytes) {
        known_ = false;
        return Decision::kAgain;
      }
    }
    if (split_ &&
        std::memcmp(bytes + pieces_[anchor_piece_].offset, bytes + newest.offset, kAnchor) != 0) {
      // The frames at the anchor changed during the read: what lies below may be of another stack.
      top_ = top;
      return Decision::kAgain;
    }
  }
  if (linked_) {
    for (const Piece& piece : pieces_) {
      regions_.push_back(
          {piece.range.address, piece.range.address + piece.range.size, bytes + piece.offset});
    }
  }
  top_ = top;
  const Decision decision = exact || linked_ ? DecideExact(now_ns) : DecideFree(now_ns);
  attempts_ = decision == Decision::kAgain ? attempts_ + 1 : 0;
  if (decision == Decision::kOk) Accept();
  if ((sample_ & 15) == 0 || heap_.size() == kMaxHeap) {
    std::erase_if(heap_, [&](const HeapFrame& frame) {
      return sample_ - frame.last_used > (heap_.size() < 64 ? kHeapTtl : 2);
    });
  }
  return decision;
}

// While an eval loop is being entered, the thread already names its C frame record (3.11, 3.12),
// but the record names no frame yet, or still that of an older loop. Once it is set, the frame that
// the loop began with leads to the frame of the loop below.
bool DataStackReader::EntryIsSet() {
  const layout::Thread& at = table_->thread;
  if (at.cframe_frame == layout::kNone) return true;
  if (current_frame_ == 0) return false;
  const uint32_t header = table_->frame.locals;
  const std::byte* top = AtOrRead(current_frame_, header);
  if (top == nullptr) return false;
  RawFrame raw = Parse(top);
  if (raw.stacktop == -1) return true;
  Address record[2], below = 0;  // current_frame, previous
  if (!memory_->ReadExact(cframe_ + at.cframe_frame, record, sizeof record) ||
      !memory_->ReadValue(record[1] + at.cframe_frame, &below)) {
    return false;
  }
  for (size_t i = 0; i < kMaxFrames; ++i) {
    if (raw.is_entry || IsMarker(raw)) {
      return raw.previous == below;
    }
    const std::byte* next = raw.previous == 0 ? nullptr : AtOrRead(raw.previous, header);
    if (next == nullptr) return false;
    raw = Parse(next);
  }
  return false;
}

Decision DataStackReader::DecideExact(int64_t now_ns) {
  const uint32_t header = table_->frame.locals;
  size_t off_stack = 0;
  // Leaf first, then turned round.
  if (!EntryIsSet()) return linked_ ? Decision::kTorn : DecideFree(now_ns);
  ClearBetween();
  // A chain of garbage may be a circle: remember a frame at each power of two of steps (Brent).
  Address seen = 0;
  size_t steps = 0, mark = 1;
  const Address first_slot = chunks_.empty() ? 0 : chunks_.back().address + layout::kChunkData + 8;
  bool at_first_slot = false;
  for (Address at = current_frame_; at != 0;) {
    if (at_first_slot && OnCStack(at)) break;  // the entry marker of the thread's first frame
    at_first_slot = at == first_slot;
    RawFrame raw;
    if (const size_t chunk = ChunkOf(at); chunk != kNoChunk) {
      const uint64_t offset = at - chunks_[chunk].address;
      const std::byte* bytes = Fits(offset, header, chunks_[chunk].read)
                                   ? chunks_[chunk].data + offset
                                   : AtOrRead(at, header);
      if (bytes == nullptr) return Decision::kUnreadable;
      raw = Parse(bytes);
    } else {
      if (++off_stack > kMaxOffStack) return Decision::kTorn;
      if (!HeapAt(at, &raw) && !(linked_ && LinkedAt(at, &raw))) return Decision::kUnreadable;
    }
    if (!IsMarker(raw)) {
      between_.push_back(at);
      between_raw_.push_back(raw);
    } else if (at != base_frame_) {
      markers_.push_back(at);
    }
    if (++steps == mark) {
      mark *= 2;
      seen = at;
    }
    at = raw.previous;
    if (at == seen) return Decision::kTorn;
  }
  if (PushBetween(now_ns)) return Decision::kOk;
  if (table_->thread.cframe_frame == layout::kNone || linked_) return Decision::kUnreadable;
  ClearNext();
  return DecideFree(now_ns);
}

// Generators that run through C leave no trace above the caller: look among those met lately, then
// at the hint.
bool DataStackReader::FindGeneratorAbove(Address parent, Address slot, const RawFrame& above,
                                         int64_t now_ns, Address* address, RawFrame* raw) {
  const uint32_t header = table_->frame.locals;
  auto alive = [&](const RawFrame& frame) {
    if (frame.owner != static_cast<uint8_t>(Owner::kGenerator) || frame.previous == 0) return false;
    if (!marks_executing_ || frame.stacktop == -1) return true;
    const Code* code = codes_->Find(frame.code);
    return code != nullptr && Stands(frame, *code) && frame.stacktop >= code->nlocalsplus &&
           (FlagsOf(*code, frame) & (kUnitPush | kUnitIterate)) != 0;
  };
  // 3.14+: a generator that was linked without C code in between stands above FOR_ITER or SEND.
  auto linked_at_iteration = [&] {
    if (marks_executing_ || parent == 0 || between_raw_.back().previous != parent) return true;
    const uint8_t flags = FlagsOf(*next_.back().code, next_raw_.back());
    return (flags & (kUnitIterate | kUnitOpaque)) != 0;
  };
  for (size_t i = heap_.size(); i-- > 0;) {
    const std::byte* at = At(heap_[i].address, header);
    if (at == nullptr) continue;
    *raw = Parse(at);
    if (!alive(*raw)) continue;
    *address = heap_[i].address;
    if (!ChainTo(*address, parent) || between_.empty() || !linked_at_iteration()) continue;
    // What was freed may still look alive, and lead here.
    if (PushBetween(now_ns)) return true;
  }
  if (current_frame_ == 0 && cframe_ != 0) {  // the record moved: ask the new one
    memory_->ReadValue(cframe_ + table_->thread.cframe_frame, &current_frame_);
  }
  auto takes = [&](Address candidate) {
    if (!PlausiblePointer(candidate) || OnDataStack(candidate) || OnCStack(candidate)) return false;
    *address = candidate;
    return HeapAt(candidate, raw) && alive(*raw) && ChainTo(candidate, parent) &&
           !between_.empty() && linked_at_iteration();
  };
  if (takes(current_frame_) && PushBetween(now_ns)) return true;
  // The caller of what stood last in the slot above, where a generator called it inline. A leftover
  // that led nowhere leads nowhere as long as it lies there: no late read for it again, unless the
  // thread names it as current.
  if (above != rejected_above_ || current_frame_ == slot) {
    if (takes(above.previous) && PushBetween(now_ns)) return true;
    rejected_above_ = above;
  }
  return false;
}

Decision DataStackReader::DecideFree(int64_t now_ns) {
  const uint32_t header = table_->frame.locals;
  Address parent = 0;
  RawFrame parent_raw{.stacktop = -1};
  const Code* parent_code = nullptr;
  auto descend = [&](Address address, const RawFrame& raw) {
    parent = address;
    parent_raw = raw;
    parent_code = next_.back().code;
  };

  // The last chunk of the list is the root; its first word is skipped.
  size_t chunk = chunks_.size();
  Address slot = 0, chunk_end = 0;
  auto next_chunk = [&] {
    if (chunk == 0) return false;
    --chunk;
    slot = chunks_[chunk].address + layout::kChunkData + (chunk + 1 == chunks_.size() ? 8 : 0);
    chunk_end = chunk == 0 ? limit_ : chunks_[chunk].address + chunks_[chunk].bytes;
    return true;
  };
  if (!next_chunk()) return Decision::kOk;
  // True when a living frame stands at `address` that C code called from `parent`.
  auto nested_at = [&](Address address) {
    const uint64_t offset = address - chunks_[chunk].address;
    if (!Fits(offset, header, chunks_[chunk].read)) return false;
    const RawFrame raw = Parse(chunks_[chunk].data + offset);
    if (raw.owner != static_cast<uint8_t>(Owner::kThread)) return false;
    const Code* code = CodeOf(raw, now_ns);
    return code != nullptr && Nested(raw, *code, parent);
  };

  // The frames at the root that have not moved since the last sample, all at once: what was
  // concluded from the same words holds. Not the last one, above which something may stand now.
  const layout::Frame& field = table_->frame;
  size_t same = 0;
  for (; same + 1 < frames_.size(); ++same) {
    const Address address = frames_[same].address;
    while (chunk > 0 && address - chunks_[chunk].address >= chunks_[chunk].bytes) {
      if (!next_chunk()) break;
    }
    const uint64_t offset = address - chunks_[chunk].address;
    if (!Fits(offset, header, chunks_[chunk].read)) break;  // off the data stack, or not read
    const std::byte* at = chunks_[chunk].data + offset;
    const RawFrame& raw = raw_[same];
    if ((Load<Address>(at + field.code) & ~field.code_tags) != raw.code ||
        Load<Address>(at + field.previous) != raw.previous ||
        Load<Address>(at + field.instr) != raw.instr ||
        Load<int32_t>(at + field.stacktop) != raw.stacktop ||
        Load<uint8_t>(at + field.owner) != raw.owner) {
      break;
    }
  }
  if (same > 0) {
    next_.assign(frames_.begin(), frames_.begin() + static_cast<ptrdiff_t>(same));
    next_raw_.assign(raw_.begin(), raw_.begin() + static_cast<ptrdiff_t>(same));
    next_unchanged_ = same;
    descend(next_.back().address, next_raw_.back());
    slot = parent + parent_code->frame_bytes;
  }

  for (;;) {
    // From 3.14 on a frame does not tell whether it executes or has called inline: both are tried.
    const bool executing = !marks_executing_ || parent_raw.stacktop == -1;
    const bool calling = !marks_executing_ || parent_raw.stacktop != -1;
    if (marks_executing_ && calling && !table_->generators_run_through_c &&
        (FlagsOf(*parent_code, parent_raw) & kUnitIterate) != 0) {
      // Suspended at FOR_ITER or SEND: the callee is the generator on top of the caller's stack. A
      // slot whose previous is the caller would be a leftover of RETURN_GENERATOR.
      const Address at = parent + header + static_cast<Address>(parent_raw.stacktop - 1) * 8;
      const std::byte* word = parent_raw.stacktop > 0 ? AtOrRead(at, 8) : nullptr;
      const Address generator = word != nullptr ? Load<Address>(word) : 0;
      const Address frame = generator + table_->generator.frame;
      RawFrame raw;
      if (PlausiblePointer(generator) && HeapAt(frame, &raw) && raw.previous == parent) {
        // While a finished one is cleared, a destructor may run, called from `parent`.
        const Code* code = CodeOf(raw, now_ns);
        if (code == nullptr) break;
        if (!Dead(raw, *code) || !nested_at(slot)) {
          if (!Push(frame, raw, now_ns)) break;
          descend(frame, raw);
          continue;
        }
      }
    }

    // The slot above.
    if (slot + header > chunk_end && !next_chunk()) break;
    const uint64_t offset = slot - chunks_[chunk].address;
    if (!Fits(offset, header, chunks_[chunk].read)) {
      // The stack is higher than predicted; read again at the top that the thread state has named.
      if (slot + header <= top_ && attempts_ < 2) return Decision::kAgain;
      break;
    }
    RawFrame raw = Parse(chunks_[chunk].data + offset);
    const size_t i = next_.size();
    // Not for a dead frame: what stands above it decides.
    if (i == next_unchanged_ && i < frames_.size() && frames_[i].address == slot &&
        raw_[i] == raw && !Dead(raw, *frames_[i].code)) {
      Push(slot, raw, now_ns);
      descend(slot, raw);
      slot += parent_code->frame_bytes;
      continue;
    }
    const Code* code =
        raw.owner == static_cast<uint8_t>(Owner::kThread) ? CodeOf(raw, now_ns) : nullptr;
    bool accepted = false;
    if (code != nullptr) {
      // Of a chunk read in two parts, the lower one is the later instant: a dead frame above says
      // nothing about it.
      const bool later = split_ && chunk == 0 && parent < split_at_ && slot >= split_at_;
      if (calling && parent != 0 && raw.previous == parent && CanPush(parent_raw, *parent_code) &&
          !(later && Dead(raw, *code)) && !MovedAway(raw, *code)) {
        accepted = true;  // the callee, also if it died within the read
        ClearBetween();
        if (Dead(raw, *code)) {
          // Likewise above a dead frame.
          if (nested_at(slot + code->frame_bytes)) {
            slot += code->frame_bytes;
            raw = Parse(chunks_[chunk].data + (slot - chunks_[chunk].address));
          } else {
            ClearBetween();
          }
        }
      } else {
        accepted = Nested(raw, *code, parent);
      }
    }
    if (accepted) {
      if (!PushBetween(now_ns) || !Push(slot, raw, now_ns)) break;
      descend(slot, raw);
      slot += parent_code->frame_bytes;
      continue;
    }
    Address address = 0;
    RawFrame generator;
    if (!executing || !FindGeneratorAbove(parent, slot, raw, now_ns, &address, &generator)) {
      break;
    }
    descend(address, generator);
  }
  if (!marks_executing_) return Decision::kOk;
  // A living chain ends in an executing frame, or in one that is being pushed or popped, or moved
  // into a generator, which is before its first line. What an exception unwound looks alive, but
  // does not.
  if (!next_.empty() && next_raw_.back().stacktop != -1 &&
      next_.back().unit > int64_t{next_.back().code->first_traceable} &&
      !Dead(next_raw_.back(), *next_.back().code)) {
    size_t alive = next_.size();
    while (alive > 0 && next_raw_[alive - 1].stacktop != -1) --alive;
    // Unless the data stack still holds it: then an exception is just unwinding it.
    if (alive < next_.size() && OnDataStack(next_[alive].address) && top_ > next_[alive].address) {
      alive = 0;
    }
    if (alive > 0) {
      next_.resize(alive);
      next_raw_.resize(alive);
      next_unchanged_ = std::min(next_unchanged_, alive);
    }
  }
  return Decision::kOk;
}

}  // namespace linescope
