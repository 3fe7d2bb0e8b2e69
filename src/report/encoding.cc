#include "report/encoding.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cstdint>
#include <new>

#include "profile/sha256.h"

namespace linescope {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr int8_t kNotBase64 = -1;

constexpr std::array<int8_t, 256> ReverseAlphabet() {
  std::array<int8_t, 256> table{};
  table.fill(kNotBase64);
  for (size_t i = 0; i < kAlphabet.size(); ++i)
    table[static_cast<unsigned char>(kAlphabet[i])] = static_cast<int8_t>(i);
  return table;
}
constexpr auto kReverse = ReverseAlphabet();

constexpr int kGzipLevel = 6;
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
    for (size_t k = 0; k <= have; ++k) out[to + k] = kAlphabet[group >> (18 - 6 * k) & 63];
    to += 4;
  }
  return out;
}

Result<std::string> FromBase64(std::string_view text) {
  if (text.size() % 4 != 0)
    return Fail(ErrorCode::kCorrupt, "base64 text of {} characters is cut", text.size());
  std::string out;
  out.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    size_t padding = 0;
    if (last && text[i + 3] == '=') padding = text[i + 2] == '=' ? 2 : 1;
    uint32_t group = 0;
    for (size_t k = 0; k < 4; ++k) {
      const int8_t value =
          k >= 4 - padding ? int8_t{0} : kReverse[static_cast<uint8_t>(text[i + k])];
      if (value == kNotBase64)
        return Fail(ErrorCode::kCorrupt, "base64 text has a foreign character at {}", i + k);
      group = group << 6 | static_cast<uint32_t>(value);
    }
    if ((padding == 1 && (group & 0xFF) != 0) || (padding == 2 && (group & 0xFFFF) != 0))
      return Fail(ErrorCode::kCorrupt, "base64 text has bits after its end");
    for (size_t k = 0; k < 3 - padding; ++k) out += static_cast<char>(group >> (16 - 8 * k) & 0xFF);
  }
  return out;
}

std::string Gzip(std::string_view bytes) {
  z_stream stream{};
  // deflateInit2 with valid arguments fails for want of memory only.
  if (deflateInit2(&stream, kGzipLevel, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  size_t in = 0, written = 0;
  int code = Z_OK;
  while (code != Z_STREAM_END) {  // avail_in and avail_out are 32-bit
    const size_t input = std::min<size_t>(bytes.size() - in, UINT_MAX);
    const size_t output = std::min<size_t>(out.size() - written, UINT_MAX);
    stream.next_in = MutableBytes(bytes.substr(in));
    stream.avail_in = static_cast<uInt>(input);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + written);
    stream.avail_out = static_cast<uInt>(output);
    code = deflate(&stream, in + input == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    in += input - stream.avail_in;
    written += output - stream.avail_out;
  }
  deflateEnd(&stream);
  out.resize(written);
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
