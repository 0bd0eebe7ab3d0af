//! Where control goes.

use super::super::Flow;
use super::{assembled, build, code};
use crate::binary::Image;

#[test]
fn calls_and_jumps_are_told_apart() {
    let (_folder, image) = assembled(
        "leaf:\n ret\n\
         caller:\n call leaf\n call rax\n call [rdi + 8]\n je 1f\n syscall\n1: jmp leaf\n\
         leaver:\n jmp [rdi]\n\
         trap:\n ud2\n",
    );
    let leaf = image.function_named("leaf").unwrap().address;
    let caller = code(&image, "caller");
    let flows: Vec<Flow> = caller.instructions().iter().map(|instruction| instruction.flow()).collect();
    let last = caller.instructions()[5].address();
    assert_eq!(
        flows,
        [
            Flow::Call(leaf),
            Flow::IndirectCall(None),
            Flow::IndirectCall(None),
            Flow::Branch(last),
            Flow::Next,
            Flow::Jump(leaf)
        ]
    );
    assert_eq!(caller.direct_calls().map(|(_, target)| target).collect::<Vec<_>>(), [leaf, leaf]);
    assert_eq!(caller.indirect_calls().count(), 2);
    assert_eq!(caller.loads(), 1);
    assert_eq!(caller.instructions()[2].text(), "call [rdi+8]".replace("[", "qword ptr ["));
    assert_eq!(code(&image, "leaver").indirect_calls().count(), 1);
    assert_eq!(code(&image, "trap").instructions()[0].flow(), Flow::Stop);
}

#[test]
fn stack_traffic_of_pushes_and_returns_is_no_load() {
    let (_folder, image) =
        assembled("f:\n push rbx\n mov rbx, [rdi]\n add rbx, [rsi]\n mov [rdi], rbx\n pop rbx\n ret\n");
    assert_eq!(code(&image, "f").loads(), 2);
}

/// A relative table, as compilers make one for position-independent code, and another right behind it.
const TABLE: &str = "\
picked:
 lea rdx, [rip + table]
 test rsi, rsi
 je 9f
8: movsxd rax, dword ptr [rdx + rdi*4]
 add rax, rdx
 jmp rax
1: mov eax, 1
 ret
2: mov eax, 2
 ret
9: lea rcx, [rip + other]
 movsxd rax, dword ptr [rcx + rdi*4]
 add rax, rcx
 jmp rax
 .section .rodata
 .balign 4
table: .long 1b - table, 2b - table, 1b - table
other: .long 2b - other, 8b - other
 .long 0x70000000
";

#[test]
fn jump_tables_are_read_up_to_the_next_one() {
    let (_folder, image) = assembled(TABLE);
    let picked = code(&image, "picked");
    let tables = picked.jump_tables();
    let lengths: Vec<usize> = tables.iter().map(|table| table.targets.len()).collect();
    assert_eq!(lengths, [3, 2], "{tables:?}");
    assert!(tables.iter().all(|table| table.entry_bytes == 4));
    assert_eq!(tables[0].targets[0], tables[0].targets[2]);
    assert_eq!(picked.indirect_calls().count(), 0);
}

#[test]
fn a_jump_whose_table_is_a_parameter_stays_unknown() {
    let (_folder, image) = assembled(
        "f:\n movsxd rax, dword ptr [rdx + rdi*4]\n add rax, rdx\n jmp rax\ng:\n jmp [rdx + rdi*8]\n",
    );
    for name in ["f", "g"] {
        let code = code(&image, name);
        assert!(code.jump_tables().is_empty());
        assert_eq!(code.indirect_calls().count(), 1);
    }
}

#[test]
fn compilers_tables_are_found() {
    let cases: String = (0..9).map(|n| format!("case {n}: return x * {} + y;", 3 * n + 2)).collect();
    let source = format!("int pick(int n, int x, int y) {{ switch (n) {{ {cases} }} return 0; }}");
    for options in [
        &["-shared", "-nostdlib", "-O2", "-fPIC"][..],
        &["-no-pie", "-static", "-nostdlib", "-O2", "-Wl,-e,pick", "-fno-pic"],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let image = Image::open(build(folder.path(), "c", &source, options)).unwrap();
        let pick = code(&image, "pick");
        let tables = pick.jump_tables();
        assert!(tables.len() == 1 && tables[0].targets.len() == 9, "{options:?}: {tables:?}");
        assert_eq!(pick.indirect_calls().count(), 0);
    }
}
