#include "python/frame_object_reader.h"

#include <algorithm>

#include "python/target_words.h"

namespace linescope {
namespace {

// Frames that were not met for so many samples are no longer read ahead: each costs time, and what
// is read is an instant the wider for it.
constexpr uint32_t kTtl = 8;
// With more of them than that, only those of the last sample are.
constexpr size_t kMaxSpare = 64;
constexpr size_t kMaxKnown = 1 << 16;

}  // namespace

void FrameObjectReader::ResetPrediction() {
  known_.clear();
  dynamic_.clear();
}

void FrameObjectReader::Plan(bool exact, std::vector<RemoteRange>* ranges) {
  ClearPlan();
  const uint32_t header = table_->frame.locals;
  for (Known& known : known_) {
    const bool merge =
        !pieces_.empty() &&
        known.address - (pieces_.back().range.address + pieces_.back().range.size) < kMergeGap;
    if (merge) {
      const size_t more =
          known.address + header - (pieces_.back().range.address + pieces_.back().range.size);
      pieces_.back().range.size += more;
      ranges->back().size += more;
      planned_bytes_ += more;
    } else {
      Add(known.address, header, ranges);
    }
    known.piece = pieces_.size() - 1;
  }
  frame_pieces_ = pieces_.size();
  AddDynamic(ranges);
  const layout::Thread& at = table_->thread;
  words_piece_ = Add(tstate_ + at.current_frame, at.identity + 8 - at.current_frame, ranges);
  twice_ = !exact || moved_;
  moved_ = false;
  for (size_t i = frame_pieces_; twice_ && i-- > 0;) {
    Add(pieces_[i].range.address, pieces_[i].range.size, ranges);
  }
}

FrameObjectReader::RawFrame FrameObjectReader::Parse(const std::byte* at) const {
  const layout::Frame& frame = table_->frame;
  const auto position = Load<int32_t>(at + frame.instr);
  return {.code = Load<Address>(at + frame.code),
          .previous = Load<Address>(at + frame.previous),
          .instr = static_cast<Address>(int64_t{position}) *
                   (table_->position == layout::Position::kUnits || position < 0 ? 2 : 1),
          .owner = Load<uint8_t>(at + frame.owner)};
}

size_t FrameObjectReader::Find(Address address) const {
  const auto it = std::ranges::lower_bound(known_, address, {}, &Known::address);
  return it != known_.end() && it->address == address ? static_cast<size_t>(it - known_.begin())
                                                      : kNotKnown;
}

size_t FrameObjectReader::Place(size_t i) {
  const Address address = frames_[i].address;
  if (i >= places_.size()) places_.resize(frames_.size());
  const size_t place = places_[i];
  if (place < known_.size() && known_[place].address == address) return place;
  return places_[i] = Find(address);
}

bool FrameObjectReader::Frame(Address address, size_t* below, RawFrame* out) {
  // Mostly the stack is that of the last sample, but for its top.
  size_t place = kNotKnown;
  constexpr size_t kLookback = 4;
  for (size_t i = *below; i-- > 0 && i + kLookback >= *below;) {
    if (frames_[i].address != address) continue;
    *below = i;
    place = Place(i);
    break;
  }
  if (place == kNotKnown) place = Find(address);
  if (place != kNotKnown) {
    *out = known_[place].raw;
    return true;
  }
  const std::byte* at = AtOrRead(address, table_->frame.locals);
  if (at == nullptr) return false;
  *out = Parse(at);
  return true;
}

size_t FrameObjectReader::CalleeOf(Address caller) const {
  size_t found = kNotKnown;
  for (size_t i = 0; i < known_.size(); ++i) {
    const RawFrame& raw = known_[i].raw;
    if (raw.previous != caller || !Executes(raw) || known_[i].address == caller) continue;
    // Of two, one has returned in between.
    if (found == kNotKnown || Executes(known_[i].again)) found = i;
  }
  return found;
}

bool FrameObjectReader::Follow(Address from, Address stop, bool executing) {
  chain_.clear();
  // A chain of garbage may be a circle: remember a frame at each power of two of steps (Brent).
  Address seen = 0;
  size_t mark = 1, below = frames_.size();
  Address at = from;
  while (at != stop && at != 0) {
    Link link{.address = at, .raw = {}};
    if (at == seen || chain_.size() >= kMaxFrames || !Frame(at, &below, &link.raw)) return false;
    if (executing && !Executes(link.raw)) {
      // The newest one may be just entered or left.
      if (at != from) return false;
    } else {
      chain_.push_back(link);
    }
    if (chain_.size() == mark) {
      mark *= 2;
      seen = at;
    }
    at = link.raw.previous;
  }
  return at == stop;
}

bool FrameObjectReader::PushChain(int64_t now_ns) {
  for (size_t i = chain_.size(); i-- > 0;) {
    if (!Push(chain_[i].address, chain_[i].raw, now_ns)) return false;
  }
  return true;
}

Decision FrameObjectReader::DecideExact(int64_t now_ns) {
  if (!Follow(current_frame_, 0, false)) return Decision::kUnreadable;
  return PushChain(now_ns) ? Decision::kOk : Decision::kUnreadable;
}

Decision FrameObjectReader::DecideFree(int64_t now_ns) {
  // From the root up, as far as the image goes.
  Address top = 0;
  size_t caller = kNotKnown;
  for (size_t i = 0; next_.size() <= known_.size(); ++i) {
    size_t callee = kNotKnown;
    // Where the stack of the last sample still stands, no search is needed.
    if (i < frames_.size()) {
      const size_t same = Place(i);
      if (same != kNotKnown && known_[same].raw.previous == top && Executes(known_[same].raw)) {
        callee = same;
      }
    }
    if (callee == kNotKnown) callee = CalleeOf(top);
    if (callee == kNotKnown) break;
    if (caller != kNotKnown) {
      const Known& below = known_[caller];
      if (known_[callee].piece < below.piece && !Executes(known_[callee].again)) {
        // Read before and after the caller instead of in between, and gone by then.
        break;
      }
      if (below.again != below.raw) {
        // It went on while its callees were read: they are not what it calls now.
        if (Executes(below.again) && below.again.previous == below.raw.previous) {
          DropTop();
          Push(below.address, below.again, now_ns);
        }
        break;
      }
    }
    if (!Push(known_[callee].address, known_[callee].raw, now_ns)) break;
    top = known_[callee].address;
    caller = callee;
  }
  // What is called through frames that no sample met of late: the thread names it, and its callers
  // lead to the top found.
  const bool found = current_frame_ == top ||
                     std::ranges::find(next_, current_frame_, &StackFrame::address) != next_.end();
  if (current_frame_ != 0 && !found &&
      (caller == kNotKnown || known_[caller].again == next_raw_.back()) &&
      Follow(current_frame_, top, true)) {
    PushUnmet(now_ns);
  }
  return next_.empty() && current_frame_ != 0 ? Decision::kAgain : Decision::kOk;
}

void FrameObjectReader::DropTop() {
  next_.pop_back();
  next_raw_.pop_back();
  next_unchanged_ = std::min(next_unchanged_, next_.size());
}

// Of `chain_`, what was called by a frame that stood where it was before and after its callee was
// read.
void FrameObjectReader::PushUnmet(int64_t now_ns) {
  const uint32_t header = table_->frame.locals;
  for (size_t i = chain_.size(); i-- > 0;) {
    if (!next_.empty()) {
      std::byte now[256];
      if (header > sizeof now || !memory_->ReadExact(next_.back().address, now, header) ||
          Parse(now) != next_raw_.back()) {
        return;
      }
    }
    if (!Push(chain_[i].address, chain_[i].raw, now_ns)) return;
  }
}

// What was met is read ahead from now on, and what was not met for long no more.
void FrameObjectReader::Remember() {
  places_.resize(frames_.size(), kNotKnown);
  for (size_t i = 0; i < frames_.size(); ++i) {
    if (const size_t place = Place(i); place != kNotKnown) {
      known_[place].last_used = sample_;
    } else if (known_.size() + fresh_.size() < kMaxKnown) {
      fresh_.push_back(
          {.address = frames_[i].address, .last_used = sample_, .raw = {}, .again = {}});
    }
  }
  if (!fresh_.empty()) {
    known_.insert(known_.end(), fresh_.begin(), fresh_.end());
    fresh_.clear();
    std::ranges::sort(known_, {}, &Known::address);
  }
  if ((sample_ & 15) == 0 || known_.size() > kMaxKnown / 2) {
    const uint32_t ttl = known_.size() > frames_.size() + kMaxSpare ? 2 : kTtl;
    std::erase_if(known_, [&](const Known& frame) { return sample_ - frame.last_used > ttl; });
  }
}

Decision FrameObjectReader::Decide(const std::byte* bytes, bool exact, int64_t now_ns) {
  ++sample_;
  const layout::Thread& at = table_->thread;
  const std::byte* words = bytes + pieces_[words_piece_].offset;
  if (Load<uint64_t>(words + (at.identity - at.current_frame)) != identity_) {
    return Decision::kGone;
  }
  current_frame_ = Load<Address>(words);
  BeginDecision(bytes, now_ns);
  for (Known& known : known_) {
    auto parse = [&](const Piece& piece) {
      return Parse(bytes + piece.offset + (known.address - piece.range.address));
    };
    known.raw = parse(pieces_[known.piece]);
    known.again = twice_ ? parse(pieces_[words_piece_ + frame_pieces_ - known.piece]) : known.raw;
  }
  // Planned for a thread that stands still, but it ran.
  moved_ = !exact && !twice_;
  if (moved_) return Decision::kAgain;
  const Decision decision = exact ? DecideExact(now_ns) : DecideFree(now_ns);
  if (decision == Decision::kOk) {
    Accept();
    Remember();
  }
  return decision;
}

}  // namespace linescope
