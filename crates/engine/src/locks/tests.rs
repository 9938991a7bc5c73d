//! The lock manager against a simple model, and under many threads.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "threads are what is tested")]

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rand::Rng as _;
use rowferry_dialect::Condition;
use rowferry_dialect::ir::LockMode;

use super::table::{Attempt, Request, Table};
use super::{AdvisoryKey, Hold, Locks, Owner, Patience, Tag, TransactionStatus};
use crate::interrupt::Interrupter;

const FOR_EVER: Patience = Patience { timeout: Duration::ZERO, deadlock: Duration::from_millis(5) };

fn armed() -> Interrupter {
    let interrupter = Interrupter::new(crate::memory::UNLIMITED);
    interrupter.arm(Duration::ZERO);
    interrupter
}

fn locks(owners: u32) -> (Arc<Locks>, Vec<Arc<Owner>>) {
    let locks = Arc::new(Locks::new(1));
    let owners = (1..=owners).map(|pid| locks.enter(pid, armed())).collect();
    (locks, owners)
}

fn until(what: impl Fn() -> bool) {
    while !what() {
        std::thread::yield_now();
    }
}

#[test]
fn turns_to_write_come_in_order() {
    let (locks, owners) = locks(9);
    let first = locks.write_within(&owners[0], Some(FOR_EVER)).unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    let threads: Vec<_> = (1..9)
        .map(|number| {
            let (shared, owner, seen) = (locks.clone(), owners[number].clone(), order.clone());
            let thread = std::thread::spawn(move || {
                let permit = shared.write_within(&owner, Some(FOR_EVER)).unwrap();
                seen.lock().push(number);
                drop(permit);
            });
            until(|| locks.waits_for(owners[number].pid).is_some());
            thread
        })
        .collect();
    drop(first);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*order.lock(), (1..9).collect::<Vec<_>>());
    assert!(locks.table.lock().is_empty());
}

#[test]
fn a_wait_ends_with_its_time_a_cancel_or_the_session() {
    let (locks, owners) = locks(2);
    let held = locks.write_within(&owners[0], Some(FOR_EVER)).unwrap();
    let short = Patience { timeout: Duration::from_millis(5), ..FOR_EVER };
    assert_eq!(
        locks.write_within(&owners[1], Some(short)).unwrap_err().error(String::new).condition(),
        Condition::LockNotAvailable
    );
    let stopped = |stop: fn(&Interrupter)| {
        owners[1].interrupter.arm(Duration::ZERO);
        std::thread::scope(|scope| {
            let waiting = scope
                .spawn(|| locks.write_within(&owners[1], Some(FOR_EVER)).unwrap_err().error(String::new).condition());
            until(|| locks.waits_for(2).is_some());
            stop(&owners[1].interrupter);
            waiting.join().unwrap()
        })
    };
    assert_eq!(stopped(Interrupter::interrupt), Condition::QueryCanceled);
    assert_eq!(stopped(|interrupter| interrupter.end(crate::End::Terminated)), Condition::AdminShutdown);
    assert_eq!(locks.waits_for(2), None);
    drop(held);
    assert!(locks.table.lock().is_empty());
}

#[test]
fn weak_locks_stay_with_their_owner_until_a_strong_one_is_wanted() {
    let (locks, owners) = locks(2);
    assert!(locks.weak(&owners[0], 7, LockMode::RowExclusive));
    assert!(!owners[0].holds_transaction_locks());
    assert!(matches!(locks.lock_table(&owners[1], 7, LockMode::Share, None), Err(super::Refusal::Busy)));
    // The attempt is over: the next weak lock is as cheap as before.
    assert!(locks.is_calm(7));
    locks.end_transaction(&owners[0], true);
    locks.lock_table(&owners[1], 7, LockMode::Share, None).unwrap();
    assert!(!locks.weak(&owners[0], 7, LockMode::RowExclusive));
    assert!(matches!(locks.lock_table(&owners[0], 7, LockMode::RowExclusive, None), Err(super::Refusal::Busy)));
    locks.lock_table(&owners[0], 7, LockMode::AccessShare, None).unwrap();
    locks.end_transaction(&owners[1], true);
    locks.end_transaction(&owners[0], true);
    assert!(locks.is_calm(7) && locks.table.lock().is_empty());
}

#[test]
fn rolling_back_to_a_mark_keeps_what_came_before() {
    let (locks, owners) = locks(2);
    locks.weak(&owners[0], 1, LockMode::AccessShare);
    let mark = locks.mark(&owners[0]);
    locks.weak(&owners[0], 2, LockMode::AccessShare);
    locks.try_row(&owners[0], 3, 1, LockMode::AccessExclusive).unwrap();
    let strong = |relation| locks.lock_table(&owners[1], relation, LockMode::AccessExclusive, None);
    // Both weak locks are in the table now, behind the mark.
    assert!(strong(1).is_err() && strong(2).is_err());
    locks.rollback_to(&owners[0], mark);
    assert!(strong(1).is_err());
    assert!(strong(2).is_ok());
    assert!(locks.try_row(&owners[1], 3, 1, LockMode::AccessExclusive).is_some());
    locks.leave(&owners[0]);
    locks.leave(&owners[1]);
    assert!(locks.table.lock().is_empty() && locks.is_calm(1) && locks.is_calm(2));
}

