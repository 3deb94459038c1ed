-- Tables by month where the engine has such (see store/months.py); a slot for every row that follows from a request.

alter table images add column {if_new} slot {small} not null default 0;

-- Who names ids and a slot is to find them by their key: no index begins with the slot.
-- exception: before this, one process alone could use a store.
drop index jobs_ready;
create index jobs_ready on jobs (carrier, lane, slot, ready_at);

create table month_counts (              -- what is left of the messages of months that were dropped
    month integer not null,              -- 202611: that of the request, in UTC
    account_id {big} not null,
    product {small} not null,
    status {small} not null,
    outcome {small} not null,            -- 0: it had none
    messages {big} not null,
    primary key (month, account_id, product, status, outcome)
) {clustered};
