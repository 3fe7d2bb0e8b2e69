#pragma once
// Small zip archives made in memory.
#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace linescope {

struct ZipMember {
  std::string name, text;
  bool compressed = false;
  uint16_t flags = 0;        // bit 0: encrypted
  uint16_t method = 0xffff;  // 0xffff: as `compressed` says
  bool wrong_checksum = false;
};

inline std::string BuildZip(const std::vector<ZipMember>& members) {
  std::string file, directory;
  const auto put = [](std::string* out, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
  };
  for (const ZipMember& member : members) {
    std::string data = member.text;
    if (member.compressed) {
      z_stream stream{};
      deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
      data.resize(deflateBound(&stream, member.text.size()));
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(member.text.data()));
      stream.avail_in = static_cast<uInt>(member.text.size());
      stream.next_out = reinterpret_cast<Bytef*>(data.data());
      stream.avail_out = static_cast<uInt>(data.size());
      deflate(&stream, Z_FINISH);
      data.resize(stream.total_out);
      deflateEnd(&stream);
    }
    const uint64_t checksum = crc32(0, reinterpret_cast<const Bytef*>(member.text.data()),
                                    static_cast<uInt>(member.text.size())) ^
                              (member.wrong_checksum ? 1U : 0U);
    const auto common = [&](std::string* out) {
      put(out, 20, 2);  // version needed
      put(out, member.flags, 2);
      put(out, member.method != 0xffff ? member.method : member.compressed ? 8 : 0, 2);
      put(out, 0, 4);  // time and date
      put(out, checksum, 4);
      put(out, data.size(), 4);
      put(out, member.text.size(), 4);
      put(out, member.name.size(), 2);
      put(out, 0, 2);  // extra field
    };
    const uint64_t offset = file.size();
    put(&file, 0x04034b50, 4);
    common(&file);
    file += member.name + data;
    put(&directory, 0x02014b50, 4);
    put(&directory, 20, 2);  // version made by
    common(&directory);
    put(&directory, 0, 2);  // comment
    put(&directory, 0, 2);  // disk
    put(&directory, 0, 2);  // internal attributes
    put(&directory, 0, 4);  // external attributes
    put(&directory, offset, 4);
    directory += member.name;
  }
  const uint64_t start = file.size();
  file += directory;
  put(&file, 0x06054b50, 4);
  put(&file, 0, 4);  // disks
  put(&file, members.size(), 2);
  put(&file, members.size(), 2);
  put(&file, directory.size(), 4);
  put(&file, start, 4);
  put(&file, 0, 2);  // comment
  return file;
}

}  // namespace linescope
