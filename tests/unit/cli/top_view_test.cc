#include "cli/top_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program_output.h"
#include "cli/terminal.h"
#include "cli/top_render.h"

namespace linescope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Kind = TopKey::Kind;

constexpr int64_t kMs = 1'000'000;

TopKey Char(const std::string& text) { return {.kind = Kind::kCharacter, .text = text}; }

// A hundred lines of /app/app.py, line 1 the hottest, and a library below line 1.
TopModel MakeModel() {
  TopModel model([](const CodeInfo& code, const TopModel::Process&) {
    return code.file.starts_with("/app/");
  });
  Batch batch;
  batch.end_ns = 1000 * kMs;
  batch.processes.push_back({.process = 0, .pid = 100, .command = {"python", "app.py"}});
  batch.pythons.push_back({0, "3.12.1", "", "", {}});
  batch.threads.push_back({ThreadEvent::Kind::kStarted, 0, 0, 100, true, "MainThread", 0});
  for (const char* file : {"/app/app.py", "/usr/lib/json.py"}) {
    CodeInfo code;
    code.file = file;
    code.name = code.qualified_name = std::string(file).starts_with("/app/") ? "work" : "dumps";
    code.first_line = 1;
    batch.codes.push_back(code);
  }
  for (int line = 1; line <= 100; ++line) {
    StackTrie::Node node;
    node.range.line = line;
    batch.nodes.push_back(node);
    batch.cells.push_back({0, static_cast<NodeId>(line - 1), ThreadState::kRunning, 1,
                           (101 - line) * kMs / 10, (101 - line) * kMs / 10});
  }
  StackTrie::Node library;
  library.parent = 0;
  library.code = 1;
  library.range.line = 42;
  batch.nodes.push_back(library);
  batch.cells.push_back({0, 100, ThreadState::kRunning, 600, 600 * kMs, 600 * kMs});
  batch.totals.samples = 700;
  batch.totals.ticks_due = batch.totals.ticks_taken = 700;
  batch.totals.sampled_ns = 700 * kMs;
  model.Apply(batch);
  return model;
}

TopFacts MakeFacts() {
  TopFacts facts;
  facts.title = "app.py";
  facts.pid = 100;
  facts.rate_hz = 1000;
  facts.elapsed_ns = 1000 * kMs;
  facts.project_root = "/app";
  return facts;
}

struct Screen {
  explicit Screen(TopView::Options options = {}, bool unicode = true)
      : view(options), renderer(&sources, unicode), model(MakeModel()), facts(MakeFacts()) {
    std::string text;
    for (int line = 1; line <= 100; ++line) text += "statement_" + std::to_string(line) + "()\n";
    SourceSnapshot snapshot;
    snapshot.path = "/app/app.py";
    snapshot.text = text;
    sources.Add(snapshot);
    snapshot.path = "/usr/lib/json.py";
    snapshot.text = "";
    sources.Add(snapshot);
  }
  std::vector<std::string> Lines(int width = 80, int height = 24) {
    const TopFrame frame = renderer.Render(model, view, facts, width, height);
    EXPECT_EQ(frame.rows.size(), static_cast<size_t>(height));
    std::vector<std::string> lines;
    for (const TopRow& row : frame.rows) {
      std::string line;
      for (const TopText& text : row) line += text.text;
      EXPECT_LE(DisplayWidth(line), width) << line;
      line.erase(line.find_last_not_of(' ') + 1);
      lines.push_back(std::move(line));
    }
    return lines;
  }
  std::string Text(int width = 80, int height = 24) {
    std::string text;
    for (const std::string& line : Lines(width, height)) text += line + "\n";
    return text;
  }
  // The row that the cursor is on.
  std::string Selected() {
    const TopFrame frame = renderer.Render(model, view, facts, 80, 24);
    for (size_t i = 4; i < frame.rows.size(); ++i) {
      if (!frame.rows[i].empty() && frame.rows[i][0].style == TopStyle::kSelected)
        return frame.rows[i][0].text;
    }
    return "";
  }

  TopSources sources;
  TopView view;
  TopRenderer renderer;
  TopModel model;
  TopFacts facts;
};

