-- Profiles and templates that a carrier's relay keeps: which carrier, and why its relay has put them out of use.

alter table profiles add column carrier text;         -- none: kept here alone
alter table profiles add column bar text;             -- none: the relay has nothing against it

alter table templates add column bar text;

create index if not exists profiles_of_carrier on profiles (carrier, channel_id) where carrier is not null;
