-- Webhooks whose server answers 410 Gone: they are disabled after some of these in a row.

alter table webhooks add column gone integer not null default 0;   -- answers 410 since any other result
alter table webhooks add column gone_since {big};                  -- the first of them; null: none
create index if not exists webhooks_gone on webhooks (account_id, id)
    where state = 'disabled' and gone_since is not null;
