//! A window over a stream that grows until a whole record lies in it.

use std::io::Read;

/// Bytes read ahead at a time.
const READ_BYTES: usize = 1 << 16;

/// The bytes of a stream from some offset on, as far as they have been asked for.
pub(super) struct Source<R> {
    stream: R,
    buffer: Vec<u8>,
    /// Where in `buffer` the next record starts.
    start: usize,
    /// Bytes of the stream before `start`.
    offset: u64,
    ended: bool,
}

impl<R: Read> Source<R> {
    pub(super) fn new(stream: R) -> Self {
        Source { stream, buffer: Vec::new(), start: 0, offset: 0, ended: false }
    }

    /// Bytes of the stream before the next record.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// The next `bytes` bytes without taking them; fewer only if the stream ends before.
    pub(super) fn peek(&mut self, bytes: usize) -> std::io::Result<&[u8]> {
        while !self.ended && self.buffer.len() - self.start < bytes {
            // What was taken goes first, so the buffer holds one record and one read ahead at most.
            self.buffer.drain(..self.start);
            self.start = 0;
            let read = (&mut self.stream).take(READ_BYTES as u64).read_to_end(&mut self.buffer)?;
            self.ended = read < READ_BYTES;
        }
        let end = self.buffer.len().min(self.start + bytes);
        Ok(&self.buffer[self.start..end])
    }

    /// Steps past `bytes` bytes that were peeked at.
    pub(super) fn take(&mut self, bytes: usize) {
        assert!(self.start + bytes <= self.buffer.len(), "taken without a look");
        self.start += bytes;
        self.offset += bytes as u64;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Gives a few bytes a call, as pipes do.
    struct Dribble<'a>(&'a [u8]);

    impl Read for Dribble<'_> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let count = out.len().min(self.0.len()).min(7_001);
            out[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    proptest! {
        #[test]
        fn gives_back_the_stream(total in 0usize..400_000, steps in proptest::collection::vec(1usize..150_000, 1..20)) {
            let bytes: Vec<u8> = (0..total).map(|at| ((at * 31) >> 3) as u8).collect();
            let mut source = Source::new(Dribble(&bytes));
            let mut at = 0;
            for step in steps {
                let seen = source.peek(step).unwrap().to_vec();
                prop_assert_eq!(&seen[..], &bytes[at..total.min(at + step)]);
                source.take(seen.len());
                at += seen.len();
                prop_assert_eq!(source.offset(), at as u64);
            }
        }
    }
}
