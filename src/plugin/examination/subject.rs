//! The plugin that is examined, and what it may say of a packet.

use std::ffi::c_void;

use super::lease::{Answer, Lease};
use crate::plugin::abi::{self, CLAIM_RESIDUAL, Claim};
use crate::plugin::gate::Functions;
use crate::traffic::Packet;

/// A plugin that got as far as its claims.
#[derive(Debug)]
pub struct Subject {
    /// Its functions.
    pub functions: Functions,
    /// What it claims.
    pub claims: Vec<Claim>,
}

impl Subject {
    /// A new instance.
    ///
    /// # Errors
    /// Null.
    pub fn create(&self) -> Result<*mut c_void, String> {
        // SAFETY: the plugin's own function, whose library is open.
        let instance = unsafe { (self.functions.create)() };
        if instance.is_null() {
            return Err("create() returned null: it has no instance to give".into());
        }
        Ok(instance)
    }

    /// Ends an instance that [`create`](Subject::create) made, once.
    pub fn destroy(&self, instance: *mut c_void) {
        // SAFETY: the plugin's own function and instance, whose library is open.
        unsafe { (self.functions.destroy)(instance) };
    }

    /// Lends `instance` a packet, with `value` in the result beforehand.
    pub fn process(
        &self,
        lease: &mut Lease,
        instance: *mut c_void,
        packet: &Packet,
        value: u64,
    ) -> (Answer, Option<String>) {
        // SAFETY: the plugin's own function and instance, whose library is open.
        unsafe { lease.process(self.functions.process, instance, packet, value) }
    }

    /// What it computed of a packet under the claim at `place`: `None` where it isn't its own.
    ///
    /// # Errors
    /// What it said, and what it may say.
    pub fn judge(&self, place: usize, answer: &Answer) -> Result<Option<u64>, String> {
        let Claim { key, flags } = self.claims[place];
        let Answer { status, result } = *answer;
        match status {
            abi::OK if usize::from(result.claim) != place => Err(format!(
                "claim {} for a packet of key {key}; wanted {place}, the place of that key among its {} claims",
                result.claim,
                self.claims.len()
            )),
            abi::OK if result.reserved != 0 => {
                Err(format!("result.reserved = {} for a packet of key {key}; wanted 0", result.reserved))
            }
            abi::OK => Ok(Some(result.value)),
            abi::NOT_MINE if flags & CLAIM_RESIDUAL != 0 => Ok(None),
            abi::NOT_MINE => Err(format!(
                "status 1 (NANOKATA_NOT_MINE) for a packet of key {key}, all of which it claims; flag the claim as residual"
            )),
            status if status < 0 => Err(format!(
                "error {status} for a packet of key {key}; it has to work on each packet that it claims"
            )),
            status => Err(undefined(status, key)),
        }
    }
}

/// A status that means nothing.
pub fn undefined(status: i32, key: u16) -> String {
    format!(
        "status {status} for a packet of key {key}, which means nothing; wanted 0, 1 or a negative number"
    )
}
