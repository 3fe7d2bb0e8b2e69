#pragma once
// As much of an HTML tokenizer as tells which elements a browser without scripts sees: names of
// tags in order, attributes, and the texts of scripts and styles.
#include <algorithm>
#include <cctype>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace linescope::testing {

struct HtmlTag {
  std::string name;  // lower case; "/p" for an end tag, "!" for a comment or doctype
  std::map<std::string, std::string> attributes;
  std::string raw_text;  // of script, style and title
};

inline std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

// Attributes must be quoted by '"'. Throws on what a browser would have to mend.
inline std::vector<HtmlTag> ScanHtml(std::string_view html) {
  std::vector<HtmlTag> tags;
  const std::string lower = Lower(html);
  size_t at = 0;
  while ((at = html.find('<', at)) != std::string_view::npos) {
    const char next = at + 1 < html.size() ? html[at + 1] : ' ';
    if (next == '!' || next == '?') {
      tags.push_back({.name = "!", .attributes = {}, .raw_text = {}});
      at = html.find('>', at);
      if (at == std::string_view::npos) throw std::runtime_error("unclosed markup");
      continue;
    }
    if (!std::isalpha(static_cast<unsigned char>(next)) && next != '/')
      throw std::runtime_error("'<' in text");
    HtmlTag tag;
    size_t end = html.find_first_of(" \n\t/>", at + 2);
    if (end == std::string_view::npos) throw std::runtime_error("unclosed tag");
    tag.name = lower.substr(at + 1, end - at - 1);
    while (html[end] != '>') {
      if (html[end] == ' ' || html[end] == '\n') {
        ++end;
        continue;
      }
      const size_t equals = html.find_first_of("=> ", end);
      if (equals == std::string_view::npos) throw std::runtime_error("unclosed tag");
      const std::string name = lower.substr(end, equals - end);
      end = equals;
      if (html[equals] != '=') {
        tag.attributes[name] = "";
        continue;
      }
      if (html[equals + 1] != '"') throw std::runtime_error("unquoted attribute");
      const size_t quote = html.find('"', equals + 2);
      if (quote == std::string_view::npos) throw std::runtime_error("unclosed attribute");
      tag.attributes[name] = html.substr(equals + 2, quote - equals - 2);
      end = quote + 1;
    }
    at = end + 1;
    if (tag.name == "script" || tag.name == "style" || tag.name == "title") {
      const size_t close = lower.find("</" + tag.name, at);
      if (close == std::string::npos) throw std::runtime_error("unclosed raw text");
      tag.raw_text = html.substr(at, close - at);
      at = close;
    }
    tags.push_back(std::move(tag));
  }
  return tags;
}

}  // namespace linescope::testing
