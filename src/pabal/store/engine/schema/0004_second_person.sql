-- Who made whom able to sign in as who they are: invited, created, given a password, a role, or freed of a second factor.
-- Kept for a week, also after either is gone: approval of sends needs a second person.
create table user_grants (
    granter_id {big} not null,
    user_id {big} not null,
    granted_at {big} not null,
    primary key (granter_id, user_id)
) {clustered};
create index user_grants_by_age on user_grants (granted_at);

-- Sends of the console without approval, by a digest of their text; kept for a day, and only where approval may be needed.
create table unapproved_sends (
    account_id {big} not null,
    digest {bytes} not null,
    send_id {bytes} not null,
    receivers integer not null,
    sent_at {big} not null,
    primary key (account_id, digest, send_id)
) {clustered};
create index unapproved_sends_by_age on unapproved_sends (sent_at);
