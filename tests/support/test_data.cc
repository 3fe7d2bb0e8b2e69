#include "support/test_data.h"

namespace linescope {

std::filesystem::path TestData(const std::filesystem::path& name) {
  return std::filesystem::path(LINESCOPE_TEST_DATA) / name;
}

}  // namespace linescope
