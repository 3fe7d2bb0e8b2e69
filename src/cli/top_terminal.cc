#include "cli/top_terminal.h"

// ncurses.h defines short names as macros: after everything else.
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "cli/terminal.h"
#include "process/launch.h"

#define NCURSES_NOMACROS 1
#include <ncurses.h>
#include <term.h>

namespace linescope {
namespace {

constexpr int kEscapeDelayMs = 25;

// What a signal handler needs to give the terminal back: everything else may be broken by then.
struct Restore {
  int fd = -1;
  termios mode{};
  std::array<char, 256> sequences{};
  size_t size = 0;
};
Restore g_restore;
std::atomic<bool> g_taken = false;  // the terminal is ours
std::atomic<int> g_pipe = -1;
static_assert(std::atomic<bool>::is_always_lock_free, "used in a signal handler");

// Job control and the window: done outside the handler.
void OnEvent(int number) {
  const int saved_errno = errno;
  const char byte = static_cast<char>(number);
  (void)!::write(g_pipe.load(), &byte, 1);
  errno = saved_errno;
}

// What ends us.
void OnDeath(int number) {
  if (g_taken.exchange(false)) {
    (void)!::write(g_restore.fd, g_restore.sequences.data(), g_restore.size);
    ::tcsetattr(g_restore.fd, TCSADRAIN, &g_restore.mode);
  }
  ::signal(number, SIG_DFL);
  ::raise(number);
}

constexpr std::array kEvents = {SIGTSTP, SIGCONT, SIGWINCH};
constexpr std::array kDeaths = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV,
                                SIGBUS, SIGFPE,  SIGILL, SIGABRT};

// The actions of before, for as long as ours hold.
template <size_t kCount>
class Handlers {
 public:
  Handlers(const std::array<int, kCount>& signals, void (*handler)(int)) {
    for (const int signal : signals) {
      if (InheritedIgnored(signal)) continue;
      struct sigaction action{};
      action.sa_handler = handler;
      action.sa_flags = SA_RESTART;
      saved_[count_].signal = signal;
      ::sigaction(signal, &action, &saved_[count_++].action);
    }
  }
  Handlers(const Handlers&) = delete;
  Handlers& operator=(const Handlers&) = delete;
  ~Handlers() {
    for (size_t i = 0; i < count_; ++i) ::sigaction(saved_[i].signal, &saved_[i].action, nullptr);
  }

 private:
  struct Saved {
    int signal = 0;
    struct sigaction action;
  };
  std::array<Saved, kCount> saved_{};
  size_t count_ = 0;
};

// A terminal's description that is not there is replaced by that of its family.
const char* TerminalName() {
  const char* name = ::getenv("TERM");
  if (name == nullptr || *name == '\0') return nullptr;
  const std::string_view own = name;
  std::array<const char*, 3> candidates = {name, nullptr, nullptr};
  if (own.starts_with("xterm") || own.starts_with("alacritty") || own.starts_with("foot"))
    candidates[1] = "xterm-256color";
  if (own.starts_with("tmux") || own.starts_with("screen")) candidates[1] = "screen-256color";
  for (const char* candidate : candidates) {
    int error = 0;
    if (candidate == nullptr || ::setupterm(candidate, STDOUT_FILENO, &error) != OK) continue;
    const char* move = ::tigetstr("cup");
    ::del_curterm(cur_term);
    if (move != nullptr && move != reinterpret_cast<const char*>(-1)) return candidate;
  }
  return nullptr;
}

// The keyboard: standard input, or the terminal that we run on when that is something else.
UniqueFd OpenKeyboard() {
  if (::isatty(STDIN_FILENO) != 0) return UniqueFd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  return UniqueFd(::open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY));
}

// Characters that our own texts have, for terminals without them; others become question marks.
char Ascii(wchar_t c) {
  switch (c) {
    case L'–':
    case L'─':
      return '-';
    case L'…':
      return '~';
    case L'µ':
      return 'u';
    case L'↑':
      return '^';
    case L'↓':
      return 'v';
    default:
      return c < 0x80 ? static_cast<char>(c) : '?';
  }
}

