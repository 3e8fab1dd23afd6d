# Shared by the scripts for other machines, in addition to ffi/check/common.sh. Run one of them, or all with `make
# targets`. They need the tools that .ci/run installs.
. "$(dirname "${BASH_SOURCE[0]}")/../check/common.sh"
. ffi/targets/tools.sh
unset TARGET OUT

# archive_for TARGET BINUTILS: builds $archive with tools whose names start with BINUTILS, such as arm-none-eabi-.
archive_for() {
    core_for "$1"
    archive=$CARGO_TARGET_DIR/$1/c/libpodrank.a
    quietly make -s "$archive" TARGET="$1" AR="$2ar"
}

# firmware MACHINE OUTPUT SOURCE...: links C sources, their start code and the $archive. LINK has options for the linker.
firmware() {
    local machine=$1 output=$2 source objects=() compile link runtime=""
    shift 2
    set -- "$@" examples-c/firmware/memory.c
    case $machine in
    cortex-*)
        set -- "$@" examples-c/firmware/start.c
        compile="arm-none-eabi-gcc -mthumb -mcpu=$machine"
        [ "$machine" != cortex-m4 ] || compile="$compile -mfloat-abi=hard -mfpu=fpv4-sp-d16"
        link="$compile -nostdlib -Wl,--gc-sections,--fatal-warnings,-z,noexecstack -T examples-c/firmware/cortex-m3.ld"
        compile="$compile -fno-tree-loop-distribute-patterns"
        runtime="-Wl,--no-whole-archive -lgcc"
        ;;
    riscv32)
        set -- "$@" ffi/targets/riscv32.c
        compile="clang --target=riscv32-unknown-elf -march=rv32imac -mabi=ilp32"
        link="riscv64-unknown-elf-ld -m elf32lriscv --gc-sections --fatal-warnings --no-warn-rwx-segments"
        link="$link -T ffi/targets/riscv32.ld"
        ;;
    esac
    for source; do
        objects+=("$tmp/$machine-$(basename "$source").o")
        quietly $compile -std=c11 $strict -Os -ffreestanding -fno-builtin -ffunction-sections -Iinclude -Iexamples-c/firmware \
            -I"$CARGO_TARGET_DIR/c" -I"$tmp" -c "$source" -o "${objects[-1]}"
    done
    quietly $link ${LINK:-} "${objects[@]}" "$archive" $runtime -o "$output"
}

# emulate MACHINE PROGRAM [OPTION...]: runs firmware. Its text goes to standard output. Returns its exit code.
emulate() {
    local machine=$1 program=$2 qemu
    local console="-display none -monitor none -serial none -chardev stdio,id=console"
    console="$console -semihosting-config enable=on,target=native,chardev=console"
    shift 2
    case $machine in
    cortex-m3) qemu="qemu-system-arm -M lm3s6965evb" ;;
    riscv32) qemu="qemu-system-riscv32 -M virt -bios none" ;;
    esac
    timeout 120 $qemu $console "$@" -kernel "$program" </dev/null 2>"$tmp/errors"
}

# same_keys FILE: the keys that a machine printed must be those of this machine.
same_keys() {
    if [ ! -f "$tmp/keys" ]; then
        quietly make -s table
        quietly ${CC:-cc} -std=c99 -O2 -DPODRANK_VECTORS_MAIN -Iinclude -I"$CARGO_TARGET_DIR/c" ffi/check/vectors.c \
            "$CARGO_TARGET_DIR/c/libpodrank.a" -o "$tmp/host"
        "$tmp/host" keys >"$tmp/keys"
        keys=$(wc -l <"$tmp/keys")
    fi
    cmp "$tmp/keys" "$1" >&2 || fail "the keys are not those of this machine"
}
