#include "python/coroutine_reader.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "python/target_words.h"

namespace linescope {

CoroutineReader::CoroutineReader(RemoteMemory* memory, const layout::Table* table, CodeCache* codes)
    : objects_(memory, table),
      table_(table),
      at_(&layout::CoroutineFor(table->minor)),
      codes_(codes) {}

CoroutineReader::Kind CoroutineReader::KindOf(Address object) {
  Address type = 0;
  if (!PlausiblePointer(object) ||
      !objects_.memory().ReadValue(object + table_->objects.type, &type) ||
      !PlausiblePointer(type)) {
    return Kind::kOther;
  }
  const auto known = kinds_.find(type);
  if (known != kinds_.end()) return known->second;
  constexpr std::array<std::string_view, 3> kCoroutines = {"coroutine", "generator",
                                                           "async_generator"};
  constexpr std::array<std::string_view, 4> kBetween = {
      "coroutine_wrapper", "async_generator_asend", "async_generator_athrow", "anext_awaitable"};
  const std::string name = objects_.NameOfType(type).value_or("");
  const Kind kind = std::ranges::find(kCoroutines, name) != kCoroutines.end() ? Kind::kCoroutine
                    : std::ranges::find(kBetween, name) != kBetween.end()     ? Kind::kBetween
                    : name == "_asyncio.FutureIter"                           ? Kind::kFuture
                                                                              : Kind::kOther;
  kinds_.emplace(type, kind);
  return kind;
}

bool CoroutineReader::SetPlace(Address code_address, Address instr, int64_t now_ns,
                               StackFrame* frame) {
  if (!PlausiblePointer(code_address)) return false;
  Code* code = codes_->Load(code_address, now_ns);
  // The address may hold another one by now.
  if (code != nullptr && code->IsDue(now_ns) && !codes_->Verify(code, now_ns)) {
    code = codes_->Load(code_address, now_ns);
  }
  if (code == nullptr || !code->Contains(instr)) return false;
  frame->code = code;
  frame->unit = code->UnitOf(instr);
  return true;
}

CoroutineReader::Step CoroutineReader::Read(Address coroutine, int64_t now_ns) {
  return at_->frame_object == layout::kNone ? ReadEmbedded(coroutine, now_ns)
                                            : ReadFrameObject(coroutine, now_ns);
}

CoroutineReader::Step CoroutineReader::ReadEmbedded(Address coroutine, int64_t now_ns) {
  const layout::Frame& at = table_->frame;
  const uint32_t begin = table_->generator.frame;
  Step step;
  bytes_.resize(begin + at.locals);
  if (!objects_.memory().ReadExact(coroutine, bytes_.data(), bytes_.size())) return step;
  const auto state = Load<int8_t>(bytes_.data() + at_->state);
  const std::byte* frame = bytes_.data() + begin;
  step.frame.address = coroutine + begin;
  const bool waits = state >= at_->first_suspended && state <= at_->last_suspended;
  if (!waits && state != at_->created) {
    // Finished ones have no code any more.
    const Address code = Load<Address>(frame + at.code) & ~at.code_tags;
    if (PlausiblePointer(code) && Load<Address>(frame + at.previous) != 0) {
      step.state = State::kRunning;
    }
    return step;
  }
  if (!SetPlace(Load<Address>(frame + at.code) & ~at.code_tags, Load<Address>(frame + at.instr),
                now_ns, &step.frame)) {
    return step;
  }
  step.state = State::kWaiting;
  if (!waits) return step;
  Address end = 0;
  if (table_->liveness == layout::Liveness::kStacktop) {
    const auto depth = Load<int32_t>(frame + at.stacktop);
    if (depth <= step.frame.code->nlocalsplus) return step;
    end = step.frame.address + at.locals + static_cast<Address>(depth) * 8;
  } else {
    end = Load<Address>(frame + at.stacktop);
  }
  const Address first = step.frame.address + at.locals;
  if (end <= first || end > step.frame.address + step.frame.code->frame_bytes) return step;
  const size_t count = std::min<Address>(2, (end - first) / 8);
  if (!objects_.memory().ReadExact(end - count * 8, step.awaited, count * 8)) return step;
  if (count == 2) std::swap(step.awaited[0], step.awaited[1]);
  for (Address& awaited : step.awaited) awaited &= ~at.code_tags;
  return step;
}

CoroutineReader::Step CoroutineReader::ReadFrameObject(Address coroutine, int64_t now_ns) {
  const layout::Frame& at = table_->frame;
  Step step;
  Address frame = 0;
  if (!objects_.memory().ReadValue(coroutine + at_->frame_object, &frame) ||
      !PlausiblePointer(frame)) {
    return step;
  }
  bytes_.resize(at.locals);
  if (!objects_.memory().ReadExact(frame, bytes_.data(), bytes_.size())) return step;
  step.frame.address = frame;
  if (Load<uint8_t>(bytes_.data() + at.owner) == table_->executing) {
    step.state = State::kRunning;
    return step;
  }
  const auto position = Load<int32_t>(bytes_.data() + at.instr);
  const auto instr = static_cast<Address>(
      int64_t{position} * (table_->position == layout::Position::kUnits || position < 0 ? 2 : 1));
  if (!SetPlace(Load<Address>(bytes_.data() + at.code), instr, now_ns, &step.frame)) return step;
  step.state = State::kWaiting;
  const auto values = Load<Address>(bytes_.data() + at_->values);
  const Address end = at_->depth_is_end
                          ? Load<Address>(bytes_.data() + at_->depth)
                          : values + Address{Load<uint32_t>(bytes_.data() + at_->depth)} * 8;
  constexpr Address kMostValues = 1 << 20;
  if (position < 0 || end <= values || end - values > kMostValues) return step;
  objects_.memory().ReadValue(end - 8, &step.awaited[0]);
  return step;
}

Address CoroutineReader::FrameOf(Address coroutine) {
  if (KindOf(coroutine) != Kind::kCoroutine) return 0;
  if (at_->frame_object == layout::kNone) return coroutine + table_->generator.frame;
  return objects_.Word(coroutine + at_->frame_object).value_or(0);
}

CoroutineReader::Chain CoroutineReader::Follow(Address coroutine, int64_t now_ns,
                                               std::vector<StackFrame>* frames) {
  Chain chain;
  const size_t first = frames->size();
  if (KindOf(coroutine) != Kind::kCoroutine) return chain;
  for (Address at = coroutine; frames->size() - first < kMaxDepth;) {
    const Step step = Read(at, now_ns);
    const bool repeated =
        std::any_of(frames->begin() + static_cast<ptrdiff_t>(first), frames->end(),
                    [&](const StackFrame& frame) { return frame.address == step.frame.address; });
    if (repeated) break;
    if (frames->size() == first) {
      chain.state = step.state;
      chain.frame = step.frame.address;
    } else if (step.state == State::kRunning) {
      // It went on while it was read.
      chain.state = State::kRunning;
    }
    if (step.state != State::kWaiting) break;
    frames->push_back(step.frame);
    Address next = 0;
    for (Address awaited : step.awaited) {
      Kind kind = KindOf(awaited);
      // The value on top may be one of the interpreter's own; of steps between there are few.
      for (int i = 0; kind == Kind::kBetween && i < 4; ++i) {
        awaited = objects_.Word(awaited + layout::kAwaited).value_or(0);
        kind = KindOf(awaited);
      }
      if (kind == Kind::kFuture) {
        chain.future = objects_.Word(awaited + layout::kAwaited).value_or(0);
        break;
      }
      if (kind == Kind::kCoroutine) {
        next = awaited;
        break;
      }
    }
    if (next == 0) break;
    at = next;
  }
  return chain;
}

}  // namespace linescope
