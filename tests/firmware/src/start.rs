//! From reset to main, semihosting, and what becomes of panics: the part of firmware that knows the machine.

use core::arch::asm;
use core::ptr::from_ref;

/// Where the processor goes on after reset, NMI, hard fault and so on; the stack's start is put before it when linked.
#[used]
#[unsafe(link_section = ".vectors")]
static VECTORS: [extern "C" fn() -> !; 15] = {
    let mut vectors: [extern "C" fn() -> !; 15] = [fault; 15];
    vectors[0] = reset;
    vectors
};

#[unsafe(no_mangle)]
extern "C" fn reset() -> ! {
    // Nothing is in RAM but the stack: there is no memory to set up.
    exit(crate::main())
}

extern "C" fn fault() -> ! {
    write(&["fault\n"]);
    exit(255)
}

/// Writes texts to whoever watches: a debugger, or QEMU.
pub(crate) fn write(texts: &[&str]) {
    for byte in texts.iter().flat_map(|text| text.as_bytes()) {
        semihosting(0x03, from_ref(byte).expose_provenance());
    }
}

/// Ends the program; `code` is what QEMU exits with.
fn exit(code: u32) -> ! {
    let block = [0x20026, code];
    loop {
        semihosting(0x20, block.as_ptr().expose_provenance());
    }
}

fn semihosting(operation: u32, argument: usize) {
    // SAFETY: the operations above read what the argument points to, and change nothing else.
    unsafe { asm!("bkpt 0xab", inout("r0") operation => _, in("r1") argument) };
}

/// Never called: a panic path anywhere would leave this symbol undefined, and the program would not link.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn this_firmware_has_a_panic_path() -> !;
    }
    // SAFETY: it does not exist.
    unsafe { this_firmware_has_a_panic_path() }
}
