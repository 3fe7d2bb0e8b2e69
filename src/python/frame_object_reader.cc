#include "python/frame_object_reader.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "python/target_words.h"

namespace linescope {
namespace {

// Frames that were not met for so many samples are no longer read ahead, for each costs time. What
// stands still can be read later as well; of what runs, only what was read ahead can be known.
constexpr uint32_t kTtlExact = 8, kTtlFree = 2048;
// With more of them beside a stack, those met last are: what is read is an instant the wider for
// each.
constexpr size_t kMaxSpare = 36;
constexpr size_t kMaxKnown = 1 << 16;

}  // namespace

void FrameObjectReader::ResetPrediction() {
  known_.clear();
  ordered_ = false;
  uncertain_.clear();
}

void FrameObjectReader::OrderByDepth() {
  order_.resize(known_.size());
  std::iota(order_.begin(), order_.end(), size_t{0});
  std::ranges::stable_sort(order_, {}, [&](size_t i) { return known_[i].depth; });
  ordered_ = true;
}

// To the last range when it is near.
void FrameObjectReader::AddFrame(Known* known, std::vector<RemoteRange>* ranges) {
  const uint32_t header = table_->frame.locals;
  const Address begin = known->address, end = begin + header;
  if (!pieces_.empty()) {
    RemoteRange& last = pieces_.back().range;
    const Address first = std::min(last.address, begin);
    const Address last_end = std::max(last.address + last.size, end);
    if (last_end - first <= last.size + header + kMergeGap) {
      planned_bytes_ += last_end - first - last.size;
      last = {first, last_end - first};
      ranges->back() = last;
      known->piece = pieces_.size() - 1;
      return;
    }
  }
  known->piece = Add(begin, header, ranges);
}

void FrameObjectReader::Plan(bool exact, std::vector<RemoteRange>* ranges) {
  ClearPlan();
  twice_ = !exact || moved_;
  moved_ = false;
  // By address there are fewer ranges, but the order matters only while the thread runs.
  if (twice_ && !ordered_) OrderByDepth();
  for (size_t i = 0; i < known_.size(); ++i) AddFrame(&known_[twice_ ? order_[i] : i], ranges);
  frame_pieces_ = pieces_.size();
  AddUncertain(ranges);
  const layout::Thread& at = table_->thread;
  words_piece_ = Add(tstate_ + at.current_frame, at.identity + 8 - at.current_frame, ranges);
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

size_t FrameObjectReader::KnownPlace(Address address, size_t* below) {
  // Mostly the stack is that of the last sample, but for its top.
  constexpr size_t kLookback = 4;
  for (size_t i = *below; i-- > 0 && i + kLookback >= *below;) {
    if (frames_[i].address != address) continue;
    *below = i;
    if (const size_t place = Place(i); place != kNotKnown) return place;
    break;
  }
  return Find(address);
}

// 0: whoever stands there has called nobody.
int FrameObjectReader::Calls(const RawFrame& raw) const {
  if (!Executes(raw)) return 0;
  const Code* code = codes_->Find(raw.code);
  if (code == nullptr || !code->Contains(raw.instr)) return 1;
  const uint8_t flags = FlagsOf(*code, raw);
  return (flags & kUnitCall) != 0 ? 2 : (flags & kUnitPush) != 0 ? 1 : 0;
}

bool FrameObjectReader::Frame(Address address, size_t* below, RawFrame* out) {
  const size_t place = KnownPlace(address, below);
  if (place != kNotKnown) {
    // As late as can be: what is not known is read later still.
    *out = known_[place].again;
    return true;
  }
  const std::byte* at = AtOrRead(address, table_->frame.locals);
  if (at == nullptr) return false;
  *out = Parse(at);
  return true;
}

size_t FrameObjectReader::CalleeOf(Address caller) {
  // Where the stack of the last sample still stands, no search is needed.
  if (const size_t depth = next_.size(); depth < frames_.size()) {
    const size_t same = Place(depth);
    if (same != kNotKnown && known_[same].raw.previous == caller && Executes(known_[same].raw)) {
      return same;
    }
  }
  size_t found = kNotKnown;
  for (size_t i = 0; i < known_.size(); ++i) {
    const RawFrame& raw = known_[i].raw;
    if (raw.previous != caller || !Executes(raw) || known_[i].address == caller) continue;
    // Of two, one has returned in between.
    if (found == kNotKnown || Executes(known_[i].again)) found = i;
  }
  return found;
}

bool FrameObjectReader::HasCallee(Address caller, RawFrame Known::* reading) const {
  return std::ranges::any_of(known_, [&](const Known& frame) {
    return (frame.*reading).previous == caller && Executes(frame.*reading);
  });
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

// Whether the frame stood as it was read first, or as it was read last, when the thread's words
// were read half-way in between. `newest`: it is the one that they name. `callee_before`: what it
// calls executed when that was read first. The frame executes in both readings, and they differ.
bool FrameObjectReader::StoodBefore(const Known& frame, bool newest, bool callee_before) const {
  if (newest) {
    // Whoever was calling has gone on since, or has called since.
    const bool called = HasCallee(frame.address, &Known::raw);
    const bool calls = HasCallee(frame.address, &Known::again);
    // Either is as near: always the same would leave out the begin of functions or their end.
    return called == calls ? sample_ % 2 != 0 : calls;
  }
  const int calls_before = Calls(frame.raw), calls_after = Calls(frame.again);
  return calls_before == calls_after ? callee_before : calls_before > calls_after;
}

// As it was when the thread's words were read, half-way through the reading: the newest frame is
// the one that they name, the others are its callers. That much is certain, so no function loses
// time to its caller because it is short; only the place in a frame that moved on meanwhile is
// that of one of its two readings. False when a frame of the stack is not in the image.
bool FrameObjectReader::FollowWords() {
  chain_.clear();
  size_t below = frames_.size(), steps = 0;
  bool callee_before = true;
  Address at = current_frame_;
  while (at != 0) {
    const size_t place = KnownPlace(at, &below);
    if (place == kNotKnown) unmet_ = at;
    if (place == kNotKnown || ++steps > known_.size()) return false;
    const Known& frame = known_[place];
    const bool newest = chain_.empty();
    const bool before = Executes(frame.raw), after = Executes(frame.again);
    RawFrame raw = before ? frame.raw : frame.again;
    if (before && after && frame.raw != frame.again) {
      if (!StoodBefore(frame, newest, callee_before)) raw = frame.again;
    } else if (!before && !after) {
      // Being entered or left, or called once in between. Its position is where it returns: where
      // it stands when it runs was seen at another time.
      if (!newest || raw.code == 0) return false;
      if (frame.stood.code == raw.code) raw.instr = frame.stood.instr;
      // A generator between two of its steps has no caller.
      if (raw.previous == 0) raw.previous = frame.caller;
    }
    chain_.push_back({at, raw});
    at = raw.previous;
    callee_before = before;
  }
  return true;
}

Decision FrameObjectReader::DecideFree(int64_t now_ns) {
  if (current_frame_ != 0 && FollowWords() && PushChain(now_ns)) return Decision::kOk;
  ClearNext();
  // Every frame at the moment at which it was read first.
  const Address top = PushFromRoot(now_ns);
  const auto is_named = [&](const StackFrame& frame) { return frame.address == current_frame_; };
  if (current_frame_ != 0 && std::ranges::none_of(next_, is_named)) PushUnmet(top, now_ns);
  return next_.empty() && current_frame_ != 0 ? Decision::kAgain : Decision::kOk;
}

// From the root up, as far as the image goes. Returns the newest frame, 0 when there is none.
Address FrameObjectReader::PushFromRoot(int64_t now_ns) {
  Address top = 0;
  size_t caller = kNotKnown;
  while (next_.size() <= known_.size()) {
    const size_t callee = CalleeOf(top);
    if (callee == kNotKnown) break;
    if (caller != kNotKnown) {
      const Known& below = known_[caller];
      // Within a piece by address, in both readings.
      const Known& above = known_[callee];
      const bool first =
          std::pair(above.piece, above.address) < std::pair(below.piece, below.address);
      if (first && !Executes(above.again)) {
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
  return top;
}

void FrameObjectReader::DropTop() {
  next_.pop_back();
  next_raw_.pop_back();
  next_unchanged_ = std::min(next_unchanged_, next_.size());
}

// What is called through frames that no sample met of late: the thread's words name it, and its
// callers lead to `top`. Each must have been called by a frame that stood where it was before and
// after its callee was read.
void FrameObjectReader::PushUnmet(Address top, int64_t now_ns) {
  if (!Follow(current_frame_, top, true)) {
    // Frames of a greenlet that was switched away from execute on, on a root of their own.
    if (!Follow(current_frame_, 0, true) || chain_.empty() || next_.empty() ||
        chain_.back().address == next_[0].address) {
      return;
    }
    ClearNext();
  } else if (!next_.empty() && known_[Find(top)].again != next_raw_.back()) {
    return;
  }
  const uint32_t header = table_->frame.locals;
  both_.resize(size_t{header} * 2);
  for (size_t i = chain_.size(); i-- > 0;) {
    RawFrame raw = chain_[i].raw;
    if (!next_.empty()) {
      // The caller was read last: now the callee, then the caller once more.
      const std::array<RemoteRange, 2> ranges = {
          {{chain_[i].address, header}, {next_.back().address, header}}};
      if (memory_->Read(ranges, both_.data()) != static_cast<ssize_t>(header * 2)) return;
      raw = Parse(both_.data());
      if (!Executes(raw) || raw.previous != next_.back().address ||
          Parse(both_.data() + header) != next_raw_.back()) {
        return;
      }
    }
    if (!Push(chain_[i].address, raw, now_ns)) return;
  }
}

// What was met is read ahead from now on, and what was not met for long no more.
void FrameObjectReader::Remember() {
  places_.resize(frames_.size(), kNotKnown);
  for (size_t i = 0; i < frames_.size(); ++i) {
    if (const size_t place = Place(i); place != kNotKnown) {
      Known& known = known_[place];
      known.last_used = sample_;
      if (known.depth != i) ordered_ = false;
      known.depth = static_cast<uint32_t>(i);
      known.caller = i == 0 ? 0 : frames_[i - 1].address;
    } else if (known_.size() + fresh_.size() < kMaxKnown) {
      fresh_.push_back({.address = frames_[i].address,
                        .last_used = sample_,
                        .depth = static_cast<uint32_t>(i),
                        .caller = i == 0 ? 0 : frames_[i - 1].address,
                        .raw = {},
                        .again = {},
                        .stood = {}});
    }
  }
  // Also when the stack was decided without it: the next one may be known in time.
  const auto is_unmet = [&](const Known& frame) { return frame.address == unmet_; };
  if (unmet_ != 0 && Find(unmet_) == kNotKnown && std::ranges::none_of(fresh_, is_unmet)) {
    fresh_.push_back({.address = unmet_,
                      .last_used = sample_,
                      .depth = static_cast<uint32_t>(frames_.size()),
                      .raw = {},
                      .again = {},
                      .stood = {}});
  }
  if (!fresh_.empty()) {
    known_.insert(known_.end(), fresh_.begin(), fresh_.end());
    fresh_.clear();
    std::ranges::sort(known_, {}, &Known::address);
    ordered_ = false;
  }
  if ((sample_ & 15) == 0 || known_.size() > kMaxKnown / 2) Forget();
}

void FrameObjectReader::Forget() {
  uint32_t ttl = twice_ ? kTtlFree : kTtlExact;
  ages_.clear();
  for (const Known& frame : known_) {
    if (const uint32_t age = sample_ - frame.last_used; age != 0) ages_.push_back(age);
  }
  if (ages_.size() > kMaxSpare) {
    std::ranges::nth_element(ages_, ages_.begin() + kMaxSpare);
    ttl = std::min(ttl, ages_[kMaxSpare] - 1);
  }
  const auto forgotten = [&](const Known& frame) { return sample_ - frame.last_used > ttl; };
  if (std::erase_if(known_, forgotten) != 0) ordered_ = false;
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
    if (Executes(known.raw)) known.stood = known.raw;
    known.again = twice_ ? parse(pieces_[words_piece_ + frame_pieces_ - known.piece]) : known.raw;
  }
  // Planned for a thread that stands still, but it ran.
  moved_ = !exact && !twice_;
  if (moved_) return Decision::kAgain;
  unmet_ = 0;
  const Decision decision = exact ? DecideExact(now_ns) : DecideFree(now_ns);
  if (decision == Decision::kOk) {
    Accept();
    Remember();
  }
  return decision;
}

}  // namespace linescope
