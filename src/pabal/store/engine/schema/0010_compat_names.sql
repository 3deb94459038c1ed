-- What callers of other relays' endpoints call their sends and messages, and search them by.

alter table compat_requests add column sender_name text;  -- of the call of a request: NHN Cloud's senderGroupingKey
alter table compat_requests add column caller text;       -- what the call says of its caller: NHN Cloud's userId
create index if not exists compat_requests_by_sender_name on compat_requests (account_id, kind, sender_name)
    where sender_name is not null;

create table compat_names (              -- messages by the name that their caller gave them: NHN Cloud's recipientGroupingKey
    account_id {big} not null,
    digest {bytes} not null,             -- the beginning of the SHA-256 of the name, which the message has as its reference
    message_id {bytes} not null,
    primary key (account_id, digest, message_id)
) {clustered};
create index compat_names_by_age on compat_names (message_id);
