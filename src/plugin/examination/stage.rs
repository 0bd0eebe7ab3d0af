//! What is examined, in this order.

use serde::Serialize;

/// One thing that a plugin has to hold, and what is being done meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// A whole shared object for this machine.
    File,
    /// One symbol, of the right name and kind.
    Exports,
    /// Opening it; its constructors run.
    Dlopen,
    /// The struct that its one function returns.
    Entry,
    /// How long that struct is.
    StructSize,
    /// What its functions mean.
    AbiVersion,
    /// That none of them is null.
    Functions,
    /// What it claims, asked several times.
    ClaimedKeys,
    /// A first instance.
    Create,
    /// Packets that it claims.
    Process,
    /// That it leaves what it was lent as it was.
    Packet,
    /// Packets that it doesn't claim.
    Unclaimed,
    /// That a packet's result is a matter of the packet.
    Determinism,
    /// That it keeps no packet.
    Lent,
    /// That it keeps within what it was given.
    Bounds,
    /// That several at once give what one at a time does.
    Batch,
    /// That instances don't know of each other.
    Instances,
    /// The end of an instance.
    Destroy,
    /// That no thread of it is left.
    Threads,
    /// That signals do what they did.
    Signals,
    /// That descriptors are as they were.
    Descriptors,
    /// Closing it.
    Unload,
}

impl Stage {
    /// All of them, in order.
    pub const ALL: [Stage; 22] = [
        Stage::File,
        Stage::Exports,
        Stage::Dlopen,
        Stage::Entry,
        Stage::StructSize,
        Stage::AbiVersion,
        Stage::Functions,
        Stage::ClaimedKeys,
        Stage::Create,
        Stage::Process,
        Stage::Packet,
        Stage::Unclaimed,
        Stage::Determinism,
        Stage::Lent,
        Stage::Bounds,
        Stage::Batch,
        Stage::Instances,
        Stage::Destroy,
        Stage::Threads,
        Stage::Signals,
        Stage::Descriptors,
        Stage::Unload,
    ];

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Stage::File => "file",
            Stage::Exports => "exports",
            Stage::Dlopen => "dlopen",
            Stage::Entry => "entry",
            Stage::StructSize => "struct_size",
            Stage::AbiVersion => "abi_version",
            Stage::Functions => "functions",
            Stage::ClaimedKeys => "claimed_keys",
            Stage::Create => "create",
            Stage::Process => "process",
            Stage::Packet => "packet",
            Stage::Unclaimed => "unclaimed",
            Stage::Determinism => "determinism",
            Stage::Bounds => "bounds",
            Stage::Lent => "lent",
            Stage::Batch => "batch",
            Stage::Instances => "instances",
            Stage::Destroy => "destroy",
            Stage::Threads => "threads",
            Stage::Signals => "signals",
            Stage::Descriptors => "descriptors",
            Stage::Unload => "unload",
        }
    }

    /// What was being done, where the process ended in it: "… while …".
    pub fn during(self) -> &'static str {
        match self {
            Stage::File => "its file was read",
            Stage::Exports => "its symbols were read",
            Stage::Dlopen => "it was opened: its constructors run then",
            Stage::Entry => "nanokata_plugin() was called and its struct read",
            Stage::StructSize | Stage::AbiVersion | Stage::Functions => "its struct was read",
            Stage::ClaimedKeys => "claimed_keys() was called",
            Stage::Create => "create() was called",
            Stage::Process | Stage::Packet => "it processed packets that it claims",
            Stage::Unclaimed => "it was lent packets that it doesn't claim",
            Stage::Determinism => "it processed packets a second time",
            Stage::Bounds => "it processed packets with nothing behind them: it touched what it wasn't given",
            Stage::Lent => "it was called after its packets had been taken back: it used one of them",
            Stage::Batch => "process_batch() was called",
            Stage::Instances => "two instances were at work in turn",
            Stage::Destroy => "destroy() was called",
            Stage::Threads => "its threads were waited for",
            Stage::Signals | Stage::Descriptors => "what it left behind was looked at",
            Stage::Unload => "it was closed: its destructors run then",
        }
    }
}