#[test]
fn rows_that_the_writer_has_changed_are_locked() {
    let (locks, owners) = locks(2);
    let permit = locks.write_within(&owners[0], Some(FOR_EVER)).unwrap();
    assert!(locks.wrote(&owners[0], &[(5, 1)], &[6], LockMode::Exclusive).is_empty());
    assert!(locks.try_row(&owners[1], 5, 1, LockMode::RowShare).is_none());
    // FOR KEY SHARE goes together with a change of what is no key.
    assert!(locks.try_row(&owners[1], 5, 1, LockMode::AccessShare).is_some());
    assert!(locks.try_row(&owners[1], 5, 2, LockMode::AccessExclusive).is_some());
    assert!(locks.try_row(&owners[1], 6, 99, LockMode::AccessExclusive).is_none());
    let found = locks.wrote(&owners[0], &[(5, 2)], &[], LockMode::Exclusive);
    assert_eq!(found, [Tag::Row { relation: 5, row: 2 }]);
    locks.committed(&owners[0], 1);
    drop(permit);
    locks.end_transaction(&owners[0], true);
    assert!(locks.unchanged_since([5, 6], 1) && !locks.unchanged_since([5], 0));
    locks.end_transaction(&owners[1], true);
    assert!(locks.table.lock().is_empty());
}

#[test]
fn advisory_locks_count() {
    let (locks, owners) = locks(2);
    let key = AdvisoryKey::single(-1);
    let take = |at: usize, mode, hold| locks.acquire(&owners[at], Tag::Advisory(key), mode, hold, None).is_ok();
    assert!(take(0, LockMode::Exclusive, Hold::Session));
    assert!(take(0, LockMode::Exclusive, Hold::Session));
    assert!(take(0, LockMode::Exclusive, Hold::Transaction));
    assert!(locks.release_advisory(&owners[0], key, LockMode::Exclusive));
    locks.end_transaction(&owners[0], true);
    assert!(!take(1, LockMode::Share, Hold::Session));
    assert!(locks.release_advisory(&owners[0], key, LockMode::Exclusive));
    assert!(!locks.release_advisory(&owners[0], key, LockMode::Exclusive));
    assert!(take(1, LockMode::Share, Hold::Session) && take(0, LockMode::Share, Hold::Transaction));
    locks.leave(&owners[0]);
    locks.leave(&owners[1]);
    assert!(locks.table.lock().is_empty());
}

#[test]
fn a_circle_is_found_and_told() {
    let (locks, owners) = locks(2);
    let take = |at: usize, key: i64| {
        let tag = Tag::Advisory(AdvisoryKey::single(key));
        locks.acquire(&owners[at], tag, LockMode::Exclusive, Hold::Transaction, Some(FOR_EVER))
    };
    take(0, 1).unwrap();
    take(1, 2).unwrap();
    let error = std::thread::scope(|scope| {
        let one = scope.spawn(|| {
            let result = take(0, 2);
            if result.is_err() {
                locks.end_transaction(&owners[0], false);
            }
            result
        });
        let two = scope.spawn(|| {
            let result = take(1, 1);
            if result.is_err() {
                locks.end_transaction(&owners[1], false);
            }
            result
        });
        let (one, two) = (one.join().unwrap(), two.join().unwrap());
        // Both may look at the same time; one of them sees what the other has left.
        one.err().or_else(|| two.err()).unwrap().error(String::new)
    });
    assert_eq!(error.condition(), Condition::DeadlockDetected);
    let detail = error.detail.clone().unwrap();
    assert!(detail.contains("waits for ExclusiveLock on advisory lock [1,0,"), "{detail}");
    assert_eq!(detail.lines().count(), 2);
}

#[test]
fn transactions_have_numbers_and_ends() {
    let (locks, owners) = locks(2);
    let one = locks.xids.assign(&owners[0]);
    let two = locks.xids.assign(&owners[1]);
    assert!(two > one && locks.xids.assign(&owners[0]) == one);
    locks.end_transaction(&owners[0], true);
    locks.end_transaction(&owners[1], false);
    assert_eq!(locks.xids.status(one), TransactionStatus::Committed);
    assert_eq!(locks.xids.status(two), TransactionStatus::Aborted);
    assert_eq!(locks.xids.status(two + 1), TransactionStatus::Future);
    assert_eq!(locks.xids.status(1), TransactionStatus::Forgotten);
}

