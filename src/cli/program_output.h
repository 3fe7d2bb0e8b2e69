#pragma once
// What a launched program prints while a live view has the terminal: kept aside, its last lines at
// hand, to be printed when the view is left.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace linescope {

// The program's standard output and error, as far as they would have gone to the terminal, go to a
// pseudo-terminal of the same size, so that it prints as it does in a terminal: line by line, and
// in colour. Its standard input, where that is the terminal, is empty: the keyboard is the view's.
class ProgramOutput {
 public:
  // Everything goes to `file` instead, unless that is empty. Fails with kIo.
  static Result<ProgramOutput> Create(const std::string& file);
  ProgramOutput(ProgramOutput&&) = default;
  ProgramOutput& operator=(ProgramOutput&&) = default;

  // For SessionOptions::streams, until CloseStreams.
  [[nodiscard]] std::array<int, 3> streams() const;
  // To be called once the program has them.
  void CloseStreams();

  // Readable when the program has printed something; -1: it prints to a file.
  [[nodiscard]] int fd() const { return master_.get(); }
  // Takes what the program has printed, as far as it is there. False: nothing new.
  bool Take();
  // From now on, and what was kept until now, it is printed to `fd`.
  void PassOn(int fd);
  // Of a size that a terminal got.
  void Resize(int width, int height);

  // The last lines at most, safe to show.
  [[nodiscard]] std::vector<std::string> LastLines(size_t limit) const;
  // Where it goes, for the user.
  [[nodiscard]] std::string Place() const;
  // Nothing is printed at the end: it is in the file.
  [[nodiscard]] bool to_file() const { return !file_.empty(); }
  [[nodiscard]] uint64_t lost_bytes() const { return lost_bytes_; }

 private:
  ProgramOutput() = default;
  Status OpenTerminal();
  void Keep(std::string_view bytes);

  std::string file_;
  UniqueFd input_, output_;  // the program's ends
  bool output_is_terminal_ = false, error_is_terminal_ = false;
  UniqueFd master_;
  UniqueFd record_;  // an unnamed file; of `file_`, to read its end
  int64_t recorded_ = 0, file_size_ = 0;
  uint64_t lost_bytes_ = 0;
  int pass_on_ = -1;
  std::string tail_;
};

// Lines of a terminal's output as text: escape sequences are left out, and what a carriage return
// has overwritten. The last `limit` lines.
std::vector<std::string> PlainLines(std::string_view output, size_t limit);

}  // namespace linescope
