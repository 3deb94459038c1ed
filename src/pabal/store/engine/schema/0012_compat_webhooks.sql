-- Webhooks in the formats of other relays: pabal, solapi or nhncloud; and how calls of their endpoints differed.

alter table webhooks add column format text not null default 'pabal';
alter table webhook_posts add column format text not null default 'pabal';   -- what its body was made in

create table compat_differences (        -- how the calls of other relays' endpoints differed from what happens here
    account_id {big} not null,
    kind text not null,                  -- the relay
    day {big} not null,                  -- when it began
    difference text not null,
    detail text not null,                -- a code, the name of a field or a path: nothing of a message
    uses {big} not null,
    primary key (account_id, kind, day, difference, detail)
) {clustered};
create index compat_differences_by_day on compat_differences (day);
