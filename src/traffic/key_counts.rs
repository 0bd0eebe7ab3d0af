//! Which keys occur, and how often.

use super::Packet;
use crate::Result;
use crate::race::Watch;

/// Packets between two looks at the watch: some 0.1 ms of work.
const CHUNK: usize = 64 * 1024;

/// Each key that occurs with its count, most frequent first, equal counts by key.
///
/// # Errors
/// [`Error::Interrupted`](crate::Error::Interrupted) once `watch` is stopped.
pub fn key_counts(packets: &[Packet], watch: &Watch) -> Result<Vec<(u16, u64)>> {
    let mut by_key = vec![0u64; usize::from(u16::MAX) + 1];
    for chunk in packets.chunks(CHUNK) {
        watch.check()?;
        for packet in chunk {
            by_key[usize::from(packet.protocol)] += 1;
        }
    }
    let mut counts: Vec<(u16, u64)> = (0..=u16::MAX).zip(by_key).filter(|(_, count)| *count > 0).collect();
    // Stable, and keys ascend already.
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counts_every_packet_once(keys in proptest::collection::vec(prop_oneof![0u16..8, any::<u16>()], 0..300)) {
            let packets: Vec<Packet> =
                keys.iter().map(|&protocol| Packet { protocol, length: 0, flow: 0, payload: [0; 24] }).collect();
            let counts = key_counts(&packets, &Watch::new()).unwrap();
            let mut expected: HashMap<u16, u64> = HashMap::new();
            keys.iter().for_each(|key| *expected.entry(*key).or_default() += 1);
            prop_assert_eq!(counts.iter().copied().collect::<HashMap<_, _>>(), expected);
            prop_assert!(counts.windows(2).all(|pair| (pair[1].1, pair[0].0) < (pair[0].1, pair[1].0)
                || pair[0].1 > pair[1].1));
        }
    }

    #[test]
    fn a_stopped_watch_ends_the_count() {
        let watch = Watch::new();
        watch.stop();
        let packet = Packet { protocol: 6, length: 0, flow: 0, payload: [0; 24] };
        assert!(matches!(key_counts(&[packet], &watch), Err(crate::Error::Interrupted)));
    }
}
