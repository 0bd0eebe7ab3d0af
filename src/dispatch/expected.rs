//! Expected probes by enumeration.
