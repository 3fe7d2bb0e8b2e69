#include "source/links.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>

namespace linescope {
namespace {

using ::testing::ElementsAreArray;

// A project whose folder is /p and whose script lies there.
class Project {
 public:
  explicit Project(const std::map<std::string, std::string>& files) {
    for (const auto& [name, text] : files) {
      paths_.push_back("/p/" + name);
      texts_.push_back(DecodeSource(text));
      indexes_.push_back(IndexPython(texts_.back()));
    }
  }

  // The links of a file as "line:text -> file:line".
  std::vector<std::string> LinksOf(const std::string& name) const {
    std::vector<LinkSource> sources;
    for (size_t i = 0; i < paths_.size(); ++i) sources.push_back({paths_[i], &indexes_[i]});
    const auto links = ResolveLinks(sources, {.scripts = {"/p"}, .others = {}});
    const size_t file =
        static_cast<size_t>(std::ranges::find(paths_, "/p/" + name) - paths_.begin());
    std::vector<std::string> rows;
    for (const Link& link : links[file]) {
      const std::string_view line = texts_[file].Line(link.line);
      const uint32_t begin = ByteColumn(line, link.column);
      const uint32_t end = ByteColumn(line, link.column + link.length);
      rows.push_back(fmt::format("{}:{} -> {}:{}", link.line, line.substr(begin, end - begin),
                                 paths_[link.file].substr(3), link.target_line));
    }
    return rows;
  }

