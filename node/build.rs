//! Links the program at a fixed address. Two of its processes start for each job and one for each request of a user;
//! at an address that the kernel chooses, each of them writes hundreds of kilobytes of addresses before it begins, which
//! took a third of its processor time. The crate forbids unsafe code, so little is lost: stacks, heaps and libraries are
//! still where the kernel puts them.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
