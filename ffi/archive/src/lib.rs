//! The static archive and the shared library: the functions of `podrank-ffi`, and the panic handler that a library without
//! std needs. Nothing else.
#![no_std]

pub use podrank_ffi::*;

/// Never called. If there were a panic path, the symbol below would be undefined in the library, and no program would
/// link with it.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn podrank_has_a_panic_path() -> !;
    }
    // SAFETY: it does not exist.
    unsafe { podrank_has_a_panic_path() }
}
