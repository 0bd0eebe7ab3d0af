//! Whether this is a virtual machine, and whose.

use super::{Tree, cpu};

/// What was found.
pub(in crate::machine) struct Seen {
    /// Its name; `None` if there is no sign of one.
    pub(in crate::machine) name: Option<String>,
    /// Why that isn't certain, if so.
    pub(in crate::machine) doubt: Option<String>,
}

/// Looks, in this order, at the processor itself (x86), Xen's directory, the device tree (Arm) and the firmware's tables.
pub(in crate::machine) fn detect(tree: &Tree) -> Seen {
    let sure = |name: Option<String>| Seen { name, doubt: None };
    if let Some(name) = from_processor(tree) {
        return sure(Some(name));
    }
    let xen = tree.text("sys/hypervisor/type").filter(|kind| kind == "xen").map(|_| "Xen".to_owned());
    let device_tree = || Some(device_tree_name(&tree.text("proc/device-tree/hypervisor/compatible")?));
    if let Some(name) = xen.or_else(device_tree).or_else(|| firmware_name(tree)) {
        return sure(Some(name));
    }
    match cpu::has_hypervisor_flag(tree) {
        Some(true) => sure(Some("an unnamed hypervisor".into())),
        Some(false) => sure(None),
        // Other architectures have no such flag, so that silence proves nothing.
        None => Seen {
            name: None,
            doubt: Some("no sign of one, but this processor has no flag that would tell".into()),
        },
    }
}

/// CPUID speaks for the machine that runs this, so only if that is the one whose tree is read.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn from_processor(tree: &Tree) -> Option<String> {
    if tree.is_live() { crate::machine::cpuid::hypervisor() } else { None }
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
fn from_processor(_: &Tree) -> Option<String> {
    None
}

fn device_tree_name(compatible: &str) -> String {
    match compatible {
        text if text.contains("kvm") => "KVM".into(),
        text if text.contains("xen") => "Xen".into(),
        text => text.into(),
    }
}

/// Makers' names in the firmware's tables that mean a virtual machine; as systemd's `detect-virt` has them.
fn firmware_name(tree: &Tree) -> Option<String> {
    const MARKS: [(&str, &str); 12] = [
        ("KVM", "KVM"),
        ("OpenStack", "KVM"),
        ("KubeVirt", "KVM"),
        ("Amazon EC2", "Amazon EC2"),
        ("Google Compute Engine", "KVM"),
        ("QEMU", "QEMU"),
        ("VMware", "VMware"),
        ("innotek GmbH", "VirtualBox"),
        ("VirtualBox", "VirtualBox"),
        ("Parallels", "Parallels"),
        ("BHYVE", "bhyve"),
        ("Apple Virtualization", "Apple's"),
    ];
    let files = ["product_name", "sys_vendor", "board_vendor", "bios_vendor", "product_version"];
    let texts: Vec<String> =
        files.iter().filter_map(|file| tree.text(&format!("sys/class/dmi/id/{file}"))).collect();
    // EC2 says so on bare metal too, where the product's name ends so.
    if texts.iter().any(|text| text.ends_with(".metal")) {
        return None;
    }
    let microsoft = texts.iter().any(|text| text == "Virtual Machine")
        && texts.iter().any(|text| text.starts_with("Microsoft"));
    if microsoft {
        return Some("HyperV".into());
    }
    let marked = |(mark, _): &&(&str, &str)| texts.iter().any(|text| text.starts_with(mark));
    MARKS.iter().find(marked).map(|(_, name)| (*name).to_owned())
}