 private:
  std::vector<std::string> paths_;
  std::deque<SourceText> texts_;
  std::deque<SourceIndex> indexes_;
};

struct LinkCase {
  const char* name;
  std::map<std::string, std::string> files;  // the links of m.py are looked at
  std::vector<std::string> expected;
};

class LinkCases : public ::testing::TestWithParam<LinkCase> {};

TEST_P(LinkCases, AreFound) {
  EXPECT_THAT(Project(GetParam().files).LinksOf("m.py"), ElementsAreArray(GetParam().expected));
}

struct CaseName {
  std::string operator()(const ::testing::TestParamInfo<LinkCase>& info) const {
    return info.param.name;
  }
};

LinkCase One(const char* name, const char* text, std::vector<std::string> expected) {
  return {name, {{"m.py", text}}, std::move(expected)};
}

INSTANTIATE_TEST_SUITE_P(
    WithinOneFile, LinkCases,
    ::testing::Values(
        One("call", "def f(): pass\nf()\n", {"2:f -> m.py:1"}),
        One("each_call_of_a_line", "def f(x): pass\ndef g(x): pass\nf(g(f(1)))\n",
            {"3:f -> m.py:1", "3:g -> m.py:2", "3:f -> m.py:1"}),
        One("behind_wide_characters", "def f(x): pass\n'\xF0\x9F\x98\x80'; f(1)\n",
            {"2:f -> m.py:1"}),
        One("async", "async def f(): pass\nasync def g():\n    await f()\n", {"3:f -> m.py:1"}),
        One("class", "class A: pass\nA()\n", {"2:A -> m.py:1"}),
        One("decorated_definition", "@d\ndef f(): pass\nf()\n", {"3:f -> m.py:2"}),
        One("decorator", "def d(f): return f\n@d\ndef g(): pass\n", {"2:d -> m.py:1"}),
        One("called_decorator", "def d(n): return n\n@d(3)\ndef g(): pass\n", {"2:d -> m.py:1"}),
        One("passed_uncalled", "def worker(): pass\nThread(target=worker)\n",
            {"2:worker -> m.py:1"}),
        One("base_class", "class A: pass\nclass B(A): pass\n", {"2:A -> m.py:1"}),
        One("in_an_f_string", "def f(): pass\nf'{f()!r:>{f()}}'\n",
            {"2:f -> m.py:1", "2:f -> m.py:1"}),
        One("in_a_comprehension", "def f(x): pass\n[f(x) for x in f(1) if f(x)]\n",
            {"2:f -> m.py:1", "2:f -> m.py:1", "2:f -> m.py:1"}),
        One("in_a_default_and_an_annotation", "class A: pass\ndef f(x: A = A()) -> A: pass\n",
            {"2:A -> m.py:1", "2:A -> m.py:1", "2:A -> m.py:1"}),
        One("before_its_definition_from_a_function", "def g(): f()\ndef f(): pass\n",
            {"1:f -> m.py:2"}),
        One("nested", "def f():\n    def g(): pass\n    g()\n", {"3:g -> m.py:2"}),
        One("recursion", "def f(): f()\n", {"1:f -> m.py:1"}),
        One("alias", "def f(): pass\ng = f\ng()\n", {"2:f -> m.py:1", "3:g -> m.py:1"}),
        One("method_of_a_class", "class A:\n    def f(self): pass\nA.f(1)\n",
            {"3:A -> m.py:1", "3:f -> m.py:2"}),
        One("nested_class", "class A:\n    class B:\n        def f(self): pass\nA.B().f()\n",
            {"4:A -> m.py:1", "4:B -> m.py:2", "4:f -> m.py:3"}),
        One("instance", "class A:\n    def f(self): pass\na = A()\na.f()\n",
            {"3:A -> m.py:1", "4:f -> m.py:2"}),
        One("local_instance",
            "class A:\n    def f(self): pass\ndef g():\n    a = A()\n    return a.f()\n",
            {"4:A -> m.py:1", "5:f -> m.py:2"}),
        One("instance_that_was_none", "class A:\n    def f(self): pass\na = None\na = A()\na.f()\n",
            {"4:A -> m.py:1", "5:f -> m.py:2"}),
        One("fresh_instance", "class A:\n    def f(self): pass\nA().f()\n",
            {"3:A -> m.py:1", "3:f -> m.py:2"}),
        One("annotated_parameter", "class A:\n    def f(self): pass\ndef g(a: A): a.f()\n",
            {"3:A -> m.py:1", "3:f -> m.py:2"}),
        One("self", "class A:\n    def f(self): self.g()\n    def g(self): pass\n",
            {"2:g -> m.py:3"}),
        One("self_in_a_closure",
            "class A:\n    def f(self):\n        return lambda: self.g()\n    def g(self): pass\n",
            {"3:g -> m.py:4"}),
        One("self_by_any_name", "class A:\n    def f(this): this.g()\n    def g(self): pass\n",
            {"2:g -> m.py:3"}),
        One("cls",
            "class A:\n    @classmethod\n    def f(cls): cls.g(); return cls()\n"
            "    def g(self): pass\n",
            {"3:g -> m.py:4"}),
        One("attribute_of_self",
            "class A:\n    def f(self): pass\n"
            "class B:\n    def __init__(self): self.a = A()\n    def g(self): self.a.f()\n",
            {"4:A -> m.py:1", "5:f -> m.py:2"}),
        One("inherited",
            "class A:\n    def f(self): pass\nclass B(A):\n    def g(self): self.f()\nB().f()\n",
            {"3:A -> m.py:1", "4:f -> m.py:2", "5:B -> m.py:3", "5:f -> m.py:2"}),
        One("overridden",
            "class A:\n    def f(self): pass\nclass B(A):\n    def f(self): pass\nB().f()\n",
            {"3:A -> m.py:1", "5:B -> m.py:3", "5:f -> m.py:4"}),
        One("diamond",
            "class A:\n    def f(self): pass\nclass B(A): pass\n"
            "class C(A):\n    def f(self): pass\nclass D(B, C): pass\nD().f()\n",
            {"3:A -> m.py:1", "4:A -> m.py:1", "6:B -> m.py:3", "6:C -> m.py:4", "7:D -> m.py:6",
             "7:f -> m.py:5"}),
        One("super", "class A:\n    def f(self): pass\nclass B(A):\n    def f(self): super().f()\n",
            {"3:A -> m.py:1", "4:f -> m.py:2"}),
        One("own_method_beside_an_unknown_base",
            "from z import Z\nclass A(Z):\n    def f(self): self.g()\n    def g(self): pass\n",
            {"3:g -> m.py:4"}),
        One("property", "class A:\n    @property\n    def p(self): pass\nA().p\n",
            {"4:A -> m.py:1", "4:p -> m.py:3"}),
        One("property_with_setter",
            "class A:\n    @property\n    def p(self): pass\n"
            "    @p.setter\n    def p(self, v): pass\nA().p\n",
            {"4:p -> m.py:3", "6:A -> m.py:1", "6:p -> m.py:3"}),
        One("overloads",
            "@overload\ndef f(x: int): ...\n@overload\ndef f(x: str): ...\ndef f(x): pass\nf(1)\n",
            {"6:f -> m.py:5"}),
        One("private_method", "class A:\n    def f(self): self.__g()\n    def __g(self): pass\n",
            {"2:__g -> m.py:3"}),
        One("within_the_branch_that_defines_it", "if x:\n    def f(): pass\n    f()\n",
            {"3:f -> m.py:2"}),
        One("main_block",
            "class A:\n    def f(self): pass\nif __name__ == '__main__':\n    a = A()\n    a.f()\n",
            {"4:A -> m.py:1", "5:f -> m.py:2"}),
        One("class_pattern", "class A: pass\nmatch x:\n    case A(): pass\n", {"3:A -> m.py:1"}),
        One("beside_a_syntax_error", "def f(): pass\nf()\nx = = 1\nf()\n",
            {"2:f -> m.py:1", "4:f -> m.py:1"}),
        One("generic_class_and_function",
            "class A[T]:\n    def f[U](self, x: U): self.g()\n    def g(self): pass\n",
            {"2:g -> m.py:3"})),
    CaseName());

INSTANTIATE_TEST_SUITE_P(
    InDoubt, LinkCases,
    ::testing::Values(
        One("nothing_to_link", "print(len(x))\nimport numpy as np\nnp.zeros(3)\n", {}),
        One("two_definitions", "def f(): pass\ndef f(): pass\nf()\n", {}),
        One("definition_and_assignment", "def f(): pass\nf = g(f)\nf()\n", {}),
        One("deleted", "def f(): pass\ndel f\nf()\n", {}),
        One("either_branch", "if x:\n    def f(): pass\nelse:\n    def f(): pass\nf()\n", {}),
        One("conditional", "if x:\n    def f(): pass\nf()\n", {}),
        One("in_a_try", "try:\n    def f(): pass\nexcept E: pass\nf()\n", {}),
        One("not_yet_defined", "f()\ndef f(): pass\n", {}),
        One("shadowed_by_a_parameter", "def f(): pass\ndef g(f): f()\n", {}),
        One("shadowed_by_a_local", "def f(): pass\ndef g():\n    f = h()\n    f()\n", {}),
        One("shadowed_later", "def f(): pass\ndef g():\n    f()\n    f = 1\n", {}),
        One("shadowed_by_a_loop", "def f(): pass\nfor f in x: f()\n", {}),
        One("shadowed_by_with", "def f(): pass\nwith x as f: f()\n", {}),
        One("shadowed_by_except", "def f(): pass\ntry: pass\nexcept E as f: f()\n", {}),
        One("shadowed_by_a_comprehension", "def f(): pass\n[f() for f in x]\n", {}),
        One("shadowed_by_a_lambda", "def f(): pass\nlambda f: f()\n", {}),
        One("shadowed_by_a_walrus", "def f(): pass\n[(f := 1) for x in y]\nf()\n", {}),
        One("shadowed_by_a_pattern", "def f(): pass\nmatch x:\n    case [f, *r]: f()\n", {}),
        One("shadowed_by_a_type_parameter", "class T: pass\ndef f[T](x: T): pass\n", {}),
        One("rebound_by_global", "def f(): pass\ndef g():\n    global f\n    f = 1\nf()\n", {}),
        One("rebound_by_nonlocal",
            "def h():\n    def f(): pass\n    def g():\n        nonlocal f\n        f = 1\n    "
            "f()\n",
            {}),
        One("rebound_by_augmented_assignment", "def f(): pass\nf += 1\nf()\n", {}),
        One("rebound_instance", "class A:\n    def f(self): pass\na = A()\na = b\na.f()\n",
            {"3:A -> m.py:1"}),
        One("name_of_a_class_body_in_its_methods",
            "class A:\n    def f(self): pass\n    def g(self): f()\n", {}),
        One("method_of_an_unknown_object", "class A:\n    def f(self): pass\nx.f()\n", {}),
        One("static_method_has_no_self",
            "class A:\n    @staticmethod\n    def f(self): self.g()\n    def g(self): pass\n", {}),
        One("self_rebound",
            "class A:\n    def f(self):\n        self = x\n        self.g()\n    def g(self): "
            "pass\n",
            {}),
        One("method_that_an_instance_replaces",
            "class A:\n    def __init__(self): self.f = x\n    def f(self): pass\n"
            "    def g(self): self.f()\n",
            {}),
        One("method_that_is_patched", "class A:\n    def f(self): pass\nA.f = x\nA().f()\n",
            {"3:A -> m.py:1", "4:A -> m.py:1"}),
        One("unknown_base_comes_first",
            "class A:\n    def f(self): pass\nclass B(z.Z, A): pass\nB().f()\n",
            {"3:A -> m.py:1", "4:B -> m.py:3"}),
        One("class_that_makes_others",
            "class A:\n    def __new__(cls): return x\n    def f(self): pass\nA().f()\n",
            {"4:A -> m.py:1"}),
        One("class_with_a_metaclass", "class A(metaclass=M):\n    def f(self): pass\nA().f()\n",
            {"3:A -> m.py:1"}),
        One("class_that_is_decorated_away", "@single\nclass A:\n    def f(self): pass\nA().f()\n",
            {"4:A -> m.py:2"}),
        One("result_of_a_method", "class A:\n    def f(self): pass\nA().f().f()\n",
            {"3:A -> m.py:1", "3:f -> m.py:2"}),
        One("private_method_of_a_base",
            "class A:\n    def __g(self): pass\nclass B(A):\n    def f(self): self.__g()\n",
            {"3:A -> m.py:1"}),
        One("private_function_in_a_class", "def __f(): pass\nclass A:\n    def g(self): __f()\n",
            {}),
        One("star_import_behind", "def f(): pass\nfrom z import *\nf()\n", {}),
        One("under_a_syntax_error", "def f(): pass\nx = (f() = = f(\n", {}),
        One("header_with_an_error", "def f(a b): pass\nf()\n", {}),
        One("keyword_argument", "def f(): pass\ng(f=1)\n", {}),
        One("attribute_of_the_same_name", "def f(): pass\nx.f()\n", {}),
        One("circle", "a = b\nb = a\na()\n", {}),
        One("circle_of_bases", "class A(B): pass\nclass B(A): pass\nB().f()\n",
            {"2:A -> m.py:1", "3:B -> m.py:2"})),
    CaseName());

INSTANTIATE_TEST_SUITE_P(
    AcrossFiles, LinkCases,
    ::testing::Values(
        LinkCase{"import",
                 {{"a.py", "def f(): pass\n"}, {"m.py", "import a\na.f()\n"}},
                 {"1:a -> a.py:1", "2:a -> a.py:1", "2:f -> a.py:1"}},
        LinkCase{"from_import",
                 {{"a.py", "\ndef f(): pass\n"}, {"m.py", "from a import f, g\nf(); g()\n"}},
                 {"1:a -> a.py:1", "1:f -> a.py:2", "2:f -> a.py:2"}},
        LinkCase{"aliases",
                 {{"a/__init__.py", ""},
                  {"a/b.py", "def f(): pass\n"},
                  {"m.py", "import a.b as c\nfrom a.b import f as g\nc.f(); g()\n"}},
                 {"1:a -> a/__init__.py:1", "1:b -> a/b.py:1", "2:a -> a/__init__.py:1",
                  "2:b -> a/b.py:1", "2:f -> a/b.py:1", "3:c -> a/b.py:1", "3:f -> a/b.py:1",
                  "3:g -> a/b.py:1"}},
        LinkCase{"dotted",
                 {{"a/__init__.py", ""},
                  {"a/b.py", "class C:\n    def f(self): pass\n"},
                  {"m.py", "import a.b\na.b.C().f()\n"}},
                 {"1:a -> a/__init__.py:1", "1:b -> a/b.py:1", "2:a -> a/__init__.py:1",
                  "2:b -> a/b.py:1", "2:C -> a/b.py:1", "2:f -> a/b.py:2"}},
        LinkCase{"re_export",
                 {{"a/__init__.py", "from .b import f\nfrom . import c as d\n"},
                  {"a/b.py", "def f(): pass\n"},
                  {"a/c.py", "def g(): pass\n"},
                  {"m.py", "from a import f, d\nf(); d.g()\n"}},
                 {"1:a -> a/__init__.py:1", "1:f -> a/b.py:1", "1:d -> a/c.py:1", "2:f -> a/b.py:1",
                  "2:d -> a/c.py:1", "2:g -> a/c.py:1"}},
        LinkCase{"function_that_hides_its_module",
                 {{"a/__init__.py", "from .f import f\n"},
                  {"a/f.py", "\ndef f(): pass\n"},
                  {"m.py", "from a import f\nf()\n"}},
                 {"1:a -> a/__init__.py:1", "1:f -> a/f.py:2", "2:f -> a/f.py:2"}},
        LinkCase{"package_of_unknown_code",
                 {{"a/f.py", "def g(): pass\n"}, {"m.py", "from a import f\nf(); f.g()\n"}},
                 {"2:g -> a/f.py:1"}},
        LinkCase{"instance_of_another_file",
                 {{"a.py", "class A:\n    def f(self): pass\na = A()\n"},
                  {"m.py", "from a import a\na.f()\n"}},
                 {"1:a -> a.py:1", "2:f -> a.py:2"}},
        LinkCase{"base_of_another_file",
                 {{"a.py", "class A:\n    def f(self): pass\n"},
                  {"m.py", "import a\nclass B(a.A):\n    def g(self): self.f()\n"}},
                 {"1:a -> a.py:1", "2:a -> a.py:1", "2:A -> a.py:1", "3:f -> a.py:2"}},
        LinkCase{"learnt_root",
                 {{"src/a/__init__.py", ""},
                  {"src/a/b.py", "def f(): pass\n"},
                  {"src/a/c.py", "from a.b import f\n"},
                  {"m.py", "import a.b\na.b.f()\n"}},
                 {"1:a -> src/a/__init__.py:1", "1:b -> src/a/b.py:1", "2:a -> src/a/__init__.py:1",
                  "2:b -> src/a/b.py:1", "2:f -> src/a/b.py:1"}},
        LinkCase{
            "third_party", {{"lib/numpy.py", "def f(): pass\n"}, {"m.py", "import numpy\n"}}, {}},
        LinkCase{"standard_module_of_that_name_beside_the_script",
                 {{"random.py", "def f(): pass\n"}, {"m.py", "import random\nrandom.f()\n"}},
                 {"1:random -> random.py:1", "2:random -> random.py:1", "2:f -> random.py:1"}},
        LinkCase{"module_that_was_there_before", {{"os.py", ""}, {"m.py", "import os\n"}}, {}},
        LinkCase{"either_import",
                 {{"a.py", "def f(): pass\n"},
                  {"b.py", "def f(): pass\n"},
                  {"m.py", "try:\n    from a import f\nexcept E:\n    from b import f\nf()\n"}},
                 {"2:a -> a.py:1", "2:f -> a.py:1", "4:b -> b.py:1", "4:f -> b.py:1"}},
        LinkCase{"star_import",
                 {{"a.py", "def f(): pass\n"}, {"m.py", "from a import *\nf()\n"}},
                 {"1:a -> a.py:1"}},
        LinkCase{"re_export_by_star",
                 {{"a/__init__.py", "from .b import *\n"},
                  {"a/b.py", "def f(): pass\n"},
                  {"m.py", "import a\na.f()\n"}},
                 {"1:a -> a/__init__.py:1", "2:a -> a/__init__.py:1"}},
        LinkCase{"conditional_in_the_other_file",
                 {{"a.py", "if x:\n    def f(): pass\n"}, {"m.py", "from a import f\nf()\n"}},
                 {"1:a -> a.py:1"}},
        LinkCase{"patched_from_elsewhere",
                 {{"a.py", "def f(): pass\n"},
                  {"b.py", "import a\na.f = 1\n"},
                  {"m.py", "import a\na.f()\n"}},
                 {"1:a -> a.py:1", "2:a -> a.py:1"}},
        LinkCase{"circle_of_imports",
                 {{"a.py", "from b import x\n"},
                  {"b.py", "from a import x\n"},
                  {"m.py", "from a import x\nx()\n"}},
                 {"1:a -> a.py:1"}}),
    CaseName());

TEST(Links, RelativeImports) {
  const Project project({{"a/__init__.py", ""},
                         {"a/b.py", "def f(): pass\n"},
                         {"a/c/__init__.py", ""},
                         {"a/c/d.py",
                          "from ..b import f\nfrom . import e\nfrom .. import b\n"
                          "f(); e.g(); b.f()\n"},
                         {"a/c/e.py", "def g(): pass\n"}});
  EXPECT_THAT(project.LinksOf("a/c/d.py"),
              ElementsAreArray({"1:b -> a/b.py:1", "1:f -> a/b.py:1", "2:e -> a/c/e.py:1",
                                "3:b -> a/b.py:1", "4:f -> a/b.py:1", "4:e -> a/c/e.py:1",
                                "4:g -> a/c/e.py:1", "4:b -> a/b.py:1", "4:f -> a/b.py:1"}));
}

TEST(Links, SourcesWithoutAnIndexAreNoTargets) {
  const SourceText text = DecodeSource("import a\na.f()\n");
  const SourceIndex index = IndexPython(text);
  const LinkSource sources[] = {{"/p/a.py", nullptr}, {"/p/m.py", &index}};
  const auto links = ResolveLinks(sources, {.scripts = {"/p"}, .others = {}});
  EXPECT_TRUE(links[0].empty());
  for (const Link& link : links[1]) EXPECT_EQ(link.target_line, 1u);
}

TEST(Links, EffortIsBounded) {
  std::string text = "class A0: pass\n";
  for (int i = 1; i < 3000; ++i) text += fmt::format("class A{}(A{}): pass\n", i, i - 1);
  text += "A2999().f()\nx = A0" + std::string(20000, '(') + "\n";
  for (int i = 0; i < 3000; ++i) text += fmt::format("x{} = x{}\n", i + 1, i);
  std::string chain = "x0";
  for (int i = 0; i < 30000; ++i) chain += ".a()";
  const Project project({{"m.py", text + chain + "\n"}});
  project.LinksOf("m.py");
}

}  // namespace
}  // namespace linescope
