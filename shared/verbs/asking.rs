//! Putting a question, and waiting for what comes of it.

pub mod wait;

use super::caller::Caller;
use super::mail::{Parcel, Way};
use crate::spool::asked;
use crate::spool::facts::{Addressee, Request};
use crate::spool::session::Spool;
use anyhow::Result;

/// Puts the question of a parcel to a session: first the record, in the spool of the one who asks, then the message of
/// the same id. The claim is held, and the run was checked under it.
///
/// A question that could be sent neither way is called off: nobody would ever answer it.
pub fn put_to_session(caller: &Caller, to: &Spool, parcel: &Parcel<'_>, blocking: bool) -> Result<Way> {
    let request = Request {
        id: parcel.id.clone(),
        to: Addressee::Session(to.id().clone()),
        blocking,
        run: Some(caller.run),
        at: parcel.at,
    };
    asked::put(&caller.spool, &request, parcel.text)?;
    parcel.send(caller, to).inspect_err(|_| {
        // As far as that is possible: what failed may fail again.
        let _ = asked::call_off(&caller.spool, parcel.id);
    })
}
