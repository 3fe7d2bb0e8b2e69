#include "report/encoding.h"

#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cstdint>
#include <memory>
#include <new>

#include "profile/sha256.h"

namespace linescope {
namespace {

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// The characters of base 91: those of ASCII from ! to ~ without &, < and \.
constexpr uint32_t kBase = 91;
constexpr uint8_t kForeign = 255;
constexpr int kPairBits = 13, kSingleBits = 6;  // 91 * 91 > 2^13, 91 > 2^6

constexpr std::array<char, kBase> MakeBase91() {
  std::array<char, kBase> alphabet{};
  size_t count = 0;
  for (char c = '!'; c <= '~'; ++c)
    if (c != '&' && c != '<' && c != '\\') alphabet.at(count++) = c;
  return alphabet;
}
constexpr auto kBase91 = MakeBase91();

constexpr std::array<uint8_t, 256> MakeBase91Values() {
  std::array<uint8_t, 256> values{};
  values.fill(kForeign);
  for (size_t i = 0; i < kBase; ++i)
    values[static_cast<unsigned char>(kBase91[i])] = static_cast<uint8_t>(i);
  return values;
}
constexpr auto kBase91Values = MakeBase91Values();

// Of libdeflate. What is above takes twice the time for 0.5 % less.
constexpr int kGzipLevel = 9;
constexpr int kGzipWindow = 15 + 16;  // + 16: gzip wrapper

Bytef* MutableBytes(std::string_view bytes) {  // zlib does not write through next_in
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
}

}  // namespace

std::string Base64(std::string_view bytes) {
  std::string out;
  out.resize((bytes.size() + 2) / 3 * 4, '=');
  size_t to = 0;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t have = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < have ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (size_t k = 0; k <= have; ++k) out[to + k] = kBase64[group >> (18 - 6 * k) & 63];
    to += 4;
  }
  return out;
}

std::string Base91(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 16 / 13 + 2);
  uint32_t bits = 0;
  int count = 0;
  for (const char byte : bytes) {
    bits |= uint32_t{static_cast<unsigned char>(byte)} << count;
    count += 8;
    if (count < kPairBits) continue;
    const uint32_t pair = bits & ((1u << kPairBits) - 1);
    out += kBase91[pair % kBase];
    out += kBase91[pair / kBase];
    bits >>= kPairBits;
    count -= kPairBits;
  }
  if (count > 0) out += kBase91[bits % kBase];
  if (count > kSingleBits) out += kBase91[bits / kBase];
  return out;
}

Result<std::string> FromBase91(std::string_view text) {
  std::string out;
  out.reserve(text.size() * 13 / 16 + 1);
  uint32_t bits = 0;
  int count = 0;
  for (size_t i = 0; i < text.size(); i += 2) {
    const bool single = i + 1 == text.size();
    const uint32_t low = kBase91Values[static_cast<unsigned char>(text[i])];
    const uint32_t high = single ? 0 : kBase91Values[static_cast<unsigned char>(text[i + 1])];
    const int width = single ? kSingleBits : kPairBits;
    const uint32_t value = low + high * kBase;
    if (low == kForeign || high == kForeign || value >> width != 0)
      return Fail(ErrorCode::kCorrupt, "base 91 text has a foreign character at {}", i);
    bits |= value << count;
    for (count += width; count >= 8; count -= 8) {
      out += static_cast<char>(bits & 0xff);
      bits >>= 8;
    }
  }
  // A last character without a bit of a byte is not written.
  const int last = text.size() % 2 != 0 ? kSingleBits : kPairBits;
  if (bits != 0 || (!text.empty() && count >= last) ||
      (text.size() % 2 == 0 && !text.empty() && last - count <= kSingleBits))
    return Fail(ErrorCode::kCorrupt, "base 91 text has bits after its end");
  return out;
}

std::string Gzip(std::string_view bytes) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(kGzipLevel), &libdeflate_free_compressor);
  if (!compressor) throw std::bad_alloc();
  std::string out(libdeflate_gzip_compress_bound(compressor.get(), bytes.size()), '\0');
  // With that much room it cannot fail.
  out.resize(libdeflate_gzip_compress(compressor.get(), bytes.data(), bytes.size(), out.data(),
                                      out.size()));
  return out;
}

Result<std::string> Gunzip(std::string_view bytes, size_t limit) {
  if (bytes.size() > UINT_MAX)
    return Fail(ErrorCode::kCorrupt, "compressed part of {} bytes is too large", bytes.size());
  z_stream stream{};
  stream.next_in = MutableBytes(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) throw std::bad_alloc();
  std::string out;
  int code = Z_OK;
  while (code == Z_OK) {
    const size_t before = out.size();
    const size_t room = std::min<size_t>(std::max<size_t>(before, 1 << 14), limit + 1 - before);
    out.resize(before + room);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = static_cast<uInt>(room);
    code = inflate(&stream, Z_NO_FLUSH);
    out.resize(before + room - stream.avail_out);
    if (out.size() > limit) break;
  }
  inflateEnd(&stream);
  if (out.size() > limit)
    return Fail(ErrorCode::kCorrupt, "compressed part unzips to more than {} bytes", limit);
  if (code != Z_STREAM_END || stream.avail_in != 0)
    return Fail(ErrorCode::kCorrupt, "compressed part of {} bytes is damaged", bytes.size());
  return out;
}

std::string CspHash(std::string_view bytes) {
  const std::string hex = Sha256Hex(bytes);
  std::string digest;
  for (size_t i = 0; i < hex.size(); i += 2) {
    uint8_t byte = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    digest += static_cast<char>(byte);
  }
  return "sha256-" + Base64(digest);
}

}  // namespace linescope
