-- Many processes may deliver: the queue is cut into slots, each in the hands of one worker at a time.

create table workers (
    id {bytes} primary key,              -- drawn when it joins, and again if it was given up for dead
    name text not null,                  -- machine and process, for people
    beat {big} not null,                 -- grows while it lives
    joined_at {big} not null
) {clustered};

create table slots (
    slot {small} primary key,
    worker {bytes}                       -- none: free; one that is not among the workers has died
) {clustered};

create table key_uses (                  -- how far what keys were granted reaches into the future at their rate
    key_id {big} primary key,
    until_us {big} not null              -- microseconds
) {clustered};

-- Every worker has sessions of its own with a carrier. What was known is written anew at the next start.
-- exception: before this, one process alone could use a store.
drop table carriers;
create table carriers (                  -- the last known state of each carrier, as each worker sees it
    name text not null,
    worker text not null,                -- empty: the only process there is
    state text not null,                 -- up, down or aside
    since {big} not null,
    reason text not null,                -- why, in words without secrets; empty while it is up
    primary key (name, worker)
) {clustered};

-- exception: before this, one process alone could use a store.
alter table simulated_receipts rename to simulated_receipts_before;
create table simulated_receipts (        -- receipts that a simulator owes
    carrier text not null,
    slot {small} not null,
    due_at {big} not null,
    message_id {bytes} not null,
    outcome {small} not null,
    primary key (carrier, slot, due_at, message_id, outcome)
) {clustered};
insert into simulated_receipts select carrier, 0, due_at, message_id, outcome from simulated_receipts_before;
drop table simulated_receipts_before;