/// Random operations of six owners on three objects, against the rule alone: no two owners hold modes that conflict,
/// nobody waits who could have the lock, and in the end nothing is left.
#[test]
fn the_table_keeps_the_rule() {
    let mut random = rand::rng();
    for _ in 0..200 {
        let owners: Vec<Arc<Owner>> = (1..=6).map(|pid| Arc::new(Owner::new(pid, armed()))).collect();
        let mut table = Table::default();
        owners.iter().for_each(|owner| table.enter(owner));
        let mut held: HashMap<(u32, Tag), Vec<LockMode>> = HashMap::new();
        let mut waiting: HashMap<u32, (Tag, Arc<Request>)> = HashMap::new();
        for _ in 0..120 {
            let owner = &owners[random.random_range(0..6)];
            let tag = Tag::Relation(random.random_range(0..3));
            let mode = LockMode::ALL[random.random_range(0..8)];
            match random.random_range(0..10) {
                _ if waiting.contains_key(&owner.pid) => {
                    if random.random_range(0..3) == 0
                        && let Some((tag, request)) = waiting.remove(&owner.pid)
                    {
                        table.stop_waiting(tag, &request);
                    }
                }
                0..6 => match table.attempt(owner, tag, mode, Hold::Transaction) {
                    Attempt::Already => assert!(held[&(owner.pid, tag)].contains(&mode)),
                    Attempt::New => held.entry((owner.pid, tag)).or_default().push(mode),
                    Attempt::Busy => {
                        let granted = std::sync::atomic::AtomicBool::new(false);
                        let hold = Hold::Transaction;
                        let request = Arc::new(Request { owner: owner.clone(), mode, hold, granted, since: 0 });
                        table.enqueue(tag, &request);
                        waiting.insert(owner.pid, (tag, request));
                    }
                },
                _ => {
                    table.release_transaction(owner.pid);
                    held.retain(|(pid, _), _| *pid != owner.pid);
                }
            }
            // Grants come from others' releases.
            waiting.retain(|pid, (tag, request)| {
                let granted = request.granted.load(Ordering::Acquire);
                if granted {
                    held.entry((*pid, *tag)).or_default().push(request.mode);
                }
                !granted
            });
            check_rule(&held);
            for (pid, (tag, request)) in &waiting {
                let blocked = !table.blockers(*pid).is_empty();
                assert!(blocked, "{pid} waits for {tag:?} in {:?} though nobody is in its way", request.mode);
            }
        }
        for (_, (tag, request)) in waiting.drain() {
            table.stop_waiting(tag, &request);
        }
        owners.iter().for_each(|owner| table.release_all(owner.pid));
        assert!(table.is_empty());
    }
}

fn check_rule(held: &HashMap<(u32, Tag), Vec<LockMode>>) {
    for ((pid, tag), modes) in held {
        for ((other, at), theirs) in held {
            if pid != other && tag == at {
                let conflict = modes.iter().any(|a| theirs.iter().any(|b| a.conflicts() & b.bit() != 0));
                assert!(!conflict, "{pid} {modes:?} and {other} {theirs:?} on {tag:?}");
            }
        }
    }
}

/// Threads that lock at random, give up, are cancelled and deadlock: what is locked exclusively is had by one alone,
/// and nothing is left.
#[test]
fn nothing_is_left_behind_by_many_threads() {
    let (locks, owners) = locks(8);
    let inside: Vec<AtomicUsize> = (0..4).map(|_| AtomicUsize::new(0)).collect();
    std::thread::scope(|scope| {
        for owner in &owners {
            let (locks, inside) = (&locks, &inside);
            scope.spawn(move || {
                let mut random = rand::rng();
                for _ in 0..300 {
                    owner.interrupter.arm(Duration::ZERO);
                    let mut mine = Vec::new();
                    for _ in 0..random.random_range(1..4) {
                        let at = random.random_range(0..4_usize);
                        let millis = random.random_range(0..4);
                        let patience = Patience { timeout: Duration::from_millis(millis), ..FOR_EVER };
                        let row = at as i64;
                        let got = match at {
                            0 | 1 => locks.lock_table(owner, at as u32, LockMode::AccessExclusive, Some(patience)),
                            _ => {
                                let tag = Tag::Row { relation: 9, row };
                                locks.acquire(owner, tag, LockMode::AccessExclusive, Hold::Transaction, Some(patience))
                            }
                        };
                        if got.is_ok() && !mine.contains(&at) {
                            assert_eq!(inside[at].fetch_add(1, Ordering::SeqCst), 0);
                            mine.push(at);
                        }
                        locks.weak(owner, 2, LockMode::AccessShare);
                    }
                    for at in mine {
                        inside[at].fetch_sub(1, Ordering::SeqCst);
                    }
                    locks.end_transaction(owner, random.random_range(0..2) == 0);
                }
            });
        }
        let canceller = scope.spawn(|| {
            for _ in 0..200 {
                owners.iter().for_each(|owner| owner.interrupter.interrupt());
                std::thread::yield_now();
            }
        });
        canceller.join().unwrap();
    });
    assert!(locks.table.lock().is_empty());
    assert!((0..256).all(|relation| locks.is_calm(relation)));
}
