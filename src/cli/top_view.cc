#include "cli/top_view.h"

#include <algorithm>

namespace linescope {
namespace {

using Kind = TopKey::Kind;

// The last character of UTF-8 text away.
void PopCharacter(std::string* text) {
  while (!text->empty()) {
    const auto byte = static_cast<unsigned char>(text->back());
    text->pop_back();
    if ((byte & 0xC0) != 0x80) return;
  }
}

}  // namespace

TopView::TopView(const Options& options)
    : options_(options),
      tab_(static_cast<TopTab>(options.table)),
      weight_(options.weight),
      sort_(options.sort),
      all_code_(options.all_code) {}

TopQuery TopView::Query() const {
  TopQuery query;
  query.table = tab_ == TopTab::kOutput ? TopTable::kLines : static_cast<TopTable>(tab_);
  query.span = span_;
  query.weight = weight_;
  query.sort = sort_;
  query.reversed = reversed_;
  query.all_code = all_code_;
  query.filter = typing_.value_or(filter_);
  return query;
}

TopPage TopView::Page(const TopModel& model, size_t height) {
  TableCursor& cursor = Cursor();
  TopPage page = RankPage(model, Query(), cursor.row, cursor.at, cursor.first, height);
  if (page.selected_at) {
    cursor.at = *page.selected_at;
  } else {
    cursor.row.reset();  // gone, or filtered away: the place stays
  }
  cursor.at = page.count == 0 ? 0 : std::min(cursor.at, page.count - 1);
  cursor.first = page.first;
  // At the top it shows what is first; anywhere else it stays on its row.
  if (!cursor.row && cursor.at != 0 && cursor.at - page.first < page.rows.size())
    cursor.row = page.rows[cursor.at - page.first];
  page_rows_ = page.rows;
  page_first_ = page.first;
  page_count_ = page.count;
  page_height_ = height;
  return page;
}

size_t TopView::ScrollText(size_t rows, size_t height) {
  text_rows_ = rows;
  text_height_ = height;
  const size_t most = rows > height ? rows - height : 0;
  size_t& scroll = tab_ == TopTab::kOutput && !help_ ? output_scroll_ : scroll_;
  scroll = std::min(scroll, most);
  return &scroll == &output_scroll_ ? most - scroll : scroll;
}

void TopView::SwitchTab(int step) {
  const int tabs = options_.has_output ? kTopTabCount : kTopTabCount - 1;
  tab_ = static_cast<TopTab>((static_cast<int>(tab_) + step + tabs) % tabs);
  opened_.reset();
}

void TopView::Move(ptrdiff_t step) {
  if (page_count_ == 0) return;
  TableCursor& cursor = Cursor();
  const auto last = static_cast<ptrdiff_t>(page_count_) - 1;
  const auto at = std::clamp(static_cast<ptrdiff_t>(cursor.at) + step, ptrdiff_t{0}, last);
  cursor.at = static_cast<size_t>(at);
  cursor.row.reset();  // that of a row beyond the page is known once it has been ranked
  if (cursor.at >= page_first_ && cursor.at - page_first_ < page_rows_.size() && cursor.at != 0)
    cursor.row = page_rows_[cursor.at - page_first_];
}

// Closes what lies on top.
void TopView::Leave() {
  if (help_) {
    help_ = false;
  } else if (opened_) {
    opened_.reset();
  } else {
    filter_.clear();
  }
  scroll_ = 0;
}

void TopView::Type(const TopKey& key) {
  switch (key.kind) {
    case Kind::kCharacter:
      *typing_ += key.text;
      break;
    case Kind::kBackspace:
      if (typing_->empty()) {
        filter_.clear();
        typing_.reset();
      } else {
        PopCharacter(&*typing_);
      }
      break;
    case Kind::kEnter:
      filter_ = *typing_;
      typing_.reset();
      break;
    case Kind::kEscape:
      typing_.reset();
      break;
    default:
      break;
  }
}

TopAction TopView::OnCharacter(const std::string& text) {
  switch (text.size() == 1 ? text[0] : '\0') {
    case 'q':
      if (!help_ && !opened_) return TopAction::kQuit;
      Leave();
      break;
    case '?':
    case 'h':
      help_ = !help_;
      scroll_ = 0;
      break;
    case '/':
      if (tab_ == TopTab::kOutput) break;
      help_ = false;
      opened_.reset();
      typing_ = filter_;
      break;
    case '1':
    case '2':
    case '3':
    case '4':
    case '5': {
      const auto tab = static_cast<TopTab>(text[0] - '1');
      if (tab == TopTab::kOutput && !options_.has_output) break;
      tab_ = tab;
      help_ = false;
      opened_.reset();
      scroll_ = 0;
      break;
    }
    case 's':
      sort_ = static_cast<TopSort>((static_cast<size_t>(sort_) + 1) % kTopSortCount);
      reversed_ = false;
      break;
    case 'r':
      reversed_ = !reversed_;
      break;
    case 'i':
      span_ = span_ == TopSpan::kAll ? TopSpan::kInterval : TopSpan::kAll;
      break;
    case 'w':
      weight_ = weight_ == Weight::kWall ? Weight::kCpu : Weight::kWall;
      break;
    case 'a':
      all_code_ = !all_code_;
      // Time belongs to lines of the project alone.
      if (all_code_ && sort_ == TopSort::kTime) sort_ = TopSort::kSelf;
      if (!all_code_ && sort_ == TopSort::kSelf) sort_ = TopSort::kTime;
      break;
    case 'o':
      output_pane_ = !output_pane_;
      break;
    case ' ':
    case 'p':
      paused_ = !paused_;
      return TopAction::kPause;
    case 'z':
      paused_ = false;
      return TopAction::kReset;
    case 'j':
      return OnKey({.kind = Kind::kDown});
    case 'k':
      return OnKey({.kind = Kind::kUp});
    case 'g':
      return OnKey({.kind = Kind::kHome});
    case 'G':
      return OnKey({.kind = Kind::kEnd});
    default:
      break;
  }
  return TopAction::kNone;
}

// Keys of what only scrolls: help, details and output.
bool TopView::OnTextKey(const TopKey& key) {
  const bool output = tab_ == TopTab::kOutput && !help_;
  if (!help_ && !opened_ && !output) return false;
  const auto most =
      static_cast<ptrdiff_t>(text_rows_ > text_height_ ? text_rows_ - text_height_ : 0);
  const auto page = static_cast<ptrdiff_t>(std::max<size_t>(text_height_, 2)) - 1;
  ptrdiff_t step = 0;
  switch (key.kind) {
    case Kind::kUp:
      step = -1;
      break;
    case Kind::kDown:
      step = 1;
      break;
    case Kind::kPageUp:
      step = -page;
      break;
    case Kind::kPageDown:
      step = page;
      break;
    case Kind::kHome:
      step = -most;
      break;
    case Kind::kEnd:
      step = most;
      break;
    default:
      return false;
  }
  size_t& scroll = output ? output_scroll_ : scroll_;
  if (output) step = -step;  // counted from the end
  scroll =
      static_cast<size_t>(std::clamp(static_cast<ptrdiff_t>(scroll) + step, ptrdiff_t{0}, most));
  return true;
}

void TopView::OnTableKey(const TopKey& key) {
  const auto page = static_cast<ptrdiff_t>(std::max<size_t>(page_height_, 2)) - 1;
  switch (key.kind) {
    case Kind::kUp:
      Move(-1);
      break;
    case Kind::kDown:
      Move(1);
      break;
    case Kind::kPageUp:
      Move(-page);
      break;
    case Kind::kPageDown:
      Move(page);
      break;
    case Kind::kHome:
      Move(-static_cast<ptrdiff_t>(page_count_));
      break;
    case Kind::kEnd:
      Move(static_cast<ptrdiff_t>(page_count_));
      break;
    case Kind::kEnter: {
      const size_t at = Cursor().at - page_first_;
      if (at < page_rows_.size()) {
        opened_ = page_rows_[at];
        Cursor().row = opened_;
        scroll_ = 0;
      }
      break;
    }
    default:
      break;
  }
}

TopAction TopView::OnKey(const TopKey& key) {
  if (key.kind == Kind::kRedraw) return TopAction::kRedraw;
  if (typing_) {
    Type(key);
    return TopAction::kNone;
  }
  if (OnTextKey(key)) return TopAction::kNone;
  switch (key.kind) {
    case Kind::kCharacter:
      return OnCharacter(key.text);
    case Kind::kEscape:
    case Kind::kBackspace:
      Leave();
      break;
    case Kind::kTab:
    case Kind::kRight:
      if (!help_) SwitchTab(1);
      break;
    case Kind::kBackTab:
    case Kind::kLeft:
      if (!help_) SwitchTab(-1);
      break;
    default:
      if (help_ || opened_ || tab_ == TopTab::kOutput) {
        if (key.kind == Kind::kEnter) Leave();
      } else {
        OnTableKey(key);
      }
  }
  return TopAction::kNone;
}

}  // namespace linescope
