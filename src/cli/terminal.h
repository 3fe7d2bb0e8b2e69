#pragma once
// What goes to the two output streams of the terminal, and how. Everything LineScope says goes to
// stderr; only commands that were asked for data write to stdout.
#include <optional>
#include <string>
#include <string_view>

namespace linescope {

struct Terminal {
  bool colour = false;       // escape sequences are welcome (a terminal, NO_COLOR unset)
  std::optional<int> width;  // columns; unset when it is no terminal: nothing is cut then
};

// How stdout (1) or stderr (2) looks now.
Terminal DescribeTerminal(int fd);

// `text` safe to show: control characters and broken UTF-8 become visible escapes (\x1b), tabs
// become blanks. Names and source lines come from the target, and a terminal obeys what it is sent.
std::string Printable(std::string_view text);

// Columns that `text` takes, for printable UTF-8.
int DisplayWidth(std::string_view text);

// `text` cut to `width` columns, with an ellipsis when something is lost.
std::string Ellipsize(std::string_view text, int width);

// Each writes one line, `linescope: …`, to stderr.
void PrintError(std::string_view sentence);
void PrintWarning(std::string_view sentence);
void PrintNote(std::string_view sentence);

// Writes `text` to stdout; false when it could not be written (a full disk, a closed pipe).
bool WriteStdout(std::string_view text);

}  // namespace linescope
