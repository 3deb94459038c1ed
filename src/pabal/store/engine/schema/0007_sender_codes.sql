-- Which reseller sends an account's messages; null: the carrier's setting.

alter table accounts add column origin_code text;     -- nine digits, for texts
alter table accounts add column reseller_code text;   -- for brand messages
