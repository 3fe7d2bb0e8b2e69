#include "process/modules.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace linescope {
namespace {

constexpr long kBtrfsMagic = 0x9123683e;
constexpr long kOverlayfsMagic = 0x794c7630;

bool IsSameFile(int fd, const Mapping& mapping) {
  struct stat info;
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_ino != mapping.inode)
    return false;
  if (gnu_dev_major(info.st_dev) == mapping.device_major &&
      gnu_dev_minor(info.st_dev) == mapping.device_minor) {
    return true;
  }
  // These answer stat with a device of their own making (a subvolume's, a layer's), and maps with
  // another: there the inode alone has to do.
  struct statfs file_system;
  return ::fstatfs(fd, &file_system) == 0 &&
         (file_system.f_type == kBtrfsMagic || file_system.f_type == kOverlayfsMagic);
}

UniqueFd TryOpen(const std::string& path, const Mapping& mapping) {
  // O_NONBLOCK: whatever lies there now may be a pipe that nobody writes to.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  return fd && IsSameFile(fd.get(), mapping) ? std::move(fd) : UniqueFd();
}

class MemorySource : public ElfSource {
 public:
  MemorySource(RemoteMemory* memory, std::span<const Mapping> mappings)
      : memory_(memory), mappings_(mappings.begin(), mappings.end()) {
    for (const Mapping& mapping : mappings) {
      size_ = std::max(size_, mapping.offset + mapping.size());
    }
  }
  bool ReadAt(uint64_t offset, void* out, size_t size) const override {
    auto* cursor = static_cast<std::byte*>(out);
    while (size > 0) {
      const auto it = std::ranges::find_if(mappings_, [&](const Mapping& mapping) {
        return offset >= mapping.offset && offset - mapping.offset < mapping.size();
      });
      if (it == mappings_.end()) return false;
      const uint64_t inside = offset - it->offset;
      const size_t n = std::min<uint64_t>(size, it->size() - inside);
      if (!memory_->ReadExact(it->start + inside, cursor, n)) return false;
      cursor += n;
      offset += n;
      size -= n;
    }
    return true;
  }
  [[nodiscard]] uint64_t size() const override { return size_; }

 private:
  RemoteMemory* memory_;
  std::vector<Mapping> mappings_;
  uint64_t size_ = 0;
};

}  // namespace

bool Module::has_code() const {
  return std::ranges::any_of(mappings, [](const Mapping& mapping) { return mapping.executable; });
}

std::vector<Module> GroupModules(std::span<const Mapping> mappings) {
  using FileId = std::tuple<uint32_t, uint32_t, uint64_t>;
  std::vector<Module> modules;
  std::map<FileId, size_t> newest;  // module of each file, still growing
  for (const Mapping& mapping : mappings) {
    if (!mapping.is_file()) continue;
    const FileId id{mapping.device_major, mapping.device_minor, mapping.inode};
    const auto it = newest.find(id);
    // Segments lie in the order of their offsets; an instance begins where the offsets do again.
    // Two segments may share a page of the file, the first of them excepted.
    const bool continues = it != newest.end() && mapping.offset != 0 &&
                           mapping.offset >= modules[it->second].mappings.back().offset;
    if (!continues) {
      newest[id] = modules.size();
      modules.push_back({mapping.path, mapping.deleted, {}});
    }
    modules[newest[id]].mappings.push_back(mapping);
  }
  return modules;
}

Result<UniqueFd> OpenMappedFile(int pid, const Mapping& mapping) {
  const std::string proc = fmt::format("/proc/{}", pid);
  const std::string suffixed = mapping.path + " (deleted)";  // a file may really be called so
  const std::string candidates[] = {
      fmt::format("{}/map_files/{:x}-{:x}", proc, mapping.start, mapping.end),
      proc + "/exe",
      proc + "/root" + mapping.path,
      mapping.path,
      mapping.deleted ? proc + "/root" + suffixed : "",
  };
  for (const std::string& candidate : candidates) {
    if (candidate.empty()) continue;
    if (UniqueFd fd = TryOpen(candidate, mapping)) return fd;
  }
  return Fail(ErrorCode::kGone, "cannot open {} as process {} has it mapped: {}", mapping.path, pid,
              mapping.deleted
                  ? "it was deleted or replaced, and reading it through /proc/PID/map_files needs "
                    "CAP_CHECKPOINT_RESTORE (sudo)"
                  : "no file with its device and inode is there, or it may not be read");
}

std::unique_ptr<ElfSource> ElfSourceFromMemory(RemoteMemory* memory,
                                               std::span<const Mapping> mappings) {
  return std::make_unique<MemorySource>(memory, mappings);
}

Result<ElfFile> OpenModule(int pid, const Module& module, RemoteMemory* memory) {
  auto fd = OpenMappedFile(pid, module.mappings.front());
  if (fd) return ElfFile::Open(ElfSourceFromFd(std::move(*fd)), module.path);
  auto loaded = ElfFile::OpenLoaded(ElfSourceFromMemory(memory, module.mappings), module.path,
                                    module.mappings);
  if (!loaded) return std::unexpected(std::move(fd).error());
  return loaded;
}

Result<std::vector<Module>> ListCodeModules(int pid) {
  LS_TRY(mappings, ReadMaps(pid));
  std::vector<Module> modules = GroupModules(mappings);
  std::erase_if(modules, [](const Module& module) { return !module.has_code(); });
  return modules;
}

}  // namespace linescope
