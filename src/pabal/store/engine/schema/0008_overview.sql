-- What operators and the overview are told: the last trouble of each carrier, and how messages stand, counted.

alter table carriers add column trouble text;
alter table carriers add column trouble_at {big};

-- Housekeeping counts the messages that were requested in each quarter of an hour, again until all have ended.
create table counted (
    quarter {big} primary key,           -- its first instant
    waiting text not null,               -- how its jobs stood then, in short; empty: all had ended, for good
    counted_at {big} not null,
    took_ms {big} not null
) {clustered};

create table counts (
    quarter {big} not null,
    account_id {big} not null,
    product {small} not null,
    status {small} not null,
    outcome {small} not null,            -- 0: it has none
    messages {big} not null,
    primary key (account_id, quarter, product, status, outcome)
) {clustered};
create index counts_by_age on counts (quarter);
