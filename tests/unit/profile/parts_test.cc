// The small parts of the store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/compress.h"
#include "profile/identity.h"
#include "profile/json_list.h"
#include "profile/reader.h"
#include "profile/sha256.h"
#include "profile/writer.h"
#include "unit/profile/profile_fixture.h"
#include "unit/profile/temporary_folder.h"

namespace linescope {
namespace {

// FIPS 180-4 examples, and lengths around the padding's edges as `sha256sum` gives them.
TEST(Sha256Test, KnownValues) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256Hex(std::string(55, 'a')),
            "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(Sha256Hex(std::string(64, 'a')),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
  EXPECT_EQ(Sha256Hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(CompressTest, RoundTrip) {
  for (const std::string& text : {std::string(), std::string("x"), std::string(100'000, 'y'),
                                  std::string("a\0b", 3), std::string(kAppSource)}) {
    auto frame = Compress(text);
    ASSERT_TRUE(frame);
    auto back = Decompress(*frame, text.size());
    ASSERT_TRUE(back) << back.error().what;
    EXPECT_EQ(*back, text);
    EXPECT_FALSE(Decompress(*frame, text.size() + 1));
    EXPECT_FALSE(Decompress(std::span(*frame).first(frame->size() - 1), text.size()));
  }
}

TEST(JsonListTest, EscapesWhatJsonMust) {
  EXPECT_EQ(JsonList({}), "[]");
  EXPECT_EQ(JsonList({"a", "b\"\\\n\x01", "é"}), R"(["a","b\"\\\u000a\u0001","é"])");
  EXPECT_EQ(JsonPairs({{"k", "v"}, {"k", ""}}), R"([["k","v"],["k",""]])");
}

TEST(IdentitiesTest, EqualIdentitiesGetOneId) {
  Identities ids(1000);
  FunctionId f = ids.AddFunction({"/a.py", "f", "C.f", 3, true});
  EXPECT_EQ(ids.AddFunction({"/a.py", "f", "C.f", 3, false}), f);
  EXPECT_NE(ids.AddFunction({"/a.py", "f", "C.f", 4, true}), f);
  EXPECT_NE(ids.AddFunction({"/a.pyC", "f", ".f", 3, true}), f);
  EXPECT_NE(ids.AddFunction({"/a.py", "f", "C.f", 3, true, FunctionKind::kNative}), f);
  FunctionId lib = ids.AddFunction({"/lib.py", "g", "g", 1, false});
  StackId root = ids.AddStack({kNoStack, f, {.line = 3}});
  EXPECT_EQ(ids.AddStack({kNoStack, f, {.line = 3}}), root);
  StackId other_line = ids.AddStack({kNoStack, f, {.line = 4}});
  EXPECT_NE(other_line, root);
  const SourceRange piece{.line = 3, .end_line = 3, .column = 4, .end_column = 9};
  StackId with_columns = ids.AddStack({kNoStack, f, piece});
  EXPECT_NE(with_columns, root);
  EXPECT_EQ(ids.AddStack({kNoStack, f, piece}), with_columns);
  StackId leaf = ids.AddStack({root, lib, {.line = 9}});
  StackId deeper = ids.AddStack({leaf, lib, {.line = 9}});
  EXPECT_EQ(ids.stacks()[root].project, root);
  EXPECT_EQ(ids.stacks()[deeper].project, root);
  EXPECT_EQ(ids.stacks()[deeper].depth, 2u);
  EXPECT_EQ(ids.stacks()[leaf].frame, ids.stacks()[deeper].frame);
  StackId library_root = ids.AddStack({kNoStack, lib, {.line = 9}});
  EXPECT_EQ(ids.stacks()[library_root].project, kNoStack);
}

TEST(IdentitiesTest, OnlyWhatIsNewIsPending) {
  Identities ids(1000);
  FunctionId f = ids.AddFunction({"/a.py", "f", "f", 1, true});
  StackId root = ids.AddStack({kNoStack, f, {.line = 1}});
  ids.MarkCommitted();
  EXPECT_TRUE(ids.pending_functions().empty());
  ids.AddFunction({"/a.py", "g", "g", 5, true});
  ids.AddStack({root, f, {.line = 1}});
  EXPECT_EQ(ids.first_pending_function(), 1u);
  EXPECT_EQ(ids.pending_functions().size(), 1u);
  EXPECT_EQ(ids.first_pending_frame(), 1u);
  EXPECT_EQ(ids.frames().size(), 1u);
  EXPECT_EQ(ids.first_pending_stack(), 1u);
}

TEST(NamesTest, DropReasonsRoundTrip) {
  for (int i = 0; i < static_cast<int>(DropReason::kCount); ++i) {
    auto reason = static_cast<DropReason>(i);
    EXPECT_EQ(DropReasonFromName(DropReasonName(reason)), reason);
  }
  EXPECT_EQ(DropReasonFromName("of a later version"), std::nullopt);
}

TEST(SourcesTest, UnavailableEmptyAndRepeatedTexts) {
  TemporaryFolder folder;
  auto path = folder / "run.linescope";
  auto writer = ProfileWriter::Create(path, FixtureRun());
  ASSERT_TRUE(writer);
  SourceSnapshot missing{.path = "/p/gone.py",
                         .resolved_path = "",
                         .text = "",
                         .verified = std::nullopt,
                         .note = "it was deleted"};
  SourceSnapshot empty{
      .path = "/p/__init__.py", .resolved_path = "", .text = "", .verified = true, .note = ""};
  SourceSnapshot cell{.path = "cell",
                      .resolved_path = "",
                      .text = "x = 1\n",
                      .kind = SourceKind::kNotebook,
                      .verified = false,
                      .note = "changed"};
  EXPECT_EQ((*writer)->AddSource(missing), 0u);
  EXPECT_EQ((*writer)->AddSource(empty), 1u);
  EXPECT_EQ((*writer)->AddSource(cell), 2u);
  EXPECT_EQ((*writer)->AddSource(cell), 2u);
  cell.text = "x = 2\n";
  EXPECT_EQ((*writer)->AddSource(cell), 3u);
  ASSERT_TRUE((*writer)->Finish(FixtureEnd()));

  auto reader = ProfileReader::Open(path);
  ASSERT_TRUE(reader);
  const auto& sources = (*reader)->sources();
  ASSERT_EQ(sources.size(), 4u);
  EXPECT_FALSE(sources[0].has_text);
  EXPECT_EQ(sources[0].verified, std::nullopt);
  EXPECT_EQ(sources[0].note, "it was deleted");
  EXPECT_FALSE((*reader)->SourceText(0));
  EXPECT_TRUE(sources[1].has_text);
  EXPECT_EQ((*reader)->SourceText(1), "");
  EXPECT_EQ(sources[2].kind, SourceKind::kNotebook);
  EXPECT_EQ(sources[2].verified, false);
  EXPECT_EQ((*reader)->SourceText(3), "x = 2\n");
}

}  // namespace
}  // namespace linescope
