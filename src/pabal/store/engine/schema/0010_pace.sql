-- How many messages a minute a carrier takes, as each worker sees it; null: it never told.

alter table carriers add column pace {big};
alter table carriers add column paced_at {big};
