#include <gtest/gtest.h>

#include "cli/dump_text.h"

namespace linescope {
namespace {

DumpFrame Frame(const std::string& function, const std::string& file, std::optional<int> line) {
  return {function, function, file, 1, line, std::nullopt};
}

ProcessDump OneThread() {
  ProcessDump dump;
  dump.pid = 7;
  dump.command = {"python", "my app.py"};
  dump.working_directory = "/srv/app";
  dump.python_version = "3.12.1";
  DumpThread thread;
  thread.tid = 7;
  thread.name = "MainThread";
  thread.is_main = true;
  thread.state = DumpThread::State::kWaiting;
  thread.stack = DumpThread::Stack::kExact;
  thread.frames = {Frame("f", "<string>", 3), Frame("Class.method", "/srv/app/no/such.py", 12),
                   Frame("lineless", "<frozen x>", std::nullopt)};
  dump.threads = {thread};
  return dump;
}

std::string Text(const ProcessDump& dump, const Terminal& terminal = {}) {
  DumpSources sources(dump);
  return DumpText(dump, sources, terminal);
}

std::string Json(const ProcessDump& dump) {
  DumpSources sources(dump);
  return DumpJson(dump, sources);
}

TEST(DumpText, AlignsPlacesAndShortensPaths) {
  EXPECT_EQ(Text(OneThread()),
            "Process 7: python 'my app.py'\n"
            "Python 3.12.1, 1 thread, none was stopped; newest call first\n"
            "\n"
            "Thread 7 \"MainThread\": waiting\n"
            "  f             <string>:3\n"
            "  Class.method  no/such.py:12\n"
            "  lineless      <frozen x>\n");
}

TEST(DumpText, SaysWhatIsKnownOfAThread) {
  ProcessDump dump = OneThread();
  dump.stopped_ns = 250'000;
  dump.other_threads = 2;
  DumpThread& thread = dump.threads[0];
  thread.frames.clear();
  thread.state = DumpThread::State::kIdle;
  thread.holds_gil = true;
  thread.interpreter = 3;
  DumpThread second;
  second.tid = 9;
  second.state = DumpThread::State::kRunning;
  second.holds_gil = false;
  dump.threads.push_back(second);
  EXPECT_EQ(Text(dump),
            "Process 7: python 'my app.py'\n"
            "Python 3.12.1, 2 threads and 2 without Python, stopped for 250 µs; newest call first\n"
            "\n"
            "Thread 7 \"MainThread\": idle, holds the GIL, interpreter 3\n"
            "  no Python code\n"
            "\n"
            "Thread 9: running\n"
            "  its stack cannot be read\n");
}

TEST(DumpText, WhatTheTargetNamesIsNeverObeyed) {
  ProcessDump dump = OneThread();
  dump.command = {"\x1b[2J"};
  dump.threads[0].name = "\x1b]0;title\x07";
  dump.threads[0].frames = {Frame("f\x1b[1m", "/tmp/\x9b.py\n", 1)};
  FrameVariables variables;
  variables.variables = {{"v\x1b", Variable::Kind::kLocal, {"<\x1b[31m at 0x1>", "\x1b", false}}};
  variables.left_out = 3;
  dump.threads[0].frames[0].locals = variables;
  for (const Terminal& terminal : {Terminal{}, Terminal{false, 40}}) {
    const std::string text = Text(dump, terminal);
    for (const char c : text)
      EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << text;
    EXPECT_TRUE(text.contains("      v\\x1b = <\\x1b[31m at 0x1>\n      … 3 more variables\n"))
        << text;
  }
}

TEST(DumpText, ColoursOnlyWhereTheyAreWelcome) {
  EXPECT_FALSE(Text(OneThread()).contains("\x1b"));
  EXPECT_TRUE(Text(OneThread(), {true, 80}).contains("\x1b[1mThread 7"));
}

TEST(DumpJson, UnavailableIsNull) {
  ProcessDump dump = OneThread();
  dump.threads[0].frames.resize(1);
  dump.threads[0].name.clear();
  const std::string json = Json(dump);
  EXPECT_TRUE(json.ends_with(
      R"("stopped_ns":null,"other_threads":0,"warnings":[],"threads":[{"id":7,"ident":0,"name":null,)"
      R"("main":true,"interpreter":0,"state":"waiting","holds_gil":null,"stack":"exact",)"
      R"("native_note":null,"frames":[{"kind":"python","function":"f","name":"f","file":"\u003cstring\u003e","line":3,"first_line":1,)"
      R"("source":null,"source_note":"compiled from a string at run time","locals":null,)"
      R"("locals_left_out":null}]}]})"
      "\n"))
      << json;
}

TEST(DumpJson, VariablesTellTheirKindAndWhetherTheyWereCut) {
  ProcessDump dump = OneThread();
  dump.threads[0].frames.resize(1);
  FrameVariables variables;
  variables.variables = {{"a", Variable::Kind::kFree, {"1", "int", false}},
                         {"b", Variable::Kind::kNamespace, {"<unreadable>", "", true}}};
  dump.threads[0].frames[0].locals = variables;
  EXPECT_TRUE(Json(dump).contains(
      R"("locals":[{"name":"a","kind":"free","type":"int","value":"1","cut":false},)"
      R"({"name":"b","kind":"namespace","type":null,"value":"\u003cunreadable\u003e","cut":true}],)"
      R"("locals_left_out":0)"))
      << Json(dump);
}

}  // namespace
}  // namespace linescope
