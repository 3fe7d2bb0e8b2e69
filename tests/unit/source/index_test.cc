#include "source/index.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace linescope {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

struct CaseName {
  template <class Case>
  std::string operator()(const ::testing::TestParamInfo<Case>& info) const {
    return info.param.name;
  }
};

SourceIndex Index(std::string_view bytes) { return IndexPython(DecodeSource(bytes)); }

// "kind qualified_name first_line/line-last_line"
std::vector<std::string> Definitions(const SourceIndex& index) {
  constexpr const char* kKinds[] = {"def", "async", "class", "lambda", "type", "comp"};
  std::vector<std::string> rows;
  for (const Definition& d : index.definitions) {
    rows.push_back(fmt::format("{} {} {}/{}-{}", kKinds[static_cast<int>(d.kind)], d.qualified_name,
                               d.first_line, d.line, d.last_line));
  }
  return rows;
}

struct DefinitionCase {
  const char* name;
  const char* source;
  std::vector<std::string> expected;
};

class DefinitionCases : public ::testing::TestWithParam<DefinitionCase> {};

TEST_P(DefinitionCases, AreFound) {
  EXPECT_THAT(Definitions(Index(GetParam().source)), ElementsAreArray(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    All, DefinitionCases,
    ::testing::Values(
        DefinitionCase{"empty", "", {}},
        DefinitionCase{"one_line", "def f(): pass\n", {"def f 1/1-1"}},
        DefinitionCase{"nested",
                       "class A:\n"
                       "    def m(self):\n"
                       "        def inner():\n"
                       "            class B:\n"
                       "                x = 1\n"
                       "        return inner\n",
                       {"class A 1/1-6", "def A.m 2/2-6", "def A.m.<locals>.inner 3/3-5",
                        "class A.m.<locals>.inner.<locals>.B 4/4-5"}},
        DefinitionCase{"decorators_and_trailing_comments",
                       "@a\n"
                       "# between\n"
                       "@b(\n"
                       "    1)\n"
                       "async def f():\n"
                       "    if x:\n"
                       "        pass\n"
                       "        # deep\n"
                       "    # trailing\n"
                       "\n"
                       "# outside\n",
                       {"async f 1/5-7"}},
        DefinitionCase{"decorated_class_with_lambda",
                       "@d(lambda: 1)\nclass C:\n    pass\n",
                       {"lambda <lambda> 1/1-1", "class C 1/2-3"}},
        DefinitionCase{"ends_in_a_string",
                       "def f():\n    '''doc\n    # not a comment\n    '''\nx = 1\n",
                       {"def f 1/1-4"}},
        DefinitionCase{"backslash", "def f(a): \\\n    return \\\n  a\n\n", {"def f 1/1-3"}},
        DefinitionCase{
            "semicolons", "def f(): a; b;\ndef g(): c\n", {"def f 1/1-1", "def g 2/2-2"}},
        DefinitionCase{
            "crlf", "def f():\r\n    pass\r\ndef g():\r\n    pass", {"def f 1/1-2", "def g 3/3-4"}},
        DefinitionCase{
            "cr", "def f():\r    pass\rdef g():\r    pass\r", {"def f 1/1-2", "def g 3/3-4"}},
        DefinitionCase{"form_feed",
                       "def f():\n    pass\n\f\ndef g():\n    pass\n",
                       {"def f 1/1-2", "def g 4/4-5"}},
        DefinitionCase{
            "tabs", "class A:\n\tdef f(self):\n\t\tpass\n", {"class A 1/1-3", "def A.f 2/2-3"}},
        DefinitionCase{
            "generics",
            "def f[T: int, *U](x: T) -> U: ...\nclass A[T]:\n    pass\ntype X[T] = int\n",
            {"def f 1/1-1", "type T 1/1-1", "class A 2/2-3", "type X 4/4-4"}},
        DefinitionCase{"defaults_belong_outside",
                       "class A:\n    def f(self, k=lambda: 1): return lambda: 2\n",
                       {"class A 1/1-2", "def A.f 2/2-2", "lambda A.<lambda> 2/2-2",
                        "lambda A.f.<locals>.<lambda> 2/2-2"}},
        DefinitionCase{
            "comprehensions",
            "def f():\n"
            "    [a for a in b]\n"
            "    {a for a in b}\n"
            "    {a: a for a in b}\n"
            "    sum(a for a in (c for c in b))\n"
            "    ((a for a in b) for b in c)\n"
            "def g(): pass\n",
            {"def f 1/1-6", "comp f.<locals>.<listcomp> 2/2-2", "comp f.<locals>.<setcomp> 3/3-3",
             "comp f.<locals>.<dictcomp> 4/4-4", "comp f.<locals>.<genexpr> 5/5-5",
             "comp f.<locals>.<genexpr> 5/5-5", "comp f.<locals>.<genexpr> 6/6-6",
             "comp f.<locals>.<genexpr>.<genexpr> 6/6-6", "def g 7/7-7"}},
        DefinitionCase{"lambda_of_a_generator",
                       "f = lambda: (x for x in y)\ng = lambda: lambda: 1\n",
                       {"lambda <lambda> 1/1-1", "comp <lambda>.<locals>.<genexpr> 1/1-1",
                        "lambda <lambda> 2/2-2", "lambda <lambda>.<locals>.<lambda> 2/2-2"}},
        DefinitionCase{
            "global_names",
            "def f():\n    global g, H\n    def g(): pass\n    class H: pass\n    def i(): pass\n",
            {"def f 1/1-5", "def g 3/3-3", "class H 4/4-4", "def f.<locals>.i 5/5-5"}},
        DefinitionCase{"match_and_walrus",
                       "def f(x):\n"
                       "    match (y := x):\n"
                       "        case {'a': int() as b} if b:\n"
                       "            def g(): pass\n"
                       "        case _:\n"
                       "            pass\n",
                       {"def f 1/1-6", "def f.<locals>.g 4/4-4"}},
        DefinitionCase{"soft_keywords",
                       "match = 1\ncase = 2\ntype = 3\nprint = 4\ndef match(): pass\n",
                       {"def match 5/5-5"}},
        DefinitionCase{"unicode_names",
                       "def größe():\n    pass\nclass 数据: x = 1\n",
                       {"def größe 1/1-2", "class 数据 3/3-3"}}),
    CaseName());

TEST(Index, FindsDefinitionsOfCodeObjects) {
  const SourceIndex index = Index(
      "@a\n@b\ndef f(): pass\n"
      "x = (lambda: 1, lambda: 2)\n"
      "def g(k=lambda: 3): return lambda: 4\n");
  ASSERT_NE(index.FindDefinition("f", 1), nullptr);
  EXPECT_EQ(index.FindDefinition("f", 1)->line, 3U);
  EXPECT_EQ(index.FindDefinition("f", 3), nullptr) << "co_firstlineno is the decorator's";
  EXPECT_EQ(index.FindDefinition("g", 1), nullptr);
  EXPECT_EQ(index.FindDefinition("<module>", 1), nullptr);
  EXPECT_EQ(index.FindDefinition("<generic parameters of g>", 5)->name, "g");
  ASSERT_NE(index.FindDefinition("<lambda>", 5), nullptr);
  EXPECT_EQ(index.FindDefinition("<lambda>", 5)->qualified_name, "<lambda>");
  EXPECT_EQ(index.FindDefinition("<lambda>", 5, "g.<locals>.<lambda>")->qualified_name,
            "g.<locals>.<lambda>");

  EXPECT_TRUE(Matches(index, "f", 1));
  EXPECT_TRUE(Matches(index, "<module>", 1));
  EXPECT_TRUE(Matches(index, "<something else>", 77));
  EXPECT_FALSE(Matches(index, "f", 2));
  EXPECT_FALSE(Matches(index, "h", 1));
  EXPECT_FALSE(Matches(index, "<lambda>", 1));
}

TEST(Index, FindsTheEnclosingDefinition) {
  const SourceIndex index = Index(
      "x = 1\n"                          // 1
      "@a\n"                             // 2
      "class C:\n"                       // 3
      "    def f(self, k=lambda: 1):\n"  // 4
      "        y = [lambda: z\n"         // 5
      "             for z in k]\n"       // 6
      "        return y\n"               // 7
      "    # c\n"                        // 8
      "    z = 1\n"                      // 9
      "w = 1\n");                        // 10
  const auto name = [&](uint32_t line) -> std::string {
    const Definition* definition = index.EnclosingDefinition(line);
    return definition == nullptr ? "" : definition->name;
  };
  const char* expected[] = {"", "", "", "C", "f", "f", "f", "f", "C", "C", ""};
  for (uint32_t line = 0; line <= 10; ++line) EXPECT_EQ(name(line), expected[line]) << line;
}

// One row a line: the statement it belongs to, "-" for none.
std::string Statements(std::string_view bytes) {
  const SourceText source = DecodeSource(bytes);
  const SourceIndex index = IndexPython(source);
  std::string row;
  for (uint32_t line = 1; line <= source.LineCount(); ++line) {
    const auto range = index.StatementAt(line);
    row += range ? fmt::format("{}-{} ", range->first, range->last) : "- ";
  }
  return row;
}

struct StatementCase {
  const char* name;
  const char* source;
  const char* expected;
};

class StatementCases : public ::testing::TestWithParam<StatementCase> {};

TEST_P(StatementCases, AreFound) { EXPECT_EQ(Statements(GetParam().source), GetParam().expected); }

INSTANTIATE_TEST_SUITE_P(
    All, StatementCases,
    ::testing::Values(
        StatementCase{"simple", "a = 1\n\n# c\nb = 2\n", "1-1 - - 4-4 "},
        StatementCase{"brackets", "f(\n    1,\n\n    # c\n    2)\n", "1-5 1-5 1-5 1-5 1-5 "},
        StatementCase{"backslash", "x = 1 + \\\n    2\ny\n", "1-2 1-2 3-3 "},
        StatementCase{"long_string", "x = '''a\nb\n'''\n", "1-3 1-3 1-3 "},
        StatementCase{"implicit_concatenation", "x = ('a'\n     'b')\n", "1-2 1-2 "},
        StatementCase{"headers", "if (a and\n    b):\n    # c\n    x\nelif c: y\nelse:\n    z\n",
                      "1-2 1-2 - 4-4 5-5 6-6 7-7 "},
        StatementCase{"function_header",
                      "@d(\n  1)\ndef f(\n    a,\n    b: int = 1,\n) -> int:\n    return a\n",
                      "1-2 1-2 3-6 3-6 3-6 3-6 7-7 "},
        StatementCase{
            "try_with_for",
            "try:\n  with (a as b,\n        c):\n    pass\nexcept (A,\n        B) as e:\n  x\n"
            "finally:\n  y\nfor i in [\n    1]:\n  z\n",
            "1-1 2-3 2-3 4-4 5-6 5-6 7-7 8-8 9-9 10-11 10-11 12-12 "},
        StatementCase{"match_case", "match x:\n  case {'a': 1,\n        'b': 2}:\n    y\n",
                      "1-1 2-3 2-3 4-4 "},
        StatementCase{"shared_lines", "a = [\n1]; b = [\n2]\nc; d\n", "1-3 1-3 1-3 4-4 "},
        StatementCase{"body_on_the_header_line", "if a: x = [\n  1]\ny\n", "1-2 1-2 3-3 "},
        StatementCase{"lambda_and_dict", "x = {\n  'a': lambda: [\n    1],\n}\n",
                      "1-4 1-4 1-4 1-4 "},
        StatementCase{"crlf", "a = [\r\n1]\r\nb\r\n", "1-2 1-2 3-3 "},
        StatementCase{"no_line_end", "x = (1 +\n2)", "1-2 1-2 "},
        StatementCase{"broken", "a = [\n  1]\n)\nb = (\n  2)\n", "1-2 1-2 - 4-5 4-5 "}),
    CaseName());

// Each token as "text:class" with the text cut out by UTF-16 columns.
std::vector<std::string> Tokens(std::string_view bytes) {
  constexpr const char* kNames[] = {"",        "kw",      "str",  "num",   "comment",
                                    "defname", "builtin", "deco", "interp"};
  const SourceText source = DecodeSource(bytes);
  std::vector<std::string> rows;
  for (const Token& token : IndexPython(source).tokens) {
    const std::string_view line = source.Line(token.line);
    const uint32_t begin = ByteColumn(line, token.column);
    const uint32_t end = ByteColumn(line, token.column + token.length);
    rows.push_back(fmt::format("{}:{}", line.substr(begin, end - begin),
                               kNames[static_cast<int>(token.token_class)]));
  }
  return rows;
}

struct TokenCase {
  const char* name;
  const char* source;
  std::vector<std::string> expected;
};

class TokenCases : public ::testing::TestWithParam<TokenCase> {};

TEST_P(TokenCases, AreClassified) {
  EXPECT_THAT(Tokens(GetParam().source), ElementsAreArray(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    All, TokenCases,
    ::testing::Values(
        TokenCase{
            "definition",
            "async def f(x=1): return None  # c\n",
            {"async:kw", "def:kw", "f:defname", "1:num", "return:kw", "None:kw", "# c:comment"}},
        TokenCase{"class",
                  "class A(Exception): x = 0x1F\n",
                  {"class:kw", "A:defname", "Exception:builtin", "0x1F:num"}},
        TokenCase{"operators_in_words",
                  "a is not b and c not in d if e else f\n",
                  {"is:kw", "not:kw", "and:kw", "not:kw", "in:kw", "if:kw", "else:kw"}},
        TokenCase{"strings",
                  "x = rb'a\\n' 'b' \"\"\"c\n  d\"\"\"\n",
                  {"rb'a\\n':str", "'b':str", "\"\"\"c:str", "  d\"\"\":str"}},
        TokenCase{"f_string",
                  "f\"a{x!r:>{w}.2f}b{{c}}\" f'{y = }'\n",
                  {"f\"a:str", "{:interp", "!r:>{:interp", "}.2f}:interp", "b{{c}}\":str", "f':str",
                   "{:interp", "=:interp", "}:interp", "':str"}},
        TokenCase{"f_string_with_the_same_quotes",
                  "f'{d['k']}'\n",
                  {"f':str", "{:interp", "'k':str", "}:interp", "':str"}},
        TokenCase{"f_string_nested",
                  "f'{f\"{1}\"}'\n",
                  {"f':str", "{:interp", "f\":str", "{:interp", "1:num", "}:interp", "\":str",
                   "}:interp", "':str"}},
        TokenCase{"t_string", "t'a{b}'\n", {"t'a:str", "{:interp", "}:interp", "':str"}},
        TokenCase{"decorator",
                  "@a.b(len)\n@c\ndef f(): pass\n",
                  {"@a.b:deco", "len:builtin", "@c:deco", "def:kw", "f:defname", "pass:kw"}},
        TokenCase{"matrix_product_is_no_decorator", "a @ b.c\n", {}},
        TokenCase{"builtins_by_plain_name_only",
                  "len(x.len, len=1)\nx.id = print\n",
                  {"len:builtin", "1:num", "print:builtin"}},
        TokenCase{"shadowed_builtins",
                  "def f(id, *, type: int = 1):\n    return id, type, int\nid\n",
                  {"def:kw", "f:defname", "int:builtin", "1:num", "return:kw", "int:builtin",
                   "id:builtin"}},
        TokenCase{"rebound_builtins",
                  "input = 1\ninput\nfor id, x in y: id\nimport a as open\nopen\n",
                  {"1:num", "for:kw", "in:kw", "import:kw", "as:kw"}},
        TokenCase{"methods_do_not_shadow",
                  "class A:\n    def list(self): return list\n    x = list\n",
                  {"class:kw", "A:defname", "def:kw", "list:defname", "return:kw", "list:builtin"}},
        TokenCase{"soft_keywords",
                  "match x:\n    case int(): type = 1\ntype X = int\nmatch(case)\n",
                  {"match:kw", "case:kw", "int:builtin", "1:num", "type:kw", "int:builtin"}},
        TokenCase{"emoji", "x = '😀', len  # é😀\n", {"'😀':str", "len:builtin", "# é😀:comment"}}),
    CaseName());

TEST(Tokens, CountColumnsInUtf16) {
  const SourceIndex index = Index("é = '😀'; y = 1\n");
  EXPECT_THAT(index.tokens, ElementsAre(Token{1, 4, 4, TokenClass::kString},
                                        Token{1, 14, 1, TokenClass::kNumber}));
}

TEST(Tokens, AreSortedAndDisjointAlsoInBrokenSources) {
  const char* sources[] = {
      "def f(:\n  x = f'{a:{b}' \"\nclass\n  @a\nlambda: (\n",
      "f'{f'{f'{\n'''\n",
      "if x\n  elif y: 'a\n\"\"\"b\n",
      "x = f'{a!r:{{}}}\n\\\n\t\\\n  @",
  };
  for (const char* bytes : sources) {
    const SourceText source = DecodeSource(bytes);
    const SourceIndex index = IndexPython(source);
    EXPECT_TRUE(index.has_errors);
    uint32_t line = 0, column = 0;
    for (const Token& token : index.tokens) {
      if (token.line != line) column = 0;
      EXPECT_GE(token.line, line);
      EXPECT_GE(token.column, column) << bytes;
      line = token.line;
      column = token.column + token.length;
      EXPECT_GT(token.length, 0U);
      EXPECT_LE(column, Utf16Length(source.Line(line)));
    }
  }
}

TEST(Index, KeepsWhatItCanOfBrokenSources) {
  const SourceIndex index = Index(
      "def f(:\n"
      "    pass\n"
      "def g():\n"
      "    return 1\n");
  EXPECT_TRUE(index.has_errors);
  EXPECT_THAT(Definitions(index), ElementsAre("def f 1/1-2", "def g 3/3-4"));
  EXPECT_FALSE(index.definitions[0].reliable);
  EXPECT_TRUE(index.definitions[1].reliable);
  EXPECT_EQ(index.StatementAt(1), std::nullopt);
  EXPECT_EQ(index.StatementAt(4), (LineRange{4, 4}));
  EXPECT_TRUE(Matches(index, "hidden", 1)) << "an error may hide definitions";
}

TEST(Index, TakesNulAndInvalidBytes) {
  using std::string_view_literals::operator""sv;
  EXPECT_THAT(Definitions(Index("x = '\0\xFF'\ndef f(): pass\n\0\n"sv)), Contains("def f 2/2-2"));
  EXPECT_THAT(Definitions(Index("def g(): pass\n\0\n\0\0def f(): pass\n"sv)),
              Contains("def g 1/1-1"));
}

TEST(Index, TakesALineOfAMegabyte) {
  constexpr uint32_t kCount = 110'000;
  std::string bytes = "x = [";
  for (uint32_t i = 0; i < kCount; ++i) bytes += "'é', 1, ";
  bytes += "]\ndef f(): pass\n";
  const SourceIndex index = Index(bytes);
  ASSERT_TRUE(index.complete);
  EXPECT_THAT(Definitions(index), ElementsAre("def f 2/2-2"));
  ASSERT_EQ(index.tokens.size(), 2 * kCount + 3);
  EXPECT_EQ(index.tokens[2 * kCount - 2], (Token{1, 5 + 8 * (kCount - 1), 3, TokenClass::kString}));
}

TEST(Index, NestsDeeply) {
  constexpr size_t kDepth = 20'000;
  const std::string bytes =
      "x = " + std::string(kDepth, '(') + "1" + std::string(kDepth, ')') + "\ndef f(): pass\n";
  EXPECT_THAT(Definitions(Index(bytes)), Contains("def f 2/2-2"));
}

TEST(Index, GivesUpOnMoreIndentationThanTheGrammarHolds) {
  std::string bytes;
  for (size_t i = 0; i < 600; ++i) bytes += std::string(i, ' ') + "if f'{x}':\n";
  const SourceIndex index = Index(bytes);
  EXPECT_FALSE(index.complete);
  EXPECT_THAT(index.definitions, IsEmpty());
  EXPECT_TRUE(Matches(index, "f", 1));
  EXPECT_FALSE(Index(std::string(70'000, ' ') + "x\n").complete);
}

TEST(Index, IsTheSameFromManyThreads) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes += fmt::format("def f{}(a, b):\n    return f'{{a}}'\n", i);
  const SourceText source = DecodeSource(bytes);
  const SourceIndex expected = IndexPython(source);
  std::vector<SourceIndex> indexes(4);
  {
    std::vector<std::jthread> threads;
    for (SourceIndex& index : indexes) {
      threads.emplace_back([&] { index = IndexPython(source); });
    }
  }
  for (const SourceIndex& index : indexes) {
    EXPECT_EQ(index.tokens, expected.tokens);
    EXPECT_EQ(index.statements, expected.statements);
    EXPECT_EQ(Definitions(index), Definitions(expected));
  }
}

}  // namespace
}  // namespace linescope