// Of valid UTF-8.
std::wstring Wide(std::string_view text, bool unicode) {
  std::wstring out;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    uint32_t c = bytes == 1 ? lead : lead & (0x7Fu >> bytes);
    for (size_t k = 1; k < bytes && i + k < text.size(); ++k)
      c = c << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3Fu);
    i += bytes;
    const auto wide = static_cast<wchar_t>(c);
    out += unicode ? wide : static_cast<wchar_t>(Ascii(wide));
  }
  return out;
}

std::string Utf8(wint_t c) {
  std::string out;
  const auto value = static_cast<uint32_t>(c);
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (value >> shift & 0x3F)); };
  if (value < 0x80) {
    out += static_cast<char>(value);
  } else if (value < 0x800) {
    out += static_cast<char>(0xC0 | value >> 6);
    tail(0);
  } else if (value < 0x10000) {
    out += static_cast<char>(0xE0 | value >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | value >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
  return out;
}

bool SetLocale() {
  const bool set = std::setlocale(LC_CTYPE, "") != nullptr;
  if (set && std::string_view(::nl_langinfo(CODESET)) == "UTF-8") return true;
  // A locale that is not installed here, but says what the terminal shows.
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = ::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale = value;
    const bool utf8 = locale.contains("UTF-8") || locale.contains("utf8");
    return utf8 && std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr;
  }
  return false;
}

}  // namespace

struct TerminalGuard::Saved {
  Handlers<kDeaths.size()> handlers{kDeaths, OnDeath};
};
TerminalGuard::TerminalGuard() : saved_(std::make_unique<Saved>()) {}
TerminalGuard::~TerminalGuard() = default;

struct TopTerminal::State {
  UniqueFd keyboard, read_end, write_end, epoll;
  std::FILE* in = nullptr;
  std::FILE* out = nullptr;
  SCREEN* screen = nullptr;
  std::optional<Handlers<kEvents.size()>> handlers;
  std::array<attr_t, 9> styles{};  // by TopStyle
  bool unicode = false, resized = false, gone = false;

  void PrepareRestore();
  void SetStyles();
  void Suspend();
  void FitWindow();
};

void TopTerminal::State::PrepareRestore() {
  for (const char* name : {"sgr0", "op", "cnorm", "rmkx", "rmcup"}) {
    const char* text = ::tigetstr(name);
    if (text == nullptr || text == reinterpret_cast<const char*>(-1)) continue;
    while (*text != '\0' && g_restore.size < g_restore.sequences.size()) {
      if (std::strncmp(text, "$<", 2) == 0) {  // a delay
        const char* end = std::strchr(text, '>');
        if (end == nullptr) break;
        text = end + 1;
        continue;
      }
      g_restore.sequences[g_restore.size++] = *text++;
    }
  }
}

void TopTerminal::State::SetStyles() {
  const auto set = [&](TopStyle style, attr_t attributes, int pair = 0) {
    styles[static_cast<size_t>(style)] = attributes | static_cast<attr_t>(COLOR_PAIR(pair));
  };
  set(TopStyle::kBold, A_BOLD);
  set(TopStyle::kDim, A_DIM);
  set(TopStyle::kHeading, A_BOLD | A_UNDERLINE);
  set(TopStyle::kSelected, A_REVERSE);
  set(TopStyle::kHot, A_BOLD);
  set(TopStyle::kBad, A_BOLD);
  const char* no_colour = ::getenv("NO_COLOR");
  if ((no_colour != nullptr && *no_colour != '\0') || !::has_colors()) return;
  ::start_color();
  const bool on_default = ::use_default_colors() == OK;
  const auto background = static_cast<short>(on_default ? -1 : COLOR_BLACK);
  // Readable on black and on white alike.
  const bool many = COLORS >= 256;
  ::init_pair(1, many ? 160 : COLOR_RED, background);
  ::init_pair(2, many ? 166 : COLOR_MAGENTA, background);
  ::init_pair(3, many ? 34 : COLOR_GREEN, background);
  set(TopStyle::kHot, A_BOLD, 1);
  set(TopStyle::kWarm, A_NORMAL, 2);
  set(TopStyle::kGood, A_NORMAL, 3);
  set(TopStyle::kBad, A_BOLD, 1);
  if (!many) return;
  ::init_pair(4, 244, background);
  set(TopStyle::kDim, A_NORMAL, 4);
}

