#pragma once
// Numbers for people, as the page shows them too.
#include <cstdint>
#include <string>

namespace linescope {

// Three significant digits in the unit that fits: "0 ns", "999 ns", "1.23 µs", "45.6 ms", "7.89 s";
// from 100 s minutes: "2.50 min".
std::string FormatDuration(int64_t ns);

// With separators: "27,966,976".
std::string FormatCount(uint64_t count);

// "12.3%"; "–" for a share of nothing.
std::string FormatShare(double part, double whole);

}  // namespace linescope
