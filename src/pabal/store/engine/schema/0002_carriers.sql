-- Several parts of a message may be reported on each by itself; what an operator should know of each carrier.

alter table receipts add column parts {small} not null default 1;

-- exception: receipts holds only what has not ended, and of its rows this index has none yet: it is made in no time.
create index receipts_of_parts on receipts (message_id) where parts > 1;

create table carriers (                  -- the last known state of each carrier
    name text primary key,
    state text not null,                 -- up, down or aside
    since {big} not null,
    reason text not null                 -- why, in words without secrets; empty while it is up
) {clustered};