// As the terminal driver would have done it, had it not been ours.
void TopTerminal::State::Suspend() {
  g_taken = false;
  ::endwin();
  struct sigaction plain{};
  plain.sa_handler = SIG_DFL;
  struct sigaction ours;
  ::sigaction(SIGTSTP, &plain, &ours);
  ::raise(SIGTSTP);
  // Here again after SIGCONT.
  ::sigaction(SIGTSTP, &ours, nullptr);
  g_taken = true;
  ::clearok(curscr, TRUE);
  FitWindow();
}

void TopTerminal::State::FitWindow() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0)
    ::resizeterm(size.ws_row, size.ws_col);
  resized = true;
}

Status TopTerminal::Check() {
  if (::isatty(STDOUT_FILENO) == 0) {
    return Fail(ErrorCode::kUsage,
                "standard output is no terminal: --batch prints plain text, linescope run or "
                "attach profile into a file, linescope dump shows one moment");
  }
  if (TerminalName() == nullptr) {
    const char* name = ::getenv("TERM");
    return Fail(ErrorCode::kUsage,
                "the terminal '{}' (TERM) is not known here, or cannot show a live view: --batch "
                "prints plain text",
                Printable(name == nullptr ? "" : name));
  }
  if (!OpenKeyboard()) {
    return Fail(ErrorCode::kUsage,
                "there is no terminal to read keys from (/dev/tty: {}): --batch needs none",
                ErrnoText());
  }
  return {};
}

TopTerminal::TopTerminal() : state_(std::make_unique<State>()) {}

Result<std::unique_ptr<TopTerminal>> TopTerminal::Open() {
  std::unique_ptr<TopTerminal> terminal(new TopTerminal);
  State& state = *terminal->state_;
  state.unicode = SetLocale();
  state.keyboard = OpenKeyboard();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return Fail(ErrorCode::kIo, "cannot make a pipe: {}", ErrnoText());
  state.read_end.Reset(ends[0]);
  state.write_end.Reset(ends[1]);
  g_pipe = ends[1];
  state.epoll.Reset(::epoll_create1(EPOLL_CLOEXEC));
  for (const int fd : {state.keyboard.get(), state.read_end.get()}) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    ::epoll_ctl(state.epoll.get(), EPOLL_CTL_ADD, fd, &event);
  }
  g_restore = {};
  g_restore.fd = STDOUT_FILENO;
  if (::tcgetattr(g_restore.fd, &g_restore.mode) != 0)
    return Fail(ErrorCode::kIo, "cannot ask the terminal for its state: {}", ErrnoText());
  // ncurses leaves alone the signals that have a handler already.
  state.handlers.emplace(kEvents, OnEvent);
  state.in = ::fdopen(::fcntl(state.keyboard.get(), F_DUPFD_CLOEXEC, 3), "r");
  state.out = ::fdopen(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), "w");
  // LINES and COLUMNS may be those of another window.
  ::use_env(FALSE);
  ::use_tioctl(TRUE);
  g_taken = true;
  state.screen = ::newterm(TerminalName(), state.out, state.in);
  if (state.screen == nullptr) {
    g_taken = false;
    return Fail(ErrorCode::kUsage,
                "the terminal cannot show a live view: --batch prints plain text");
  }
  state.PrepareRestore();
  ::cbreak();
  ::noecho();
  ::nonl();
  ::keypad(stdscr, TRUE);
  ::nodelay(stdscr, TRUE);
  ::set_escdelay(kEscapeDelayMs);
  ::curs_set(0);
  state.SetStyles();
  return terminal;
}

