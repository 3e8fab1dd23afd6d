//! The static archive and the shared library: the functions of `podrank-ffi`, and the panic handler that a program
//! without std must have. Nothing else.
#![no_std]

pub use podrank_ffi::*;

/// Never called: a panic path anywhere would leave this symbol undefined in the library, and nothing would link
/// with it.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn podrank_has_a_panic_path() -> !;
    }
    // SAFETY: it does not exist.
    unsafe { podrank_has_a_panic_path() }
}
