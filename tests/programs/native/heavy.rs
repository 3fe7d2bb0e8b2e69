// A library in Rust: a public function in a module, never inlined.
pub mod heavy {
    #[inline(never)]
    pub fn churn<T: Into<u64> + Copy>(seed: T, n: u64) -> u64 {
        let mut x: u64 = seed.into();
        for i in 0..n {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(std::hint::black_box(i));
        }
        x
    }
}

#[no_mangle]
pub extern "C" fn run_heavy(n: u64) -> u64 {
    heavy::churn(7u32, n) ^ 1
}
