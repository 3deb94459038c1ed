-- The endpoints of other relays: keys with a chosen public id and secret, calls, uploaded files.

create table compat_keys (
    key_id {big} primary key,            -- of the API key with its account, scopes, rate and addresses
    kind text not null,                  -- the relay whose endpoints it opens: solapi
    public_id text not null,
    secret {bytes} not null              -- encrypted: callers sign with it
);
create unique index compat_keys_by_public_id on compat_keys (kind, public_id);

create table compat_requests (           -- which call each request belongs to
    request_id {bytes} primary key,
    account_id {big} not null,
    kind text not null,
    group_id {bytes} not null,           -- of the call: that of its first request, or of a group that was filled
    total integer not null,              -- messages of the whole call, in the row of its first request; else 0
    refused integer not null,            -- of them, those that were refused
    allows_duplicates {small} not null
) {clustered};
create index compat_requests_by_group on compat_requests (account_id, kind, group_id);

create table compat_files (              -- pictures that were uploaded, to be sent by their ids
    account_id {big} not null,
    id {bytes} not null,                 -- the beginning of the SHA-256 of its content
    content_type text not null,
    name text not null,
    body {bytes} not null,
    created_at {big} not null,
    primary key (account_id, id)
);

create table compat_groups (             -- groups that are filled, and sent later
    id {bytes} primary key,
    account_id {big} not null,
    allows_duplicates {small} not null,
    is_closed {small} not null,          -- its sending has begun: nothing can be added
    created_at {big} not null
);

create table compat_group_messages (     -- the messages of these groups, until they are sent
    group_id {bytes} not null,
    number integer not null,
    account_id {big} not null,
    receiver text not null,              -- only digits
    body text not null,                  -- the message as its caller gave it, as JSON
    primary key (group_id, number)
) {clustered};
create index compat_group_messages_by_receiver on compat_group_messages (account_id, receiver);
