//! From reset to main, semihosting, and the panic handler: the part of the firmware that depends on the machine.

use core::arch::asm;
use core::ptr::from_ref;

/// The handlers of reset, NMI, hard fault and so on. The linker script puts the top of the stack before them.
#[used]
#[unsafe(link_section = ".vectors")]
static VECTORS: [extern "C" fn() -> !; 15] = {
    let mut vectors: [extern "C" fn() -> !; 15] = [fault; 15];
    vectors[0] = reset;
    vectors
};

#[unsafe(no_mangle)]
extern "C" fn reset() -> ! {
    // RAM holds nothing but the stack, so there is no memory to set up.
    exit(crate::main())
}

extern "C" fn fault() -> ! {
    write(&["fault\n"]);
    exit(255)
}

/// Writes texts to the debugger, or to QEMU.
pub(crate) fn write(texts: &[&str]) {
    for byte in texts.iter().flat_map(|text| text.as_bytes()) {
        semihosting(0x03, from_ref(byte).expose_provenance());
    }
}

/// Ends the program. QEMU exits with this code.
fn exit(code: u32) -> ! {
    let block = [0x20026, code];
    loop {
        semihosting(0x20, block.as_ptr().expose_provenance());
    }
}

fn semihosting(operation: u32, argument: usize) {
    // SAFETY: the operations above only read what the argument points to.
    unsafe { asm!("bkpt 0xab", inout("r0") operation => _, in("r1") argument) };
}

/// Never called. If there were a panic path, the symbol below would be undefined and the program would not link.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn this_firmware_has_a_panic_path() -> !;
    }
    // SAFETY: it does not exist.
    unsafe { this_firmware_has_a_panic_path() }
}