TEST(TopRender, ShowsTheHottestLineFirst) {
  Screen screen;
  const auto lines = screen.Lines();
  EXPECT_THAT(lines[0], HasSubstr("app.py, pid 100, Python 3.12.1, 1.0 s, running"));
  EXPECT_THAT(lines[1], HasSubstr("1000 of 1000 samples/s, missed: 0, dropped: 0"));
  EXPECT_THAT(lines[2], HasSubstr("threads: 1 (1 running)"));
  EXPECT_THAT(lines[3], HasSubstr("1 Lines"));
  EXPECT_THAT(lines[3], Not(HasSubstr("Output")));
  EXPECT_THAT(lines[4], HasSubstr("Time%▾"));
  // 10 ms of its own, 600 in the library.
  EXPECT_THAT(lines[5], HasSubstr("61.0    1.0    61.0   610 ms  app.py:1   statement_1()"));
  EXPECT_THAT(lines.back(), HasSubstr("q quit  ? help"));
}

TEST(TopRender, FitsAnyTerminal) {
  for (const auto& [width, height] : std::vector<std::pair<int, int>>{
           {80, 24}, {40, 10}, {20, 5}, {200, 60}, {10, 3}, {1, 1}, {80, 2}}) {
    Screen screen({.has_output = true});
    screen.facts.output = {"one", "two", "three", "four"};
    for (const char* keys : {"1", "2", "3", "4", "5", "?"}) {
      screen.view.OnKey(Char(keys));
      EXPECT_FALSE(screen.Text(width, height).empty()) << width << "x" << height << " " << keys;
    }
  }
}

TEST(TopRender, WithoutUnicode) {
  Screen screen({}, false);
  screen.facts.title = std::string(200, 'x');
  const std::string text = screen.Text();
  EXPECT_THAT(text, HasSubstr("Time%v"));
  EXPECT_THAT(text, Not(HasSubstr("…")));
}

TEST(TopRender, TextsOfTheTargetAreNoEscapes) {
  Screen screen;
  screen.facts.title = "evil\x1b[2J";
  EXPECT_THAT(screen.Text(), Not(HasSubstr("\x1b")));
}

TEST(TopRender, DetailsHaveSourceAndStacks) {
  Screen screen;
  screen.view.OnKey(Char("a"));  // by self
  screen.Text();
  screen.view.OnKey({Kind::kEnter});
  const std::string text = screen.Text(100, 40);
  EXPECT_THAT(text, HasSubstr("/usr/lib/json.py:42 in dumps"));
  EXPECT_THAT(text, HasSubstr("the source is not available"));
  EXPECT_THAT(text, HasSubstr("60.0 %, 600 ms"));
  EXPECT_THAT(text, HasSubstr("work  app.py:1  statement_1()"));
  EXPECT_EQ(screen.view.OnKey(Char("q")), TopAction::kNone);
  EXPECT_FALSE(screen.view.opened());
  screen.view.OnKey(Char("a"));
  screen.Text();
  screen.view.OnKey({Kind::kDown});
  screen.view.OnKey({Kind::kEnter});
  const std::string line = screen.Text(100, 40);
  EXPECT_THAT(line, HasSubstr("app.py:2 in work"));
  EXPECT_THAT(line, HasSubstr("2 statement_2()"));
}

TEST(TopRender, SaysWhyNothingIsShown) {
  Screen screen;
  screen.view.OnKey(Char("i"));
  EXPECT_THAT(screen.Text(), HasSubstr("no sample in this time"));
  screen.view.OnKey(Char("i"));
  screen.view.OnKey(Char("/"));
  screen.view.OnKey(Char("zzz"));
  EXPECT_THAT(screen.Text(), HasSubstr("nothing here has 'zzz' in it"));
}

TEST(TopRender, PlainTextHasNoMoreThanWasAsked) {
  Screen screen;
  const std::string text =
      screen.renderer.Text(screen.model, {.weight = Weight::kCpu}, screen.facts, 3, std::nullopt);
  EXPECT_THAT(text, HasSubstr("app.py:3"));
  EXPECT_THAT(text, Not(HasSubstr("app.py:4")));
  EXPECT_EQ(std::ranges::count(text, '\n'), 3 + 1 + 3);
}

TEST(TopView, QuitsFromTheTopOnly) {
  Screen screen;
  screen.view.OnKey(Char("?"));
  EXPECT_TRUE(screen.view.help());
  EXPECT_EQ(screen.view.OnKey(Char("q")), TopAction::kNone);
  EXPECT_FALSE(screen.view.help());
  EXPECT_EQ(screen.view.OnKey(Char("q")), TopAction::kQuit);
}