TopTerminal::~TopTerminal() {
  if (state_->screen != nullptr) {
    // Where there is no alternate screen, what follows is written into the last line.
    ::wmove(stdscr, LINES - 1, 0);
    ::wclrtoeol(stdscr);
    ::wrefresh(stdscr);
    ::endwin();
    g_taken = false;
    ::delscreen(state_->screen);
  }
  state_->handlers.reset();
  g_pipe = -1;
  if (state_->in != nullptr) std::fclose(state_->in);
  if (state_->out != nullptr) std::fclose(state_->out);
}

int TopTerminal::fd() const { return state_->epoll.get(); }
bool TopTerminal::gone() const { return state_->gone; }
bool TopTerminal::unicode() const { return state_->unicode; }
int TopTerminal::width() const { return COLS; }
int TopTerminal::height() const { return LINES; }
bool TopTerminal::TakeResized() { return std::exchange(state_->resized, false); }

std::optional<TopKey> TopTerminal::Take() {
  bool stop = false;
  char event = 0;
  while (::read(state_->read_end.get(), &event, 1) == 1) {
    if (event == SIGTSTP) stop = true;
    if (event == SIGWINCH) state_->FitWindow();
    if (event == SIGCONT) {
      ::reset_prog_mode();
      Redraw();
      state_->FitWindow();
    }
  }
  if (stop) state_->Suspend();
  pollfd keyboard{state_->keyboard.get(), POLLIN, 0};
  if (::poll(&keyboard, 1, 0) > 0 && (keyboard.revents & (POLLHUP | POLLERR)) != 0)
    state_->gone = true;

  wint_t c = 0;
  const int kind = ::wget_wch(stdscr, &c);
  using Kind = TopKey::Kind;
  if (kind == ERR) return std::nullopt;
  if (kind == KEY_CODE_YES) {
    switch (c) {
      case KEY_UP:
        return TopKey{Kind::kUp};
      case KEY_DOWN:
        return TopKey{Kind::kDown};
      case KEY_LEFT:
        return TopKey{Kind::kLeft};
      case KEY_RIGHT:
        return TopKey{Kind::kRight};
      case KEY_PPAGE:
        return TopKey{Kind::kPageUp};
      case KEY_NPAGE:
        return TopKey{Kind::kPageDown};
      case KEY_HOME:
        return TopKey{Kind::kHome};
      case KEY_END:
        return TopKey{Kind::kEnd};
      case KEY_ENTER:
        return TopKey{Kind::kEnter};
      case KEY_BACKSPACE:
        return TopKey{Kind::kBackspace};
      case KEY_BTAB:
        return TopKey{Kind::kBackTab};
      default:
        return Take();
    }
  }
  switch (c) {
    case '\r':
    case '\n':
      return TopKey{Kind::kEnter};
    case 27:
      return TopKey{Kind::kEscape};
    case 8:
    case 127:
      return TopKey{Kind::kBackspace};
    case '\t':
      return TopKey{Kind::kTab};
    case 12:
      return TopKey{Kind::kRedraw};
    default:
      return c < 32 ? Take() : TopKey{Kind::kCharacter, Utf8(c)};
  }
}

void TopTerminal::Draw(const TopFrame& frame) {
  ::werase(stdscr);
  for (size_t y = 0; y < frame.rows.size() && static_cast<int>(y) < LINES; ++y) {
    int x = 0;
    for (const TopText& text : frame.rows[y]) {
      if (x >= COLS) break;
      const std::wstring wide = Wide(text.text, state_->unicode);
      ::wattrset(stdscr, static_cast<int>(state_->styles[static_cast<size_t>(text.style)]));
      ::mvwaddnwstr(stdscr, static_cast<int>(y), x, wide.data(), static_cast<int>(wide.size()));
      x += DisplayWidth(text.text);
    }
  }
  ::wattrset(stdscr, A_NORMAL);
  ::curs_set(frame.cursor ? 1 : 0);
  if (frame.cursor) ::wmove(stdscr, frame.cursor->first, frame.cursor->second);
  ::wrefresh(stdscr);
}

void TopTerminal::Redraw() { ::clearok(curscr, TRUE); }

}  // namespace linescope
