#include "native/demangle.h"

#include <gtest/gtest.h>

namespace linescope {
namespace {

TEST(Demangle, Cpp) {
  EXPECT_EQ(Demangle("_ZN8geometry4GridIiE4foldEi"), "geometry::Grid<int>::fold");
  EXPECT_EQ(Demangle("_ZN12_GLOBAL__N_15innerEv"), "(anonymous namespace)::inner");
  EXPECT_EQ(Demangle("_Z5churnIdET_S0_"), "churn<double>");
}

TEST(Demangle, Rust) {
  EXPECT_EQ(Demangle("_ZN5heavy4work17h0123456789abcdefE"), "heavy::work");
  EXPECT_EQ(Demangle("_ZN4core3ptr13drop_in_place17h0123456789abcdefE"),
            "core::ptr::drop_in_place");
  EXPECT_EQ(Demangle("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
                     "3bar17h930b740aa94f1d3aE"),
            "<Test + 'static as foo::Bar<Test>>::bar");
  EXPECT_EQ(Demangle("_RNvC6_123foo3bar"), "123foo::bar");
  EXPECT_EQ(Demangle("_RINvNtC3std3mem8align_ofdE"), "std::mem::align_of::<f64>");
}

TEST(Demangle, Cython) {
  EXPECT_EQ(CythonName("__pyx_pw_5mymod_1compute"), "mymod.compute");
  EXPECT_EQ(CythonName("__pyx_pf_5mymod_2compute"), "mymod.compute");
  EXPECT_EQ(CythonName("__pyx_f_5mymod_helper"), "mymod.helper");
  EXPECT_EQ(CythonName("__pyx_pw_3pkg_5mymod_7MyClass_11step"), "pkg.mymod.MyClass.step");
  EXPECT_EQ(CythonName("__pyx_f_5mymod_7MyClass_step"), "mymod.MyClass.step");
  // No function of a module.
  EXPECT_EQ(CythonName("__pyx_tp_new_5mymod_MyClass"), "");
  EXPECT_EQ(CythonName("__pyx_pw_"), "");
  EXPECT_EQ(CythonName("__pyx_pw_5mymod"), "");
  EXPECT_EQ(CythonName("__pyx_f_99999999999x_y"), "");
  EXPECT_EQ(Demangle("__pyx_pw_5mymod_1compute"), "mymod.compute");
  EXPECT_EQ(Demangle("__pyx_pymod_exec_mymod"), "__pyx_pymod_exec_mymod");
}

TEST(Demangle, CopiesAndPartsOfFunctions) {
  EXPECT_EQ(Demangle("lock_acquire.lto_priv.0"), "lock_acquire");
  EXPECT_EQ(Demangle("list_sort.constprop.0.isra.0.cold"), "list_sort");
  EXPECT_EQ(Demangle("_ZN8geometry4GridIiE4foldEi.part.0"), "geometry::Grid<int>::fold");
  EXPECT_EQ(Demangle(".cold"), ".cold");
}

TEST(Demangle, OtherNamesStay) {
  for (const char* name : {"main", "", "_", "_Z", "_R", "_ZN", "_Zfoo!", "__clone3"}) {
    EXPECT_EQ(Demangle(name), name);
  }
  const std::string endless = "_Z" + std::string(100'000, 'N');
  EXPECT_EQ(Demangle(endless), endless);
}

}  // namespace
}  // namespace linescope
