// Functions of C++ with names to demangle, and unwinding information that names a personality.
#include <string>

namespace geometry {

template <class T>
struct Grid {
  [[gnu::noinline]] T fold(long n) {
    std::string guard = "has a destructor, and so a landing pad";
    T sum{};
    for (long i = 0; i < n; ++i) sum = sum * T(3) + T(guard.size() + i);
    return sum;
  }
};

}  // namespace geometry

namespace {
volatile long sink;
}

extern "C" void run_grid(long n) {
  geometry::Grid<int> grid;
  sink = grid.fold(n);
}
