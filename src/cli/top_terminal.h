#pragma once
// The terminal of a live view: keys in, frames out, and its state of before given back whatever
// happens. The only user of ncurses.
#include <memory>
#include <optional>

#include "base/result.h"
#include "cli/top_render.h"
#include "cli/top_view.h"

namespace linescope {

// While it lives, a signal that ends us gives the terminal back first: what follows the view (and
// what stands beside it, see SignalWatch) may take signals for itself. One at a time.
class TerminalGuard {
 public:
  TerminalGuard();
  TerminalGuard(const TerminalGuard&) = delete;
  TerminalGuard& operator=(const TerminalGuard&) = delete;
  ~TerminalGuard();

 private:
  struct Saved;
  std::unique_ptr<Saved> saved_;
};

class TopTerminal {
 public:
  // Whether the view can be shown here; the error says what to do instead.
  static Status Check();

  // Takes the terminal over: one at a time. It is given back by the destructor, while job control
  // has us stopped (Ctrl-Z), and, under a TerminalGuard, when a signal ends us.
  static Result<std::unique_ptr<TopTerminal>> Open();
  TopTerminal(const TopTerminal&) = delete;
  TopTerminal& operator=(const TopTerminal&) = delete;
  ~TopTerminal();

  // Readable when OnWake has something to do: a key, a new size, a stop.
  [[nodiscard]] int fd() const;
  // The next key; nullopt: none waits. Also does what job control asks for.
  std::optional<TopKey> Take();
  // The size has changed, or the screen must be drawn anew, since the last call.
  bool TakeResized();
  // The terminal is there no more (its window was closed, its connection is lost).
  [[nodiscard]] bool gone() const;

  [[nodiscard]] int width() const;
  [[nodiscard]] int height() const;
  [[nodiscard]] bool unicode() const;
  void Draw(const TopFrame& frame);
  // The next Draw writes every cell.
  void Redraw();

 private:
  struct State;
  TopTerminal();
  std::unique_ptr<State> state_;
};

}  // namespace linescope
