//! Dependent loads on assembly whose chains are known.

use super::super::{DependentLoads, Flow, Region};
use super::{assembled, code};

/// Of the only indirect branch of `f`.
fn of(body: &str) -> DependentLoads {
    let (_folder, image) = assembled(body);
    let code = code(&image, "f");
    let indirect = |flow| matches!(flow, Flow::IndirectCall(_) | Flow::IndirectJump(_));
    let mut branches = code.instructions().iter().filter(|instruction| indirect(instruction.flow()));
    let loads = code.dependent_loads(branches.next().unwrap().address()).unwrap();
    assert!(branches.next().is_none());
    assert_eq!(loads.chain.len(), loads.longest);
    loads
}

fn counts(body: &str) -> (usize, usize) {
    let loads = of(body);
    (loads.shortest, loads.longest)
}

/// A loop over `rsi`…`rdx` with something in the middle, as a dispatch loop: the key indexes a table at `rdi`.
fn looped(middle: &str) -> String {
    format!(
        "f:\n push rbx\n mov rbx, rsi\n mov r12, rdi\n mov r13, rdx\n\
         1: movzx eax, word ptr [rbx]\n{middle}\n add rbx, 32\n cmp rbx, r13\n jne 1b\n pop rbx\n ret\n"
    )
}

#[test]
fn layouts_of_objects_differ_by_their_loads() {
    // Beside the load of the key, which all share.
    let erased = " shl eax, 4\n call [r12 + rax]";
    let fat = " shl eax, 4\n mov rcx, [r12 + rax + 8]\n mov rdi, [r12 + rax]\n call [rcx + 24]";
    let thin = " mov rdi, [r12 + rax*8]\n mov rcx, [rdi]\n call [rcx + 24]";
    assert_eq!(counts(&looped(erased)), (2, 2));
    assert_eq!(counts(&looped(fat)), (3, 3));
    assert_eq!(counts(&looped(thin)), (4, 4));
}

#[test]
fn the_region_is_the_smallest_loop() {
    let loads = of(&looped(" mov rcx, [r12 + rax*8]\n call rcx"));
    assert!(matches!(loads.region, Region::Loop(_)));
    assert_eq!(loads.longest, 2);
    // What was loaded before the loop is there already.
    assert_eq!(
        counts("f:\n mov rax, [rdi]\n mov rbx, [rax]\n1: call [rbx]\n dec r12\n jne 1b\n ret\n"),
        (1, 1)
    );
    let straight = of("f:\n mov rax, [rdi]\n jmp [rax]\n");
    assert_eq!((straight.region, straight.longest), (Region::Function, 2));
}

#[test]
fn control_flow_isnt_data() {
    // The comparison is predicted; a conditional move waits.
    assert_eq!(counts(&looped(" cmp eax, [r12]\n je 2f\n2: call r13")), (0, 0));
    assert_eq!(counts(&looped(" cmp eax, [r12]\n mov rcx, r13\n cmove rcx, r14\n call rcx")), (1, 1));
}

#[test]
fn paths_give_bounds() {
    let body = " test r14, r14\n je 2f\n mov rcx, r15\n jmp 3f\n2: mov rcx, [r12 + rax*8]\n mov rcx, [rcx]\n3: call rcx";
    assert_eq!(counts(&looped(body)), (0, 3));
}

#[test]
fn the_stack_passes_values_on() {
    assert_eq!(counts(&looped(" mov [rsp + 8], rax\n mov rcx, [rsp + 8]\n call [r12 + rcx]")), (2, 2));
    // Stored before the loop: it was there.
    assert_eq!(counts(&looped(" mov rcx, [rsp + 8]\n call [rcx]")), (1, 1));
    // An array on the stack is memory like any other.
    assert_eq!(counts(&looped(" call [rsp + rax*8]")), (2, 2));
    // Without a frame pointer rbp is a register like any other.
    assert_eq!(counts(&looped(" mov rcx, [rbp + 8]\n call [rcx]")), (2, 2));
    assert_eq!(
        counts("f:\n push rbp\n mov rbp, rsp\n mov rcx, [rbp - 8]\n call [rcx]\n pop rbp\n ret\n"),
        (1, 1)
    );
}

#[test]
fn registers_are_whole_and_zeroed_ones_forget() {
    assert_eq!(counts(&looped(" xor eax, eax\n call [r12 + rax]")), (1, 1));
    assert_eq!(counts(&looped(" mov ecx, eax\n call [r12 + rcx]")), (2, 2));
    // A byte written leaves the rest waiting.
    assert_eq!(counts(&looped(" mov al, 1\n call [r12 + rax]")), (2, 2));
    // Addresses computed, not loaded.
    assert_eq!(counts(&looped(" lea rcx, [r12 + rax*8]\n call rcx")), (1, 1));
}

#[test]
fn what_a_call_returns_counts_nothing() {
    assert_eq!(counts("f:\n mov rdi, [rdi]\n call g\n call rax\n ret\ng:\n ret\n"), (0, 0));
    // What a callee must keep is kept.
    assert_eq!(counts("f:\n mov rbx, [rdi]\n call g\n call [rbx]\n ret\ng:\n ret\n"), (2, 2));
}

#[test]
fn a_list_that_is_walked_counts_one_step_a_pass() {
    assert_eq!(counts("f:\n1: mov rdi, [rdi]\n call [rdi + 8]\n test rdi, rdi\n jne 1b\n ret\n"), (2, 2));
}

#[test]
fn only_indirect_branches_have_them() {
    let (_folder, image) = assembled("f:\n call g\n ret\ng:\n ret\n");
    let code = code(&image, "f");
    assert!(
        code.instructions().iter().all(|instruction| code.dependent_loads(instruction.address()).is_none())
    );
    assert!(code.dependent_loads(0).is_none());
}
