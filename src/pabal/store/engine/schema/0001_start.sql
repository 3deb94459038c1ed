-- The first schema. Words in braces are the engine's own (see store/sqlite.py and store/postgres_tx.py); instants are
-- milliseconds since 1970, phone numbers of receivers are integers without their leading zero,
-- products, statuses and outcomes are the numbers of domain/message.py.

create table accounts (
    id {serial},
    name text not null unique,
    created_at {big} not null,
    disabled_at {big}
);

create table keys (
    id {serial},
    account_id {big} not null references accounts (id),
    name text not null,
    hash {bytes} not null unique,        -- SHA-256 of the key; the key itself is shown once, never kept
    scopes text not null,                -- words separated by blanks
    allow text not null,                 -- networks separated by blanks; none: from everywhere
    rate integer not null,               -- requests a second; 0: no limit
    created_at {big} not null,
    expires_at {big},
    revoked_at {big}
);

create table numbers (                   -- sender numbers an account has registered
    account_id {big} not null references accounts (id),
    number text not null,
    created_at {big} not null,
    primary key (account_id, number)
) {clustered};

create table requests (                  -- what the messages of one send share
    id {bytes} not null,
    slot {small} not null,
    account_id {big} not null,
    product {small} not null,
    total integer not null,
    scheduled_at {big} not null,
    sender text not null,
    subject text,
    content text not null,
    variables text,                      -- names, as a JSON array
    buttons text,
    has_image {small} not null,
    image_link text,
    is_ad {small} not null,
    fallback_sender text,
    fallback_content text,
    profile_id {big},
    channel_id text,
    sender_key text,
    template_code text,
    primary key (id{and_slot})
) {monthly_by_id};
create index requests_of_profile on requests (profile_id, scheduled_at) where profile_id is not null;

create table images (
    request_id {bytes} not null,
    content_type text not null,
    file_name text not null,
    body {bytes} not null{slot_of_images},
    primary key (request_id{and_slot})
) {monthly_by_request};

create table messages (                  -- only what differs per receiver
    id {bytes} not null,
    slot {small} not null,
    account_id {big} not null,
    receiver {big} not null,
    product {small} not null,
    status {small} not null,
    outcome {small},
    completed_at {big},
    variables text,                      -- values, as a JSON array in the order of the request's names
    content text,                        -- where it is not the request's
    reference text,                      -- the caller's own id
    primary key (id{and_slot})
) {monthly_by_id};
create index messages_of_receiver on messages (account_id, receiver, id);

-- The queue. A job in lane 0 or 1 is due to be sent at ready_at; while a carrier has it in hand,
-- claimed_at is set and ready_at is the end of the lease; in lane 2 the carrier has taken it, and
-- ready_at is when we stop waiting for the receipt.
create table jobs (
    id {bytes} not null,
    slot {small} not null,
    carrier text not null,
    lane {small} not null,
    ready_at {big} not null,
    attempt integer not null,
    tries integer not null,
    claimed_at {big},
    reference text,
    primary key (id{and_slot})
) {queue};
create index jobs_ready on jobs (slot, carrier, lane, ready_at);

create table attempts (                  -- attempts that ended in neither yes nor no
    message_id {bytes} not null,
    number integer not null,
    slot {small} not null,
    carrier text not null,
    verdict text not null,
    ended_at {big} not null,
    primary key (message_id, number{and_slot})
) {monthly_by_message};

-- Where a carrier's answer and its receipt meet, in whichever order they come. A row lives until
-- its message ends; one without a message is a receipt that nobody has claimed yet.
create table receipts (
    carrier text not null,
    reference text not null,
    message_id {bytes},
    outcome {small},
    arrived_at {big},
    primary key (carrier, reference)
) {clustered};
create index receipts_unmatched on receipts (arrived_at) where message_id is null;

create table answers (                   -- what an Idempotency-Key was answered with
    slot {small} not null,
    account_id {big} not null,
    key text not null,
    digest {bytes} not null,
    request_id {bytes} not null,
    created_at {big} not null,
    primary key (slot, account_id, key)
) {clustered};
create index answers_by_age on answers (created_at);

create table profiles (
    id {serial},
    account_id {big} not null references accounts (id),
    channel_id text not null,
    category text not null,
    cellphone text not null,
    status text not null,
    sender_key text unique,
    is_enabled {small} not null,
    created_at {big} not null,
    changed_at {big} not null,
    deleted_at {big},
    is_swept {small} not null            -- 0: deleted, and its waiting messages are still to be cancelled
);
create unique index profiles_of_account on profiles (account_id, channel_id) where deleted_at is null;
create index profiles_to_sweep on profiles (id) where is_swept = 0;

create table tokens (
    id {serial},
    account_id {big} not null,
    profile_id {big} not null references profiles (id),
    channel_id text not null,
    cellphone text not null,
    hash {bytes} not null,
    wrong integer not null,
    sent_at {big} not null,
    expires_at {big} not null
);
create index tokens_of_account on tokens (account_id, sent_at);
create index tokens_of_profile on tokens (profile_id, id);
create index tokens_by_age on tokens (sent_at);

create table templates (
    id {serial},
    account_id {big} not null references accounts (id),
    profile_id {big} not null references profiles (id),
    code text not null,
    name text not null,
    design text not null,                -- the newest text, as JSON; status speaks of it
    in_use text,                         -- the text approved last, as JSON
    status text not null,
    comment text,
    is_enabled {small} not null,
    created_at {big} not null,
    changed_at {big} not null,
    unique (profile_id, code)
);
create index templates_of_account on templates (account_id, id);

create table template_images (
    template_id {big} primary key references templates (id) on delete cascade,
    content_type text not null,
    file_name text not null,
    body {bytes} not null
);

create table simulated (                 -- what the simulator's phones hold
    id {serial},
    carrier text not null,               -- there may be several simulators
    message_id {bytes},                  -- none for a token
    account_id {big} not null,
    phone {big} not null,
    taken_at {big} not null,
    arrives_at {big},                    -- none: it never arrives
    kind text not null,
    sender text not null,
    subject text,
    content text not null,
    buttons text,
    has_image {small} not null,
    unique (message_id, carrier)
);
create index simulated_of_phone on simulated (account_id, phone, id);

create table simulated_busy (            -- how often a number that is busy at first has been busy
    message_id {bytes} not null,
    carrier text not null,
    times integer not null,
    primary key (message_id, carrier)
) {clustered};

create table simulated_receipts (        -- receipts that a simulator owes
    carrier text not null,
    due_at {big} not null,
    message_id {bytes} not null,
    outcome {small} not null,
    primary key (carrier, due_at, message_id, outcome)
) {clustered};

create table marks (                     -- how far housekeeping has come
    name text primary key,
    value {bytes} not null
) {clustered};
