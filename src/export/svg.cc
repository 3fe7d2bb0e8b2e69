#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <unordered_map>

#include "export/export.h"
#include "export/places.h"
#include "profile/stats.h"
#include "report/format.h"

namespace linescope {
namespace {

constexpr double kWidth = 1200, kMargin = 16;
constexpr double kRow = 18, kGap = 1;
constexpr double kHeader = 74, kFooter = 34;
// Pixels below which a frame, and what it calls, is not drawn.
constexpr double kNarrowest = 0.4;
// Of the monospaced font below; frames too narrow for a few letters have none.
constexpr double kLetter = 6.62, kPadding = 4;
constexpr size_t kFewestLetters = 4;
constexpr size_t kDeepest = 400;
constexpr unsigned kHues = 6;

// Follows the reader's light or dark setting, and needs no script: what a frame says is its title,
// which browsers show under the pointer.
constexpr char kStyle[] = R"css(
.page { fill: #ffffff } .ink { fill: #1d2126 } .muted { fill: #5c6570 }
text { font-family: system-ui, "Segoe UI", sans-serif }
.f text { font: 11px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #1d2126; pointer-events: none;
  font-variant-ligatures: none }
.f rect { stroke: #ffffff; stroke-opacity: 0 } .f:hover rect { stroke: #1d2126; stroke-opacity: 1 }
.h0 { fill: #f6b37f } .h1 { fill: #f3c26b } .h2 { fill: #f09b7d } .h3 { fill: #eac98d } .h4 { fill: #f4a48f } .h5 { fill: #e3b878 }
.lib { fill: #cbd8ea } .nat { fill: #d9cdeb } .none { fill: #dfe2e6 } .top { fill: #e9ecf0 }
@media (prefers-color-scheme: dark) {
  .page { fill: #14161a } .ink, .f text { fill: #e4e6ea } .muted { fill: #9aa3ae }
  .f rect { stroke: #14161a } .f:hover rect { stroke: #e4e6ea }
  .h0 { fill: #8a4a1f } .h1 { fill: #7d5a14 } .h2 { fill: #8c3d24 } .h3 { fill: #6e5526 } .h4 { fill: #8b4434 } .h5 { fill: #71501f }
  .lib { fill: #31435c } .nat { fill: #46385f } .none { fill: #33383f } .top { fill: #262b32 }
}
)css";

// One box: a function as it was called along one path.
struct Frame {
  FunctionId function = UINT32_MAX;  // none: a title, or kNoPython
  std::string title;                 // of those
  int64_t time_ns = 0;               // with what it calls
  uint64_t samples = 0;
  std::map<std::pair<FunctionId, std::string>, uint32_t> child;  // positions in the list of frames
};

class Tree {
 public:
  Tree(const ProfileReader& reader, const Profile& profile, StackSplit split) : profile_(profile) {
    frames_.emplace_back().title = "all";
    const std::vector<std::string> titles = SplitTitles(reader, split);
    for (const StackCost& stack : profile.stack_costs) {
      const int64_t time = profile.Time(stack.cost);
      if (time <= 0) continue;
      const std::string& title = titles.at(stack.thread);
      const uint32_t root = title.empty() ? 0 : Child(0, UINT32_MAX, title);
      std::vector<uint32_t> path = {0};
      if (root != 0) path.push_back(root);
      if (stack.stack == kNoStack) {
        path.push_back(Child(root, UINT32_MAX, std::string(kNoPython)));
      } else {
        AddPath(root, stack.stack, path);
      }
      for (const uint32_t frame : path) {
        frames_[frame].time_ns += time;
        frames_[frame].samples += stack.cost.samples;
      }
    }
  }

  [[nodiscard]] const Frame& operator[](uint32_t id) const { return frames_[id]; }

  // Most time first; equal ones by name.
  [[nodiscard]] std::vector<uint32_t> Children(uint32_t id) const {
    std::vector<uint32_t> children;
    for (const auto& [key, child] : frames_[id].child) children.push_back(child);
    std::ranges::stable_sort(children, std::greater(),
                             [this](uint32_t child) { return frames_[child].time_ns; });
    return children;
  }

 private:
  uint32_t Child(uint32_t parent, FunctionId function, const std::string& title) {
    const auto [at, fresh] =
        frames_[parent].child.try_emplace({function, title}, static_cast<uint32_t>(frames_.size()));
    const uint32_t id = at->second;
    if (fresh) {
      Frame& frame = frames_.emplace_back();
      frame.function = function;
      frame.title = title;
    }
    return id;
  }

  void AddPath(uint32_t root, StackId leaf, std::vector<uint32_t>& path) {
    std::vector<StackId> stacks;
    for (StackId id = leaf; id != kNoStack; id = profile_.stacks.parent[id]) stacks.push_back(id);
    uint32_t frame = root;
    for (size_t i = stacks.size(); i-- > 0 && path.size() < kDeepest;) {
      frame = Child(frame, profile_.stacks.function[stacks[i]], "");
      path.push_back(frame);
    }
  }

  const Profile& profile_;
  std::vector<Frame> frames_;
};

// Text that XML may hold: other control characters are not allowed in it at all, and marks that
// turn the direction of writing would reorder what stands around them.
std::string XmlText(const std::string& text) {
  const std::string valid = ValidText(text);
  std::string out;
  for (size_t i = 0; i < valid.size(); ++i) {
    const auto byte = static_cast<unsigned char>(valid[i]);
    const std::string_view three = std::string_view(valid).substr(i, 3);
    const bool turns = three.size() == 3 && ((three >= "\u202a" && three <= "\u202e") ||
                                             (three >= "\u2066" && three <= "\u2069"));
    const bool not_xml = three == "\ufffe" || three == "\uffff";
    if (turns || not_xml) {
      out += "\ufffd";
      i += 2;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += byte == '\n' ? "\n" : byte == '\t' ? " " : "\ufffd";
    } else if (byte == '&') {
      out += "&amp;";
    } else if (byte == '<') {
      out += "&lt;";
    } else if (byte == '>') {
      out += "&gt;";
    } else if (byte == '"') {
      out += "&quot;";
    } else if (byte == '\'') {
      out += "&#39;";
    } else {
      out += valid[i];
    }
  }
  return out;
}

// The first letters of valid UTF-8 that fit; letters beyond Latin, Greek and Cyrillic count twice.
std::string Shortened(const std::string& text, size_t letters) {
  size_t width = 0, fits = 0;
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const size_t bytes = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    width += bytes > 2 ? 2 : 1;
    i += bytes;
    if (width + 1 <= letters) fits = i;
    if (width > letters) return text.substr(0, fits) + "…";
  }
  return text;
}

class Drawing {
 public:
  Drawing(const ProfileReader& reader, const Profile& profile, const ExportOptions& options)
      : reader_(reader), profile_(profile), tree_(reader, profile, options.split) {}

  std::string Draw() && {
    if (tree_[0].time_ns > 0) {
      scale_ = (kWidth - 2 * kMargin) / static_cast<double>(tree_[0].time_ns);
      DrawFrame(0);
    }
    const double height = kHeader + static_cast<double>(rows_) * kRow + kFooter;
    const std::string title = XmlText(RunTitle(reader_.run()));
    const std::string facts = XmlText(Facts());
    std::string out = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- Flame graph by {} -->\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{:.0f}\" "
        "viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-labelledby=\"t d\">\n"
        "<title id=\"t\">{}</title>\n<desc id=\"d\">{}</desc>\n<style>{}</style>\n",
        CommentText(Creator(reader_.run())), kWidth, height, kWidth, height, title, facts, kStyle);
    out +=
        fmt::format("<rect class=\"page\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n", kWidth, height);
    out += fmt::format(
        "<text class=\"ink\" x=\"{0:.0f}\" y=\"30\" font-size=\"17\" "
        "font-weight=\"600\">{1}</text>\n"
        "<text class=\"muted\" x=\"{0:.0f}\" y=\"51\" font-size=\"12.5\">{2}</text>\n",
        kMargin, title, facts);
    out += Legend() + boxes_;
    out += fmt::format(
        "<text class=\"muted\" x=\"{:.0f}\" y=\"{:.0f}\" font-size=\"11.5\">{}</text>\n", kMargin,
        height - 13, XmlText(Footnote()));
    return out + "</svg>\n";
  }

 private:
  // "--" must not occur in a comment.
  static std::string CommentText(const std::string& text) {
    std::string clean = XmlText(text);
    std::ranges::replace(clean, '-', '.');
    return clean;
  }

  [[nodiscard]] std::string Facts() const {
    return fmt::format("{}: {}, {} samples; {:.1f}% on lines of the project",
                       TimeName(profile_.weight), FormatDuration(profile_.Time(profile_.total)),
                       FormatCount(profile_.total.samples),
                       100 * ShareOfTotal(profile_, profile_.project));
  }

  [[nodiscard]] std::string Footnote() const {
    std::string text = "A box is a function, what it calls is below it, and its width is time.";
    if (left_out_ > 0) {
      text += fmt::format(" {} {} too narrow to be drawn.", FormatCount(left_out_),
                          left_out_ == 1 ? "box is" : "boxes are");
    }
    if (rows_ >= kDeepest) text += fmt::format(" Calls deeper than {} are cut off.", kDeepest);
    return text;
  }

  [[nodiscard]] static std::string Legend() {
    constexpr std::array<std::pair<const char*, const char*>, 3> kEntries = {
        {{"h0", "Project"}, {"lib", "Library"}, {"nat", "Native"}}};
    std::string out;
    double x = kWidth - kMargin - 3 * 84;
    for (const auto& [name, text] : kEntries) {
      out += fmt::format(
          "<rect class=\"{}\" x=\"{:.0f}\" y=\"41\" width=\"12\" height=\"12\" rx=\"2\"/>"
          "<text class=\"muted\" x=\"{:.0f}\" y=\"51\" font-size=\"12\">{}</text>\n",
          name, x, x + 18, text);
      x += 84;
    }
    return out;
  }

  [[nodiscard]] std::string NameOf(const Frame& frame) const {
    if (frame.function == UINT32_MAX) return ValidText(frame.title);
    const FunctionInfo& function = profile_.functions[frame.function];
    return ValidText(DisplayName(function));
  }

  [[nodiscard]] std::string ClassOf(const Frame& frame) const {
    if (frame.function == UINT32_MAX) return frame.title == kNoPython ? "none" : "top";
    const FunctionInfo& function = profile_.functions[frame.function];
    if (function.kind == FunctionKind::kNative) return "nat";
    if (!function.in_project) return "lib";
    // One hue a file, the same in every picture (FNV-1a).
    uint32_t hash = 2166136261;
    for (const char c : function.file) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
    return fmt::format("h{}", hash % kHues);
  }

  [[nodiscard]] std::string TitleOf(const Frame& frame) const {
    std::string text = NameOf(frame);
    if (frame.function != UINT32_MAX) {
      const FunctionInfo& function = profile_.functions[frame.function];
      text += "\n" + ValidText(function.file);
      if (function.first_line > 0) text += fmt::format(":{}", function.first_line);
    }
    return text + fmt::format("\n{}, {} of all, {} samples", FormatDuration(frame.time_ns),
                              FormatShare(static_cast<double>(frame.time_ns),
                                          static_cast<double>(tree_[0].time_ns)),
                              FormatCount(frame.samples));
  }

  void DrawFrame(uint32_t root) {
    struct Box {
      uint32_t frame;
      int64_t start_ns;
      size_t depth;
    };
    std::vector<Box> todo = {{root, 0, 0}};
    while (!todo.empty()) {
      const Box box = todo.back();
      todo.pop_back();
      const Frame& frame = tree_[box.frame];
      const double width = static_cast<double>(frame.time_ns) * scale_;
      if (width < kNarrowest) {
        ++left_out_;
        continue;
      }
      rows_ = std::max(rows_, box.depth + 1);
      DrawBox(frame, kMargin + static_cast<double>(box.start_ns) * scale_,
              kHeader + static_cast<double>(box.depth) * kRow, width);
      int64_t start = box.start_ns;
      std::vector<Box> children;
      for (const uint32_t child : tree_.Children(box.frame)) {
        children.push_back({child, start, box.depth + 1});
        start += tree_[child].time_ns;
      }
      todo.insert(todo.end(), children.rbegin(), children.rend());
    }
  }

  void DrawBox(const Frame& frame, double x, double y, double width) {
    const double drawn = std::max(width - (width > 3 ? kGap : 0), kNarrowest);
    boxes_ += fmt::format(
        "<g class=\"f\"><title>{}</title><rect class=\"{}\" x=\"{:.2f}\" y=\"{:.0f}\" "
        "width=\"{:.2f}\" height=\"{:.0f}\" rx=\"2\"/>",
        XmlText(TitleOf(frame)), ClassOf(frame), x, y, drawn, kRow - kGap);
    const auto letters = static_cast<size_t>(std::max(0.0, (drawn - 2 * kPadding) / kLetter));
    if (letters >= kFewestLetters) {
      boxes_ += fmt::format("<text x=\"{:.2f}\" y=\"{:.1f}\">{}</text>", x + kPadding, y + 12.5,
                            XmlText(Shortened(NameOf(frame), letters)));
    }
    boxes_ += "</g>\n";
  }

  const ProfileReader& reader_;
  const Profile& profile_;
  const Tree tree_;
  double scale_ = 0;  // pixels a nanosecond
  std::string boxes_;
  size_t rows_ = 0, left_out_ = 0;
};

}  // namespace

std::string FlameGraphSvg(const ProfileReader& reader, const Profile& profile,
                          const ExportOptions& options) {
  return Drawing(reader, profile, options).Draw();
}

}  // namespace linescope
