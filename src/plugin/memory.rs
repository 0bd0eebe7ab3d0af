//! A library's bytes as a file of their own, in memory, which nobody else can change.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// A sealed copy of `bytes`; `None` where the system has no such files.
///
/// # Errors
/// The system's own: no memory, no descriptor left.
#[cfg(target_os = "linux")]
pub fn file(of: &Path, bytes: &[u8]) -> std::io::Result<Option<OwnedFd>> {
    use std::io::Write;
    use std::os::fd::AsFd;

    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

    // The name is for people who look into /proc; up to 249 bytes are allowed.
    let name: String = of.file_name().unwrap_or_default().to_string_lossy().chars().take(60).collect();
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let descriptor = match memfd_create(name.replace('\0', ""), flags) {
        Err(rustix::io::Errno::NOSYS) => return Ok(None),
        other => other?,
    };
    let mut file = std::fs::File::from(descriptor);
    file.write_all(bytes)?;
    fcntl_add_seals(file.as_fd(), SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    let copy = OwnedFd::from(file);
    Ok(name_exists(&copy).then_some(copy))
}

/// As above.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn file(_of: &Path, _bytes: &[u8]) -> std::io::Result<Option<OwnedFd>> {
    Ok(None)
}

/// Without /proc a descriptor has no name.
#[cfg(target_os = "linux")]
fn name_exists(copy: &OwnedFd) -> bool {
    name(copy).exists()
}

/// A name by which this process finds it, as long as it is open.
pub fn name(copy: &OwnedFd) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/self/fd/{}", copy.as_raw_fd()))
}
