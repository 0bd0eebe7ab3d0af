//! The file that this very code was loaded from, and how far it was moved.

use std::path::PathBuf;

use super::BinaryError;

/// A mapping of a file into this process.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mapping {
    /// First address.
    pub start: u64,
    /// Where in the file that is.
    pub offset: u64,
    /// The file.
    pub path: PathBuf,
}

/// The mapping that holds this function.
#[cfg(target_os = "linux")]
pub(super) fn of_this_code() -> Result<Mapping, BinaryError> {
    let maps = std::fs::read("/proc/self/maps")
        .map_err(|error| BinaryError::Origin { reason: format!("/proc/self/maps: {error}") })?;
    let here = of_this_code as fn() -> Result<Mapping, BinaryError>;
    let mapping = find(&String::from_utf8_lossy(&maps), here as usize as u64)?;
    if mapping.path.as_os_str().to_string_lossy().ends_with(" (deleted)") {
        let reason = format!("{} was replaced since; start again", mapping.path.display());
        return Err(BinaryError::Origin { reason });
    }
    Ok(mapping)
}

/// Elsewhere nothing says it in this form.
#[cfg(not(target_os = "linux"))]
pub(super) fn of_this_code() -> Result<Mapping, BinaryError> {
    Err(BinaryError::Origin { reason: "only Linux lists the files of a process in /proc/self/maps".into() })
}

/// The line of a maps file (`start-end perms offset device inode path`, proc(5)) that holds `address`.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "tested everywhere, used on Linux"))]
fn find(maps: &str, address: u64) -> Result<Mapping, BinaryError> {
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    for line in maps.lines() {
        let mut fields = line.splitn(6, ' ');
        let range = fields.next().and_then(|range| range.split_once('-'));
        let Some((start, end)) = range.and_then(|(start, end)| Some((hex(start)?, hex(end)?))) else {
            continue;
        };
        if !(start..end).contains(&address) {
            continue;
        }
        let offset = fields.nth(1).and_then(hex);
        let path = fields.nth(2).map(str::trim_start).filter(|path| path.starts_with('/'));
        return match (offset, path) {
            (Some(offset), Some(path)) => Ok(Mapping { start, offset, path: path.into() }),
            _ => {
                Err(BinaryError::Origin { reason: format!("{address:#x} lies in no file's mapping: {line}") })
            }
        };
    }
    Err(BinaryError::Origin { reason: format!("{address:#x} lies in no mapping") })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
5500000000-5500001000 r--p 00000000 fe:01 77                   /opt/a b/tool
5500001000-5500009000 r-xp 00001000 fe:01 77                   /opt/a b/tool
7ffe000000-7ffe021000 rw-p 00000000 00:00 0                    [stack]
";

    #[test]
    fn a_mapping_is_found_by_address() {
        let found = find(MAPS, 0x5500001234).unwrap();
        let expected = Mapping { start: 0x5500001000, offset: 0x1000, path: "/opt/a b/tool".into() };
        assert_eq!(found, expected);
        assert!(find(MAPS, 0x5500009000).unwrap_err().to_string().contains("no mapping"));
        assert!(find(MAPS, 0x7ffe000010).unwrap_err().to_string().contains("no file's mapping"));
        assert!(find("nonsense", 1).is_err());
    }
}
