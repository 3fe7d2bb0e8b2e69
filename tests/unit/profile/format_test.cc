// FORMAT.md is what other people's queries are written from: its examples must run, and nothing in
// the schema may be missing from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>
#include <regex>

#include "profile/schema.h"
#include "profile/sqlite.h"
#include "support/test_data.h"
#include "unit/profile/profile_fixture.h"
#include "unit/profile/temporary_folder.h"

namespace linescope {
namespace {

using ::testing::HasSubstr;

class FormatTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ifstream file(TestData("../src/profile/FORMAT.md"));
    document_.assign(std::istreambuf_iterator<char>(file), {});
    ASSERT_THAT(document_, HasSubstr("# The `.linescope` file"));
    auto path = folder_ / "run.linescope";
    ASSERT_TRUE(WriteFixture(path));
    auto database = Database::Open(path.string(), SQLITE_OPEN_READONLY, "test");
    ASSERT_TRUE(database);
    database_ = *std::move(database);
  }

  std::vector<std::string> Column(const std::string& sql) {
    std::vector<std::string> values;
    auto row = database_->Prepare(sql);
    if (!row) throw std::runtime_error(row.error().what);
    while (*row->Step()) values.push_back(row->Text(0));
    return values;
  }

  TemporaryFolder folder_;
  std::string document_;
  std::unique_ptr<Database> database_;
};

TEST_F(FormatTest, ItsExamplesRun) {
  size_t begin = document_.find("```sql") + 6;
  std::string sql = document_.substr(begin, document_.find("```", begin) - begin);
  int queries = 0;
  const std::regex query("SELECT[^;]*;");
  for (std::sregex_iterator at(sql.begin(), sql.end(), query), end; at != end; ++at, ++queries)
    EXPECT_FALSE(Column(at->str()).empty()) << at->str();
  EXPECT_EQ(queries, 3);
}

TEST_F(FormatTest, ItNamesEveryTableViewAndColumn) {
  auto tables = Column("SELECT name FROM sqlite_schema WHERE type = 'table'");
  EXPECT_GE(tables.size(), 12u);
  for (const std::string& table : tables) {
    EXPECT_THAT(document_, HasSubstr(table));
    for (const std::string& column : Column("SELECT name FROM pragma_table_info('" + table + "')"))
      if (column != "id") {
        EXPECT_THAT(document_, HasSubstr("`" + column + "`")) << table;
      }
  }
  for (const std::string& view : Column("SELECT name FROM sqlite_schema WHERE type = 'view'"))
    EXPECT_THAT(document_, HasSubstr("`" + view + "`"));
}

TEST_F(FormatTest, ItsNumbersAreTheCodes) {
  EXPECT_THAT(document_, HasSubstr(fmt::format("0x{:X}", kApplicationId)));
  EXPECT_THAT(document_, HasSubstr(fmt::format("{}, version {}.{}", kUserVersion, kFormatMajor,
                                               kFormatMinor)));
  for (int i = 0; i < static_cast<int>(DropReason::kCount); ++i)
    EXPECT_THAT(document_, HasSubstr(fmt::format("`{}`", DropReasonName(DropReason(i)))));
  for (size_t i = 0; i < kThreadStateCount; ++i)
    EXPECT_THAT(document_, HasSubstr(fmt::format("`{}`", ThreadStateName(ThreadState(i)))));
  for (size_t i = 0; i < kFunctionKindCount; ++i)
    EXPECT_THAT(document_, HasSubstr(fmt::format("`{}`", FunctionKindName(FunctionKind(i)))));
  std::vector<std::string> names, on_cpu, holds_gil;
  for (size_t i = 0; i < kThreadStateCount; ++i) {
    const auto state = static_cast<ThreadState>(i);
    const auto holds = HoldsGil(state);
    names.emplace_back(ThreadStateName(state));
    on_cpu.emplace_back(IsOnCpu(state) ? "1" : "0");
    holds_gil.emplace_back(!holds ? "unknown" : *holds ? "1" : "0");
  }
  EXPECT_EQ(Column("SELECT name FROM thread_state ORDER BY id"), names);
  EXPECT_EQ(Column("SELECT on_cpu FROM thread_state ORDER BY id"), on_cpu);
  EXPECT_EQ(Column("SELECT ifnull(holds_gil, 'unknown') FROM thread_state ORDER BY id"), holds_gil);
}

TEST_F(FormatTest, DatabasesAreSound) {
  EXPECT_THAT(Column("PRAGMA integrity_check"), ::testing::ElementsAre("ok"));
  EXPECT_TRUE(Column("PRAGMA foreign_key_check").empty());
}

}  // namespace
}  // namespace linescope