TEST(TopView, TheCursorStaysOnItsRow) {
  Screen screen;
  EXPECT_THAT(screen.Selected(), HasSubstr("app.py:1 "));
  screen.view.OnKey({Kind::kDown});
  screen.view.OnKey({Kind::kDown});
  EXPECT_THAT(screen.Selected(), HasSubstr("app.py:3 "));
  screen.view.OnKey(Char("r"));
  EXPECT_THAT(screen.Selected(), HasSubstr("app.py:3 "));
  screen.view.OnKey({Kind::kHome});
  EXPECT_THAT(screen.Selected(), HasSubstr("app.py:100 "));
  screen.view.OnKey(Char("r"));
  EXPECT_THAT(screen.Selected(), HasSubstr("app.py:1 "));  // at the top, whoever is there
  screen.view.OnKey({Kind::kEnd});
  EXPECT_THAT(screen.Selected(), HasSubstr("app.py:100 "));
  screen.view.OnKey({Kind::kPageUp});
  EXPECT_THAT(screen.Selected(), HasSubstr("app.py:83 "));
}

TEST(TopView, TypingAFilter) {
  Screen screen;
  screen.view.OnKey(Char("a"));
  screen.view.OnKey(Char("/"));
  for (const char* key : {"d", "u", "m", "q"}) screen.view.OnKey(Char(key));
  EXPECT_EQ(screen.view.Query().filter, "dumq");
  screen.view.OnKey({Kind::kBackspace});
  EXPECT_THAT(screen.Text(), HasSubstr("json.py:42"));
  EXPECT_THAT(screen.Text(), Not(HasSubstr("app.py:1 ")));
  screen.view.OnKey({Kind::kEnter});
  EXPECT_FALSE(screen.view.typing());
  EXPECT_EQ(screen.view.Query().filter, "dum");
  screen.view.OnKey(Char("/"));
  screen.view.OnKey(Char("é"));
  EXPECT_EQ(screen.view.Query().filter, "dumé");
  screen.view.OnKey({Kind::kBackspace});
  EXPECT_EQ(screen.view.Query().filter, "dum");
  screen.view.OnKey({Kind::kEscape});  // what was typed is forgotten
  EXPECT_EQ(screen.view.Query().filter, "dum");
  screen.view.OnKey({Kind::kEscape});
  EXPECT_EQ(screen.view.Query().filter, "");
}

TEST(TopView, PauseAndReset) {
  Screen screen;
  EXPECT_EQ(screen.view.OnKey(Char(" ")), TopAction::kPause);
  EXPECT_TRUE(screen.view.paused());
  EXPECT_THAT(screen.Text(), HasSubstr("paused"));
  EXPECT_EQ(screen.view.OnKey(Char("z")), TopAction::kReset);
  EXPECT_FALSE(screen.view.paused());
}

TEST(TopView, TabsOfWhatThereIs) {
  Screen attached;
  attached.view.OnKey(Char("5"));
  EXPECT_EQ(attached.view.tab(), TopTab::kLines);
  attached.view.OnKey({Kind::kBackTab});
  EXPECT_EQ(attached.view.tab(), TopTab::kProcesses);
  Screen launched({.has_output = true});
  launched.facts.output = {"first", "last"};
  EXPECT_THAT(launched.Text(), HasSubstr("last"));
  launched.view.OnKey({Kind::kBackTab});
  EXPECT_EQ(launched.view.tab(), TopTab::kOutput);
  EXPECT_THAT(launched.Text(), HasSubstr("first"));
}

TEST(ProgramOutput, PlainLines) {
  EXPECT_THAT(PlainLines("", 3), ElementsAre());
  EXPECT_THAT(PlainLines("one\ntwo\nthree\n", 2), ElementsAre("two", "three"));
  EXPECT_THAT(PlainLines("one\n\ntwo", 3), ElementsAre("one", "", "two"));
  EXPECT_THAT(PlainLines(" 10%\r 50%\r100%\r\n", 3), ElementsAre("100%"));
  EXPECT_THAT(PlainLines("\x1b[1;31mred\x1b[0m \x1b]0;title\adone\x1b(B", 3),
              ElementsAre("red done"));
  EXPECT_THAT(PlainLines("ab\bc", 3), ElementsAre("ac"));
  // Cut in the middle of a sequence or of a character.
  EXPECT_THAT(PlainLines("x\x1b[12", 3), ElementsAre("x"));
  EXPECT_THAT(PlainLines("\x1b", 3), ElementsAre(""));
  EXPECT_THAT(PlainLines("\xc3", 3), ElementsAre("\\xc3"));
}

}  // namespace
}  // namespace linescope
