#include "cli/program_output.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>

#include "cli/terminal.h"

namespace linescope {
namespace {

constexpr size_t kTailBytes = 64 * 1024;
// At one time, so that the keyboard is heard beside a program that never stops printing.
constexpr size_t kTakeBytes = 1024 * 1024;

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

UniqueFd OpenUnnamed() {
  const char* folder = ::getenv("TMPDIR");
  if (folder == nullptr || *folder == '\0') folder = "/tmp";
  UniqueFd fd(::open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd) return fd;
  std::string path = std::string(folder) + "/linescope-output-XXXXXX";
  fd.Reset(::mkostemp(path.data(), O_CLOEXEC));
  if (fd) ::unlink(path.c_str());
  return fd;
}

// `text` begins with ESC: the length of the sequence.
size_t EscapeLength(std::string_view text) {
  if (text.size() < 2) return text.size();
  size_t at = 2;
  switch (text[1]) {
    case '[':  // CSI: parameters, then one final byte
      while (at < text.size() && (text[at] < 0x40 || text[at] > 0x7E)) ++at;
      return std::min(at + 1, text.size());
    case ']':  // strings, up to BEL or ESC backslash
    case 'P':
    case '_':
    case '^':
      for (; at < text.size(); ++at) {
        if (text[at] == '\a') return at + 1;
        if (text[at] == '\x1b') return std::min(at + 2, text.size());
      }
      return text.size();
    case '(':
    case ')':
      return std::min<size_t>(3, text.size());
    default:
      return 2;
  }
}

std::string PlainLine(std::string_view line) {
  std::string out;
  bool returned = false;
  for (size_t i = 0; i < line.size();) {
    const char c = line[i];
    if (c == '\x1b') {
      i += EscapeLength(line.substr(i));
      continue;
    }
    ++i;
    if (c == '\r') {
      returned = true;
      continue;
    }
    if (c == '\b') {
      if (!out.empty()) out.pop_back();
      continue;
    }
    if (c == '\a') continue;
    if (std::exchange(returned, false)) out.clear();
    out += c;
  }
  return Printable(out);
}

}  // namespace

std::vector<std::string> PlainLines(std::string_view output, size_t limit) {
  std::vector<std::string> lines;
  if (output.ends_with('\n')) output.remove_suffix(1);
  while (!output.empty() && lines.size() < limit) {
    const size_t end = output.rfind('\n');
    lines.push_back(PlainLine(output.substr(end + 1)));  // npos + 1 is 0
    if (end == std::string_view::npos) break;
    output = output.substr(0, end);
  }
  std::ranges::reverse(lines);
  return lines;
}

Status ProgramOutput::OpenTerminal() {
  master_.Reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!master_ || ::grantpt(master_.get()) != 0 || ::unlockpt(master_.get()) != 0)
    return Fail(ErrorCode::kIo, "cannot make a terminal for the program's output: {}", ErrnoText());
  char name[128];
  if (::ptsname_r(master_.get(), name, sizeof name) == 0)
    output_.Reset(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!output_) {
    return Fail(ErrorCode::kIo, "cannot open the terminal for the program's output: {}",
                ErrnoText());
  }
  // What it prints is printed again by the real terminal, which makes its line ends.
  termios mode{};
  if (::tcgetattr(output_.get(), &mode) == 0) {
    ::cfmakeraw(&mode);
    ::tcsetattr(output_.get(), TCSANOW, &mode);
  }
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) ::ioctl(master_.get(), TIOCSWINSZ, &size);
  ::fcntl(master_.get(), F_SETFL, O_NONBLOCK);
  return {};
}

Result<ProgramOutput> ProgramOutput::Create(const std::string& file) {
  ProgramOutput output;
  if (::isatty(STDIN_FILENO) != 0) {
    output.input_.Reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!output.input_) return Fail(ErrorCode::kIo, "cannot open /dev/null: {}", ErrnoText());
  }
  if (!file.empty()) {
    output.file_ = file;
    output.output_.Reset(
        ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666));
    if (output.output_) output.record_.Reset(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!output.record_) {
      return Fail(ErrorCode::kIo, "cannot write the program's output to '{}': {}", file,
                  ErrnoText());
    }
    return output;
  }
  output.output_is_terminal_ = ::isatty(STDOUT_FILENO) != 0;
  output.error_is_terminal_ = ::isatty(STDERR_FILENO) != 0;
  LS_CHECK_OK(output.OpenTerminal());
  output.record_ = OpenUnnamed();
  if (!output.record_) {
    return Fail(ErrorCode::kIo,
                "cannot make a file for the program's output (TMPDIR names the folder): {}",
                ErrnoText());
  }
  return output;
}

std::array<int, 3> ProgramOutput::streams() const {
  const int input = input_ ? input_.get() : -1;
  if (to_file()) return {input, output_.get(), output_.get()};
  return {input, output_is_terminal_ ? output_.get() : -1, error_is_terminal_ ? output_.get() : -1};
}

void ProgramOutput::CloseStreams() {
  input_.Reset();
  output_.Reset();
}

void ProgramOutput::Keep(std::string_view bytes) {
  if (pass_on_ >= 0) {
    (void)WriteAll(pass_on_, bytes);
    return;
  }
  if (WriteAll(record_.get(), bytes)) {
    recorded_ += static_cast<int64_t>(bytes.size());
  } else {
    lost_bytes_ += bytes.size();
  }
  tail_ += bytes;
  if (tail_.size() > 2 * kTailBytes) tail_.erase(0, tail_.size() - kTailBytes);
}

bool ProgramOutput::Take() {
  if (to_file()) {
    struct stat info;
    if (::fstat(record_.get(), &info) != 0 || info.st_size == file_size_) return false;
    file_size_ = info.st_size;
    const int64_t begin = std::max<int64_t>(0, file_size_ - static_cast<int64_t>(kTailBytes));
    tail_.resize(static_cast<size_t>(file_size_ - begin));
    const ssize_t got = ::pread(record_.get(), tail_.data(), tail_.size(), begin);
    tail_.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return true;
  }
  size_t taken = 0;
  char buffer[16 * 1024];
  while (master_ && taken < kTakeBytes) {
    const ssize_t got = ::read(master_.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      // EIO: nobody has the other end any more.
      if (got == 0 || errno != EAGAIN) master_.Reset();
      break;
    }
    Keep({buffer, static_cast<size_t>(got)});
    taken += static_cast<size_t>(got);
  }
  return taken != 0;
}

void ProgramOutput::PassOn(int fd) {
  Take();
  if (to_file() || pass_on_ >= 0) return;
  pass_on_ = fd;
  char buffer[64 * 1024];
  for (int64_t at = 0; at < recorded_;) {
    const ssize_t got = ::pread(record_.get(), buffer, sizeof buffer, at);
    if (got <= 0 || !WriteAll(fd, {buffer, static_cast<size_t>(got)})) break;
    at += got;
  }
  record_.Reset();
}

void ProgramOutput::Resize(int width, int height) {
  if (!master_) return;
  winsize size{};
  size.ws_col = static_cast<unsigned short>(width);
  size.ws_row = static_cast<unsigned short>(height);
  ::ioctl(master_.get(), TIOCSWINSZ, &size);
}

std::vector<std::string> ProgramOutput::LastLines(size_t limit) const {
  return PlainLines(tail_, limit);
}

std::string ProgramOutput::Place() const {
  return to_file() ? "it goes to " + Printable(file_) : "it is printed when you quit";
}

}  // namespace linescope
