//! The caches that the kernel lists.

use super::Tree;
use crate::machine::card::Card;
use crate::machine::{Cache, CacheKind};

/// A processor has four or five: L1d, L1i, L2, L3 and on some an L4.
const MOST_CACHES: usize = 8;

pub(super) fn read(tree: &Tree, card: &mut Card) {
    // A cache that several CPUs share is listed under each, at the same index.
    let mut by_index: Vec<Vec<Cache>> = vec![Vec::new(); MOST_CACHES];
    for &cpu in &card.online_cpus {
        for (index, seen) in by_index.iter_mut().enumerate() {
            if seen.iter().any(|cache| cache.cpus.contains(&cpu)) {
                continue;
            }
            let directory = format!("sys/devices/system/cpu/cpu{cpu}/cache/index{index}");
            match read_one(tree, &directory, cpu) {
                Some(cache) => seen.push(cache),
                // Indices are contiguous; one whose size is unknown (seen on Arm) may have a successor.
                None if tree.exists(&directory) => continue,
                None => break,
            }
        }
    }
    let mut caches: Vec<Cache> = by_index.into_iter().flatten().collect();
    caches.sort_by_key(|cache| (cache.level, cache.kind as u8, cache.cpus.first().copied()));
    if caches.is_empty() {
        let reason = "the kernel lists no caches (as in virtual machines that hide them)";
        card.unknown.insert("caches", reason.into());
    }
    card.caches = caches;
}

fn read_one(tree: &Tree, directory: &str, cpu: usize) -> Option<Cache> {
    let file = |name: &str| tree.text(&format!("{directory}/{name}"));
    // Zero means unknown (a fully associative or undescribed cache).
    let known = |name: &str| file(name)?.parse::<usize>().ok().filter(|&value| value > 0);
    let kind = match file("type")?.as_str() {
        "Data" => CacheKind::Data,
        "Instruction" => CacheKind::Instruction,
        "Unified" => CacheKind::Unified,
        _ => return None,
    };
    Some(Cache {
        level: file("level")?.parse().ok()?,
        kind,
        bytes: parse_size(&file("size")?)?,
        line_bytes: known("coherency_line_size"),
        ways: known("ways_of_associativity"),
        sets: known("number_of_sets"),
        cpus: tree
            .cpu_list(&format!("{directory}/shared_cpu_list"))
            .filter(|cpus| cpus.contains(&cpu))
            .unwrap_or_else(|| vec![cpu]),
    })
}

/// `32K`, `1024K`, `32M`; the kernel prints K, and some drivers M.
fn parse_size(text: &str) -> Option<usize> {
    let (digits, unit) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        b'G' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<usize>().ok()?.checked_mul(unit).filter(|&bytes| bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("32K"), Some(32 << 10));
        assert_eq!(parse_size("2M"), Some(2 << 20));
        assert_eq!(parse_size("512"), Some(512));
        for bad in ["", "K", "0K", "-1K", "1T", "99999999999999999999K", "18446744073709551615K"] {
            assert_eq!(parse_size(bad), None, "{bad:?}");
        }
    }
}
