/*
 * Measures how much stack each call uses. The linker replaces calls to NAME by calls to __wrap_NAME, which fills the stack
 * below it with a pattern, calls the function, and finds how far down the pattern was overwritten. wrapped.h has a line
 * `wrap NAME` for each function.
 */
    .syntax unified
    .thumb
    .equ DEPTH, 4096

    .macro wrap name
    .section .rodata.wrapped, "a"
    .word name_\name, depth_\name
    .section .rodata.names, "a"
name_\name: .asciz "\name"
    .section .bss.depths, "aw", %nobits
    .balign 4
depth_\name: .space 4

    .section .text.wrapped, "ax"
    .globl __wrap_\name
    .thumb_func
__wrap_\name:
    ldr r12, =saved
    stmia r12, {r0-r7, lr}
    mov r4, sp
    sub r5, r4, #DEPTH
    ldr r6, =0x9a175ac5
1:  str r6, [r4, #-4]!
    cmp r4, r5
    bne 1b
    ldmia r12, {r0-r7}
    bl __real_\name
    /* r0 and r1 are the result; r2, r3 and r12 are free. */
    sub r12, sp, #DEPTH
    ldr r2, =0x9a175ac5
2:  cmp r12, sp
    beq 3f
    ldr r3, [r12], #4
    cmp r3, r2
    beq 2b
    sub r12, r12, #4
3:  sub r12, sp, r12
    ldr r2, =depth_\name
    ldr r3, [r2]
    cmp r12, r3
    it hi
    strhi r12, [r2]
    ldr r12, =saved
    ldr lr, [r12, #32]
    bx lr
    .ltorg
    .endm

    .section .bss.saved, "aw", %nobits
    .balign 4
saved:
    .space 36

    .section .rodata.wrapped, "a"
    .globl wrapped
    .balign 4
wrapped:

#include "wrapped.h"

    .section .rodata.wrapped, "a"
    .word 0
