#include "process/tape.h"

// A tape file, version 1, little-endian:
//   8 bytes   "LSTAPE\0" and the version
//   8 bytes   size of the body before compression
//   4 bytes   CRC-32 of the body before compression
//   rest      the body, deflated (zlib format)
// The body, all numbers as LEB128 varints, strings as length and bytes:
//   number of facts, then each as key and value
//   number of records, then each as
//     number of ranges, then each as the zigzag difference of its address to the end of the one
//     before (of the first: to
//       the first of the record before), and its size
//     the result, zigzag
//     the bytes read
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstring>
#include <fstream>
#include <sstream>

namespace linescope {
namespace {

constexpr std::string_view kMagic{"LSTAPE\0\1", 8};
constexpr size_t kHeaderSize = 20;
// Tapes have some hundred kilobytes; a claim of more than this is a broken header.
constexpr uint64_t kMaxBody = 1 << 30;

uint64_t Zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
int64_t Unzigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

class BodyWriter {
 public:
  void Number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }
  void Bytes(std::string_view bytes) { text_ += bytes; }
  void String(std::string_view bytes) {
    Number(bytes.size());
    Bytes(bytes);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Yields zeros and empty strings once anything is missing; ok() tells.
class BodyReader {
 public:
  explicit BodyReader(std::string_view text) : text_(text) {}
  uint64_t Number() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (text_.empty()) break;
      const auto byte = static_cast<unsigned char>(text_.front());
      text_.remove_prefix(1);
      value |= uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }
  std::string_view Bytes(uint64_t size) {
    if (size > text_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view bytes = text_.substr(0, size);
    text_.remove_prefix(size);
    return bytes;
  }
  // A number of things of at least one byte each: never more than there are bytes.
  uint64_t Count() {
    const uint64_t count = Number();
    if (count > text_.size()) ok_ = false;
    return ok_ ? count : 0;
  }
  std::string_view String() { return Bytes(Number()); }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return text_.empty(); }

 private:
  std::string_view text_;
  bool ok_ = true;
};

template <class T>
void AppendRaw(std::string* text, T value) {
  text->append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
T ReadRaw(std::string_view text, size_t offset) {
  T value;
  std::memcpy(&value, text.data() + offset, sizeof value);
  return value;
}

uint32_t Crc(std::string_view text) {
  return static_cast<uint32_t>(
      ::crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

uint64_t HashRanges(std::span<const RemoteRange> ranges) {
  uint64_t hash = ranges.size();
  for (const RemoteRange& range : ranges) {
    hash = (hash ^ range.address) * 0x9e3779b97f4a7c15;
    hash = (hash ^ (hash >> 29) ^ range.size) * 0xbf58476d1ce4e5b9;
  }
  return hash ^ (hash >> 32);
}

bool SameRanges(std::span<const RemoteRange> a, std::span<const RemoteRange> b) {
  return std::ranges::equal(a, b, [](const RemoteRange& x, const RemoteRange& y) {
    return x.address == y.address && x.size == y.size;
  });
}

}  // namespace

std::string Tape::Serialize() const {
  BodyWriter body;
  body.Number(facts.size());
  for (const auto& [key, value] : facts) {
    body.String(key);
    body.String(value);
  }
  body.Number(records.size());
  Address reference = 0;
  for (const Record& record : records) {
    body.Number(record.ranges.size());
    Address expected = reference;
    for (const RemoteRange& range : record.ranges) {
      body.Number(Zigzag(static_cast<int64_t>(range.address - expected)));
      body.Number(range.size);
      expected = range.address + range.size;
    }
    if (!record.ranges.empty()) reference = record.ranges.front().address;
    body.Number(Zigzag(record.result));
    body.Bytes({reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size()});
  }
  return PackTapeBody(body.text());
}

std::string PackTapeBody(std::string_view body) {
  std::string packed(::compressBound(body.size()), '\0');
  uLongf packed_size = packed.size();
  ::compress2(reinterpret_cast<Bytef*>(packed.data()), &packed_size,
              reinterpret_cast<const Bytef*>(body.data()), body.size(), Z_BEST_COMPRESSION);
  packed.resize(packed_size);
  std::string file(kMagic);
  AppendRaw(&file, uint64_t{body.size()});
  AppendRaw(&file, Crc(body));
  return file + packed;
}

Result<Tape> Tape::Parse(std::string_view file) {
  if (file.size() < kHeaderSize || file.substr(0, 7) != kMagic.substr(0, 7)) {
    return Fail(ErrorCode::kUnsupported, "this is not a tape");
  }
  if (file[7] != kMagic[7]) {
    return Fail(ErrorCode::kUnsupported, "this tape is of version {}, and only version 1 is known",
                int{file[7]});
  }
  const auto size = ReadRaw<uint64_t>(file, 8);
  const std::string_view packed = file.substr(kHeaderSize);
  // deflate shrinks by a factor of 1032 at most: so a small broken file cannot make us allocate
  // much.
  if (size > kMaxBody || size / 1033 > packed.size())
    return Fail(ErrorCode::kCorrupt, "the tape's header makes no sense");
  std::string text(size, '\0');
  uLongf text_size = size;
  if (::uncompress(reinterpret_cast<Bytef*>(text.data()), &text_size,
                   reinterpret_cast<const Bytef*>(packed.data()), packed.size()) != Z_OK ||
      text_size != size || Crc(text) != ReadRaw<uint32_t>(file, 16)) {
    return Fail(ErrorCode::kCorrupt, "the tape is truncated or damaged");
  }
  Tape tape;
  BodyReader body(text);
  for (uint64_t left = body.Count(); left > 0 && body.ok(); --left) {
    std::string key(body.String());
    tape.facts[std::move(key)] = body.String();
  }
  Address reference = 0;
  for (uint64_t left = body.Count(); left > 0 && body.ok(); --left) {
    Record& record = tape.records.emplace_back();
    Address expected = reference;
    uint64_t wanted = 0;
    for (uint64_t ranges = body.Count(); ranges > 0 && body.ok(); --ranges) {
      RemoteRange range;
      range.address = expected + static_cast<uint64_t>(Unzigzag(body.Number()));
      range.size = body.Number();
      if (__builtin_add_overflow(wanted, range.size, &wanted))
        return Fail(ErrorCode::kCorrupt, "the tape makes no sense");
      expected = range.address + range.size;
      record.ranges.push_back(range);
    }
    if (!record.ranges.empty()) reference = record.ranges.front().address;
    record.result = Unzigzag(body.Number());
    if (record.result > 0) {
      if (static_cast<uint64_t>(record.result) > wanted)
        return Fail(ErrorCode::kCorrupt, "the tape makes no sense");
      const std::string_view bytes = body.Bytes(static_cast<uint64_t>(record.result));
      const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
      record.bytes.assign(data, data + bytes.size());
    }
  }
  if (!body.ok() || !body.at_end()) return Fail(ErrorCode::kCorrupt, "the tape makes no sense");
  return tape;
}

Status Tape::Save(const std::filesystem::path& path) const {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const std::string text = Serialize();
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) return Fail(ErrorCode::kIo, "cannot write {}: {}", path.string(), ErrnoText());
  return {};
}

Result<Tape> Tape::Load(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    return Fail(ErrorCode::kIo, "cannot read {}: {}", path.string(), ErrnoText());
  auto tape = Parse(text.view());
  if (!tape) return Fail(tape.error().code, "{}: {}", path.string(), tape.error().what);
  return tape;
}

std::optional<std::string> Tape::Fact(const std::string& key) const {
  const auto it = facts.find(key);
  return it == facts.end() ? std::nullopt : std::optional(it->second);
}

ssize_t TapeRecorder::Read(std::span<const RemoteRange> ranges, void* out) {
  const ssize_t n = inner_.Read(ranges, out);
  ++calls_;
  Tape::Record& record = tape_.records.emplace_back();
  record.ranges.assign(ranges.begin(), ranges.end());
  record.result = n;
  if (n > 0) {
    bytes_ += static_cast<uint64_t>(n);
    const auto* data = static_cast<const std::byte*>(out);
    record.bytes.assign(data, data + n);
  }
  return n;
}

// The two images of one page: bytes read up to the place, and the first ever read of each byte.
struct TapeMemory::Page {
  std::array<std::byte, kPage> image;
  std::array<std::byte, kPage> first;
  std::bitset<kPage> in_image;
  std::bitset<kPage> in_first;
};

TapeMemory::TapeMemory(Tape tape) : tape_(std::move(tape)) {
  for (size_t i = 0; i < tape_.records.size(); ++i) {
    Store(tape_.records[i], /*only_new_bytes=*/true, /*into_image=*/false);
    records_by_hash_[HashRanges(tape_.records[i].ranges)].push_back(i);
  }
}

TapeMemory::~TapeMemory() = default;

void TapeMemory::Rewind() {
  place_ = 0;
  for (auto& [address, page] : pages_) page->in_image.reset();
}

void TapeMemory::Store(const Tape::Record& record, bool only_new_bytes, bool into_image) {
  const std::byte* data = record.bytes.data();
  size_t left = record.bytes.size();
  for (const RemoteRange& range : record.ranges) {
    const size_t size = std::min(range.size, left);
    for (size_t done = 0; done < size;) {
      const Address at = range.address + done;
      const size_t offset = at % kPage;
      const size_t n = std::min(size - done, kPage - offset);
      std::unique_ptr<Page>& page = pages_[at / kPage];
      if (!page) page = std::make_unique<Page>();
      auto& bytes = into_image ? page->image : page->first;
      auto& present = into_image ? page->in_image : page->in_first;
      for (size_t i = 0; i < n; ++i) {
        if (only_new_bytes && present[offset + i]) continue;
        bytes[offset + i] = data[done + i];
        present.set(offset + i);
      }
      done += n;
    }
    data += size;
    left -= size;
  }
}

size_t TapeMemory::Copy(Address address, size_t size, std::byte* out) const {
  for (size_t done = 0; done < size; ++done) {
    const Address at = address + done;
    const auto it = pages_.find(at / kPage);
    if (it == pages_.end()) return done;
    const Page& page = *it->second;
    const size_t offset = at % kPage;
    if (!page.in_first[offset]) return done;
    out[done] = page.in_image[offset] ? page.image[offset] : page.first[offset];
  }
  return size;
}

size_t TapeMemory::FindRecord(std::span<const RemoteRange> ranges) const {
  const auto it = records_by_hash_.find(HashRanges(ranges));
  if (it == records_by_hash_.end()) return tape_.records.size();
  const std::vector<size_t>& candidates = it->second;
  for (auto at = std::ranges::lower_bound(candidates, place_); at != candidates.end(); ++at) {
    if (SameRanges(tape_.records[*at].ranges, ranges)) return *at;
  }
  return tape_.records.size();
}

ssize_t TapeMemory::Read(std::span<const RemoteRange> ranges, void* out) {
  ++calls_;
  if (const size_t found = FindRecord(ranges); found < tape_.records.size()) {
    for (; place_ <= found; ++place_)
      Store(tape_.records[place_], /*only_new_bytes=*/false, /*into_image=*/true);
    const Tape::Record& record = tape_.records[found];
    if (!record.bytes.empty()) std::memcpy(out, record.bytes.data(), record.bytes.size());
    bytes_ += record.bytes.size();
    return static_cast<ssize_t>(record.result);
  }
  auto* cursor = static_cast<std::byte*>(out);
  size_t total = 0;
  bool faulted = false;
  for (const RemoteRange& range : ranges) {
    const size_t n = Copy(range.address, range.size, cursor + total);
    total += n;
    faulted = n != range.size;
    if (faulted) break;
  }
  bytes_ += total;
  if (faulted && total == 0) return -EFAULT;
  return static_cast<ssize_t>(total);
}

}  // namespace linescope
