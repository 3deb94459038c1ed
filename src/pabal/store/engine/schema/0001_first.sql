-- The schema of the first release. Words in braces differ by engine (see store/engine/sqlite/sqlite_store.py and
-- store/engine/postgres/postgres_tx.py). Instants are milliseconds since 1970; receivers' phone numbers are integers without
-- their leading zero; products, statuses and outcomes are the numbers of domain/sends/message.py.

create table accounts (
    id {serial},
    name text not null unique,
    created_at {big} not null,
    disabled_at {big},
    opt_out_number text                  -- for opting out of its advertisements by text; null: the setting
);

create table keys (                      -- API keys
    id {serial},
    account_id {big} not null references accounts (id),
    name text not null,
    hash {bytes} not null unique,        -- SHA-256 of the key; the key itself is shown once and never stored
    scopes text not null,                -- words separated by spaces
    allow text not null,                 -- networks separated by spaces; empty: any address
    rate integer not null,               -- requests per second; 0: no limit
    created_at {big} not null,
    expires_at {big},
    revoked_at {big}
);

create table key_usage (                 -- the token bucket of each API key, shared by all processes
    key_id {big} primary key,
    until_us {big} not null,             -- when all granted requests are paid off at the key's rate, in microseconds
    used_at {big}                        -- when the key was used last, to the minute; null: unknown
) {clustered};

create table account_limits (            -- limits of accounts; no row, or 0: none
    account_id {big} primary key references accounts (id),
    receivers_per_second {big} not null,
    receivers_per_day {big} not null,
    receivers_per_month {big} not null,
    budget_per_month {big} not null,     -- in won
    duplicate_minutes integer            -- null: as the setting says
) {clustered};

create table send_preferences (          -- how users of an account send in the console; no row: the defaults
    account_id {big} primary key references accounts (id),
    upgrades_to_lms {small} not null,    -- 1: what is too long for an SMS becomes an LMS
    fallback_number text not null,       -- sender of the fallback that an Alimtalk has by default; empty: none
    approval_receivers {big} not null    -- more receivers need the approval of a second user; 0: none do
) {clustered};

create table limit_usage (               -- how much of each limit all processes have reserved
    account_id {big} not null,
    name text not null,                  -- a column of account_limits
    period {big} not null,               -- first instant of the day or month; 0: a rate
    used {big} not null,                 -- receivers, hundredths of a won, or of a rate as in key_usage
    notified {small} not null,           -- the percentage that was told last
    primary key (account_id, name)
) {clustered};

create table budget_corrections (        -- messages that ended, until their reserved prices are corrected
    id {serial},
    account_id {big} not null,
    requested_at {big} not null,
    product {small} not null,
    is_fallback {small} not null,        -- 1: nothing was reserved
    carrier text,                        -- the one that took them; null: none did
    outcome {small},                     -- null: cancelled
    messages integer not null
);

create table setup_changes (             -- how often keys, limits, numbers, profiles or templates of accounts have changed
    bucket {small} primary key,          -- accounts share the counts
    changes {big} not null
) {clustered};

create table numbers (                   -- sender numbers that an account has registered
    account_id {big} not null references accounts (id),
    number text not null,
    state text not null,                 -- pending: waits for an operator; approved; rejected
    created_at {big} not null,
    comment text not null,               -- why it was rejected
    primary key (account_id, number)
) {clustered};
create unique index numbers_approved on numbers (number) where state = 'approved';
create index numbers_pending on numbers (created_at) where state = 'pending';

create table opt_outs (                  -- receivers who want no advertising
    id {serial},
    account_id {big} not null references accounts (id),
    hash {bytes} not null,               -- keyed hash of account and number, by which sends are checked
    sender text not null,                -- the sender number that it holds for; empty: everything of the account
    phone {big},                         -- null: the number was erased, its hash stays
    reason text,
    source {small} not null,             -- a number of domain/people/opt_out.py
    created_at {big} not null,
    unique (hash, sender)
);
create index opt_outs_by_account on opt_outs (account_id, id);

create table address_books (             -- what the contacts of an account have in common
    account_id {big} primary key references accounts (id),
    contacts {big} not null,             -- how many there are
    fields text not null                 -- names of the fields that they may have, as a JSON array
) {clustered};

create table contacts (                  -- people that an account sends to
    id {serial},
    account_id {big} not null references accounts (id),
    phone {big} not null,
    name text not null,
    name_key {bytes} not null,           -- the name as it is searched and sorted
    fields text,                         -- values by the name of their field, as a JSON object; null: none
    created_at {big} not null,
    changed_at {big} not null,
    unique (account_id, phone)
);
create index contacts_by_name on contacts (account_id, name_key, id);
create index contacts_by_id on contacts (account_id, id);
create index contacts_by_tail on contacts (account_id, (phone % 10000), id);

create table contact_groups (
    id {serial},
    account_id {big} not null references accounts (id),
    name text not null,
    contacts {big} not null,             -- how many are in it
    created_at {big} not null,
    unique (account_id, name)
);

create table contact_members (           -- who is in which group
    group_id {big} not null,
    contact_id {big} not null,
    primary key (group_id, contact_id)
) {clustered};
create index contact_members_by_contact on contact_members (contact_id);

create table inbound_messages (          -- what subscribers have sent to our numbers
    id {serial},
    account_id {big} references accounts (id),  -- the one that registered the number; null: only operators see it
    carrier text not null,
    sender text not null,                -- digits in national format, if it is a Korean number
    receiver text not null,
    content text not null,
    has_opted_out {small} not null,      -- 1: it has added an opt-out
    received_at {big} not null
);
create index inbound_messages_by_account on inbound_messages (account_id, id);
create index inbound_messages_by_sender on inbound_messages (sender);
create index inbound_messages_by_age on inbound_messages (received_at);

create table inbound_parts (             -- parts of long inbound messages, until all are there
    carrier text not null,
    sender text not null,
    receiver text not null,
    reference integer not null,
    total {small} not null,
    number {small} not null,
    content {bytes} not null,            -- in UTF-16: a surrogate pair may be divided between parts
    arrived_at {big} not null,
    primary key (carrier, sender, receiver, reference, total, number)
) {clustered};

create table opt_out_changes (           -- opt-outs added or removed here that relays are not told about yet
    id {serial},
    account_id {big} not null,
    opt_out_number text not null,        -- the account's own
    phone {big} not null,
    is_removed {small} not null,
    created_at {big} not null
);
create index opt_out_changes_by_phone on opt_out_changes (account_id, phone);

create table hash_keys (                 -- keys of keyed hashes, made when they are first needed
    name text primary key,
    value {bytes} not null
) {clustered};

create table users (                     -- people who sign in to the console
    id {serial},
    account_id {big} references accounts (id),  -- null: an operator, who manages all accounts
    name text not null unique,
    role text not null,
    hash text,                           -- argon2id of the password, with its parameters; null: there is none
    created_at {big} not null,
    disabled_at {big},
    test_number text                     -- the phone that receives the user's test sends
);

create table sessions (                  -- console sessions
    hash {bytes} primary key,            -- SHA-256 of the token in the browser's cookie
    user_id {big} not null references users (id),
    account_id {big},                    -- the account that an operator has selected
    csrf text not null,                  -- the token that every form of this session carries
    browser text not null,               -- kind and system, such as `Chrome, Windows`; empty: unknown
    created_at {big} not null,
    used_at {big} not null,
    expires_at {big} not null
) {clustered};
create index sessions_by_user on sessions (user_id);
create index sessions_by_expiry on sessions (expires_at);

create table second_factors (            -- two-factor sign-in of users, by codes of an app
    user_id {big} primary key references users (id),
    secret {bytes} not null,             -- encrypted, if the operator has set a key for that
    enabled_at {big},                    -- null: the user has not shown yet that the app has it
    last_step {big} not null             -- the period of the last code that was used: each works once
) {clustered};

create table recovery_codes (            -- what a user signs in with who has lost the app; each works once
    user_id {big} not null references users (id),
    hash {bytes} not null,               -- SHA-256 of the code and the user's id
    primary key (user_id, hash)
) {clustered};

create table pending_sign_ins (          -- sign-ins with the right password, which wait for a code
    hash {bytes} primary key,            -- SHA-256 of the token in the form
    user_id {big} not null references users (id),
    failures integer not null,
    expires_at {big} not null
) {clustered};
create index pending_sign_ins_by_user on pending_sign_ins (user_id);
create index pending_sign_ins_by_expiry on pending_sign_ins (expires_at);

create table form_claims (               -- forms of the console that were handled, or are being handled
    form {bytes} primary key,            -- SHA-256 of the user, the page and the id of the form
    owner {bytes} not null,              -- random; which call handles it
    claimed_at {big} not null
) {clustered};
create index form_claims_by_age on form_claims (claimed_at);

create table openid_identities (         -- who users are at an OpenID Connect provider
    issuer text not null,
    subject text not null,               -- the provider's id of a person
    user_id {big} not null references users (id),
    linked_at {big} not null,
    primary key (issuer, subject)
) {clustered};
create unique index openid_identities_by_user on openid_identities (user_id, issuer);

create table used_openid_answers (       -- answers of the provider that were used: each works once
    hash {bytes} primary key,            -- SHA-256 of the nonce
    expires_at {big} not null
) {clustered};
create index used_openid_answers_by_expiry on used_openid_answers (expires_at);

create table invites (                   -- invitations to an account, until they are used, withdrawn or expired
    id {serial},
    account_id {big} not null references accounts (id),
    hash {bytes} not null unique,        -- SHA-256 of the token in the link
    role text not null,
    inviter_id {big} not null references users (id),
    created_at {big} not null,
    expires_at {big} not null
);
create index invites_by_account on invites (account_id, id);
create index invites_by_expiry on invites (expires_at);

create table notice_settings (           -- what each user is told by mail, and where
    user_id {big} primary key references users (id),
    kinds text,                          -- what the user has chosen; null: what is usual for the role
    language text not null,
    address text,                        -- where mails go; null: no address is confirmed
    new_address text,                    -- waits to be confirmed
    hash {bytes},                        -- SHA-256 of the token in the link that confirms it
    expires_at {big},                    -- of the link
    asks integer not null,               -- confirmations that were asked for since asked_since
    asked_since {big} not null,
    asked_at {big} not null,
    failed_at {big},                     -- when a mail to the user was last given up
    error text not null                  -- why; empty: none was
) {clustered};

create table notices (                   -- what users are to be told by mail, until it is in the mails of each
    id {bytes} primary key,              -- of the event
    kind text not null,
    account_id {big},                    -- null: about the whole service
    created_at {big} not null,
    data text not null                   -- as JSON, without data of receivers
) {clustered};
create index notices_by_age on notices (created_at);

create table alerts (                    -- conditions that are told of when they begin, not while they last
    kind text not null,
    subject text not null,               -- a carrier, or the id of an account
    is_on integer not null,
    told_at {big} not null,
    primary key (kind, subject)
) {clustered};

create table mails (                     -- mails to users: the outbox, and for a day what became of them
    id {bytes} primary key,              -- its Message-ID too, so that a repeat can be recognized
    user_id {big} not null references users (id),
    kind text not null,                  -- of the notices in it, or confirm
    state text not null,
    items text not null,                 -- the notices in it as JSON; none once it is sent
    more integer not null,               -- how many further notices are only counted
    token {bytes},                       -- of the link that confirms an address, encrypted
    created_at {big} not null,
    due_at {big} not null,               -- when it is tried next; of one being sent, the end of its lease
    tries integer not null,
    doubts integer not null,             -- tries of which nobody knows whether the server took the mail
    changed_at {big} not null,
    error text not null                  -- of the last try
) {clustered};
create index mails_by_state on mails (state, due_at);
create index mails_by_user on mails (user_id, kind, state);

create table mail_servers (              -- how handing mails to each mail server goes
    name text primary key,               -- host and port
    succeeded_at {big},
    failing_since {big},                 -- null: the last try succeeded
    failures integer not null,           -- since the last success
    next_try_at {big} not null,
    failed_at {big},
    error text not null                  -- of the last failure
) {clustered};

create table drafts (                    -- what a user has written in a form of the console and not sent yet
    user_id {big} not null references users (id),
    account_id {big} not null,
    form text not null,                  -- such as `send`
    fields text not null,                -- what was typed, as a JSON object; empty: nothing, it was sent
    changed_at {big} not null,
    sent_page text not null,             -- the page that has sent it last: it keeps nothing any more; empty: none
    primary key (user_id, account_id, form)
);
create index drafts_by_account on drafts (account_id, user_id, form);
create index drafts_by_age on drafts (changed_at);

create table saved_texts (               -- messages that an account keeps under a name
    id {serial},
    account_id {big} not null references accounts (id),
    name text not null,
    kind text not null,                  -- the tab of the send page
    fields text not null,                -- of its form, without receivers and time, as a JSON object
    changed_at {big} not null,
    unique (account_id, name)
);

create table sign_in_attempts (          -- recent failed sign-ins
    subject {bytes} primary key,         -- SHA-256 of a name, an address, or both; neither is stored
    name_hash {bytes},                   -- SHA-256 of the name, if there is one in the subject
    failures integer not null,
    failed_at {big} not null             -- the last one
) {clustered};
create index sign_in_attempts_by_age on sign_in_attempts (failed_at);
create index sign_in_attempts_by_name on sign_in_attempts (name_hash) where name_hash is not null;

create table trusted_devices (           -- browsers in which a user has signed in before
    hash {bytes} not null,               -- SHA-256 of the token in the browser's cookie
    user_id {big} not null references users (id),
    expires_at {big} not null,
    primary key (hash, user_id)
) {clustered};
create index trusted_devices_by_user on trusted_devices (user_id, expires_at);
create index trusted_devices_by_expiry on trusted_devices (expires_at);

create table audit_log (                 -- who changed what; holds no phone numbers and no message texts
    id {serial},
    created_at {big} not null,
    user_id {big},                       -- null: the command line, or nobody signed in
    actor text not null,                 -- the user's name at that time
    account_id {big},                    -- the account that the changed thing belongs to, if any
    action text not null,                -- a word such as `user.create`
    target text not null                 -- an id, a code or a user's name
);
create index audit_log_by_account on audit_log (account_id, id);
create index audit_log_by_age on audit_log (created_at);

create table requests (                  -- what all messages of one send share
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
    brand text,                          -- what a brand message has besides, as JSON; null: it is delivered as none
    opt_out_number text,                 -- the number that ends advertising, if the caller gave one
    expire_minutes {small},              -- the lifetime that the caller gave; null: the default of its product
    expires_at {big},                    -- its deadline; null: no message has waited long, nor was moved to the morning
    parts text,                          -- what an Alimtalk has beside its text, as JSON; null: nothing
    key_id {big},                        -- the API key that it was requested with; null: none, as in the console
    user_id {big},                       -- who requested it in the console; null: an API key
    primary key (id{and_slot})
) {partitioned_by_id};
-- Deadlines to watch. Empty unless messages wait: most requests are with a carrier within a second.
create index requests_expiring on requests (expires_at) where expires_at is not null;
create index requests_by_profile on requests (profile_id, scheduled_at) where profile_id is not null;
-- An account's sends, newest first: one row each, however many receivers they have.
create index requests_by_account on requests (account_id, id);

create table images (
    request_id {bytes} not null,
    content_type text not null,
    file_name text not null,
    body {bytes} not null,
    slot {small} not null,
    primary key (request_id{and_slot})
) {partitioned_by_request};

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
    content text,                        -- null: the request's content
    reference text,                      -- the caller's own id
    cost integer,                        -- in hundredths of a won, noted when it ends; null: no price is known
    submitted_at {big},                  -- when it was given to a carrier last; null: it never was
    carrier text,                        -- the one that decided how it ended; null: none did
    carrier_code text,                   -- that carrier's own code of the result
    primary key (id{and_slot})
) {partitioned_by_id};
create index messages_by_receiver on messages (account_id, receiver, id);

-- The queue. A job in lane 0 or 1 is due at ready_at. While it is claimed, claimed_at is set and ready_at is the end
-- of the lease. In lane 2 the carrier has accepted the message, and ready_at is when we stop waiting for the receipt.
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
-- Statements that name ids and a slot must use the primary key, so no index begins with the slot.
create index jobs_ready on jobs (carrier, lane, slot, ready_at);

create table attempts (                  -- attempts that were not accepted
    message_id {bytes} not null,
    number integer not null,
    slot {small} not null,
    carrier text not null,
    verdict text not null,
    code text,                           -- the carrier's own code
    ended_at {big} not null,
    primary key (message_id, number{and_slot})
) {partitioned_by_message};

-- Matches a carrier's answers and its receipts, which arrive in either order. A row is deleted when its message ends;
-- a row without a message is a receipt that matches no answer yet.
create table receipts (
    carrier text not null,
    reference text not null,
    message_id {bytes},
    outcome {small},
    code text,                           -- the carrier's own code of the result
    arrived_at {big},
    parts {small} not null default 1,    -- in how many parts the message was sent, each with a receipt of its own
    primary key (carrier, reference)
) {clustered};
create index receipts_unmatched on receipts (arrived_at) where message_id is null;
create index receipts_by_parts on receipts (message_id) where parts > 1;

create table receipt_turns (             -- messages in parts of which some are reported: whoever counts them takes turns
    message_id {bytes} primary key
) {clustered};

create table postponed_receipts (        -- receipts whose message is on a node that cannot be reached
    id {serial},
    carrier text not null,
    slot {small} not null,               -- of the message
    reference text not null,
    outcome {small} not null,
    in_doubt_reference text,
    code text,
    arrived_at {big} not null
);

-- The outbox. What has happened is written here in the transaction that causes it, in one row for all that ended
-- together; the holder of the slot numbers it in a later transaction, and only then it is read.
create table new_events (
    slot {small} not null,
    recorded_at {big} not null,
    id {bytes} not null,                 -- of the first of them
    events {bytes} not null,             -- id, account, type and product of each, packed
    primary key (slot, recorded_at, id)
) {queue};

create table events (                    -- numbered events
    account_id {big} not null,
    slot {small} not null,
    number {big} not null,               -- grows within a slot, and contains the time
    type {small} not null,
    product {small} not null,            -- 0: not about a message
    id {bytes} not null,                 -- of the message, or of a row of event_data
    primary key (account_id, slot, number)
) {clustered};

create table event_numbers (             -- which numbers each slot has given
    slot {small} primary key,
    last {big} not null,
    deleted {big} not null               -- events up to this number have been deleted
) {clustered};

create table event_days (                -- the last number of each day with events, until they are deleted
    slot {small} not null,
    number {big} not null,
    primary key (slot, number)
) {clustered};

create table event_data (                -- what events other than the ends of messages say
    id {bytes} not null,
    slot {small} not null,
    account_id {big} not null,
    type {small} not null,
    phone {big},                         -- the number that it is about; null: none, or erased
    created_at {big} not null,
    data text not null,                  -- as JSON
    primary key (id{and_slot})
) {clustered};
create index event_data_by_age on event_data (created_at);
create index event_data_by_phone on event_data (account_id, phone) where phone is not null;

create table webhooks (                  -- addresses that events of an account are posted to
    id {serial},
    account_id {big} not null references accounts (id),
    url text not null,
    events text not null,                -- types of events, separated by spaces
    products text not null,              -- words of products, separated by spaces; empty: all
    description text not null,
    secret {bytes} not null,             -- what signs posts, encrypted if there is a key for it
    previous_secret {bytes},             -- signs along after a rotation; null: none
    previous_until {big},
    state text not null,                 -- active, paused or disabled
    created_at {big} not null,
    changed_at {big} not null,
    last_success_at {big},
    failures integer not null,           -- since the last success
    failing_since {big},                 -- the first of them; null: none
    trial_at {big},                      -- when a paused one gets its next trial post
    dropped {big} not null               -- events that were given up
);
create index webhooks_by_account on webhooks (account_id, id);
create index webhooks_paused on webhooks (account_id, id) where state = 'paused';

create table webhook_positions (         -- how far the events of an account were turned into posts
    webhook_id {big} primary key,
    positions {bytes} not null,
    erasures {big} not null              -- how often something was erased: what was read before must not be stored
) {clustered};

create table webhook_posts (             -- posts that were not delivered yet, with all that they contain
    id {bytes} primary key,
    webhook_id {big} not null,
    event_ids {bytes} not null,          -- 16 bytes each
    body {bytes} not null,               -- compressed
    created_at {big} not null,
    tries integer not null,
    due_at {big} not null                -- when it is tried next
) {clustered};
create index webhook_posts_due on webhook_posts (webhook_id, due_at);

create table webhook_deliveries (        -- recent tries to deliver posts
    webhook_id {big} not null,
    tried_at {big} not null,
    post_id {bytes} not null,
    event_ids {bytes} not null,
    try integer not null,
    status integer,                      -- of HTTP; null: there was no answer
    answer text not null,                -- how it begins
    error text not null,                 -- why there was no answer; empty: there was one
    duration_ms integer not null,
    primary key (webhook_id, tried_at, post_id)
) {clustered};

create table idempotency_keys (
    slot {small} not null,
    account_id {big} not null,
    key text not null,
    digest {bytes} not null,             -- of the request's body
    request_id {bytes} not null,         -- the answer
    created_at {big} not null,
    primary key (slot, account_id, key)
) {clustered};
create index idempotency_keys_by_age on idempotency_keys (created_at);

create table pending_erasures (          -- requests and messages to erase once none of their messages is in the queue
    id {bytes} primary key               -- of a request, or of one message
) {clustered};

create table recent_texts (              -- what was sent to whom recently, where duplicates are guarded against
    digest {bytes} primary key,          -- of account, number and text; neither is stored
    created_at {big} not null,
    expires_at {big} not null
) {clustered};
create index recent_texts_by_expiry on recent_texts (expires_at);

create table workers (                   -- processes that deliver
    id {bytes} primary key,              -- new whenever the worker registers
    name text not null,                  -- host and process id, for people
    heartbeat {big} not null,            -- a counter that grows while the worker runs
    joined_at {big} not null,
    rates text,                          -- what it uses, wants and lends of carriers' rates, as JSON
    beat_at {big},                       -- the last heartbeat by the database's clock, for people
    clock_at {big} not null              -- the worker's clock at its last heartbeat, or when it joined
) {clustered};

create table slots (                     -- the queue is divided into slots, each assigned to one worker at a time
    slot {small} primary key,
    worker_id {bytes},                   -- null: free; an id that is not in `workers`: its worker has died
    is_orphaned {small} not null default 0 -- 1: its last worker has died, and its leases are not released yet
) {clustered};

create table carrier_states (            -- the last known state of each carrier, as each worker sees it
    name text not null,
    worker text not null,                -- empty: the only process
    state text not null,                 -- up, down or aside
    since {big} not null,
    reason text not null,                -- why, without secrets; empty while it is up
    last_error text,
    last_error_at {big},
    messages_per_minute {big},           -- null: never measured
    measured_at {big},
    quotas text,                         -- quotas that are used up, and by how many holders, as JSON; null: none
    primary key (name, worker)
) {clustered};

create table carrier_latencies (         -- how long carriers took to answer, by minute, for a day
    carrier text not null,
    minute {big} not null,               -- its first instant
    worker text not null,                -- empty: the only process
    counts text not null,                -- answers of each class of duration, as a JSON array
    primary key (minute, carrier, worker)
) {clustered};

create table carriers (                  -- every carrier that was ever configured; one may be gone while messages wait for it
    name text primary key,
    kind text not null                   -- the word of the settings
) {clustered};

create table profiles (                  -- Kakao sender profiles
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
    is_swept {small} not null,           -- 0: deleted, and its waiting messages are not cancelled yet
    carrier text,                        -- the carrier whose relay manages it; null: managed here
    suspension text                      -- why the relay has suspended it; null: it has not
);
create unique index profiles_by_account on profiles (account_id, channel_id) where deleted_at is null;
create index profiles_to_sweep on profiles (id) where is_swept = 0;
create index profiles_by_carrier on profiles (carrier, channel_id) where carrier is not null;

create table profile_mappings (          -- what profiles and templates are called at relays other than their own
    profile_id {big} not null references profiles (id),
    carrier text not null,
    template_code text not null,         -- ours; empty: the profile itself
    remote text not null,                -- the sender key or template code there; empty: there is none
    is_manual {small} not null,          -- 0: found by the synchronization
    problem text,                        -- why it cannot be used; null: it can
    changed_at {big} not null,
    primary key (profile_id, carrier, template_code)
) {clustered};
create index profile_mappings_by_key on profile_mappings (carrier, remote) where template_code = '';

create table tokens (                    -- tokens sent to prove that an account owns a profile
    id {serial},
    account_id {big} not null,
    profile_id {big} not null references profiles (id),
    channel_id text not null,
    cellphone text not null,
    hash {bytes} not null,
    failed_attempts integer not null,
    sent_at {big} not null,
    expires_at {big} not null
);
create index tokens_by_account on tokens (account_id, sent_at);
create index tokens_by_profile on tokens (profile_id, id);
create index tokens_by_age on tokens (sent_at);

create table templates (                 -- Alimtalk templates
    id {serial},
    account_id {big} not null references accounts (id),
    profile_id {big} not null references profiles (id),
    code text not null,
    name text not null,
    design text not null,                -- the newest design, as JSON; `status` refers to it
    in_use text,                         -- the design approved last, as JSON
    status text not null,
    comment text,
    is_enabled {small} not null,
    created_at {big} not null,
    changed_at {big} not null,
    suspension text,                     -- why the relay has suspended it; null: it has not
    unique (profile_id, code)
);
create index templates_by_account on templates (account_id, id);
create index templates_under_review on templates (id) where status = 'inspecting';

create table template_images (
    template_id {big} primary key references templates (id) on delete cascade,
    content_type text not null,
    file_name text not null,
    body {bytes} not null
);

create table campaigns (                 -- files of receivers, validated, and turned into requests step by step
    id {bytes} primary key,              -- like a request's id, so that both sort by time together
    account_id {big} not null,
    user_id {big} not null,
    kind text not null,                  -- the word of its product
    name text not null,
    file_name text not null,             -- the name of the uploaded file; empty: none yet
    body text not null,                  -- what all receivers share, as a request body of the interface, in JSON
    sending text,                        -- the same, validated: the receivers were validated against it
    state text not null,
    skips_duplicates {small} not null,   -- 1: a repeated number in the file is skipped
    receivers integer not null,          -- how many are valid
    invalid_rows integer not null,
    duplicates integer not null,         -- how many numbers were repeated
    requested integer not null,          -- how many receivers are in requests already
    columns text not null,               -- names of the file's columns, as a JSON array
    unused_columns text not null,        -- columns of the file that nothing uses, as a JSON array
    scheduled_at {big},                  -- null: at once
    expedited {small} not null,          -- 1: what waits is to be sent now
    reason text not null,                -- why it was halted or its file refused, as a JSON array; empty: neither
    created_at {big} not null,
    changed_at {big} not null,
    submitter_id {big},                  -- the user who has submitted it for approval; null: none was needed
    upgraded integer not null            -- how many valid receivers get an LMS, for an SMS would be too long
) {clustered};
create index campaigns_by_account on campaigns (account_id, id);
create index campaigns_by_state on campaigns (state, changed_at);
create index campaigns_expedited on campaigns (id) where expedited = 1;
create index campaigns_unsent on campaigns (account_id, id) 
    where state in ('draft', 'reading', 'checked', 'to_approve');

create table campaign_blocks (           -- valid receivers that are in no request yet, one request's worth each
    campaign_id {bytes} not null,
    number integer not null,
    receivers integer not null,
    body text not null,                  -- a JSON array of number, values, reference
    is_upgraded {small} not null,        -- 1: they get an LMS, for an SMS would be too long
    primary key (campaign_id, number)
);

create table campaign_invalid_rows (     -- rows of the file that cannot be sent to
    campaign_id {bytes} not null,
    number integer not null,             -- the row's number in the file
    cells text not null,                 -- as in the file, a JSON array
    reason text not null,                -- why, a JSON array of sentences, alternately Korean and English
    primary key (campaign_id, number)
);

create table campaign_requests (         -- the requests of a campaign and their progress
    campaign_id {bytes} not null,
    number integer not null,
    request_id {bytes} not null unique,
    receivers integer not null,
    scheduled_at {big} not null,
    count_at {big} not null,             -- when to count its messages next
    is_ended {small} not null,           -- 1: these counts are final
    waiting integer not null,
    sending integer not null,
    completed integer not null,
    fail integer not null,
    cancel integer not null,
    fallbacks integer not null,          -- text messages sent in place of failed ones
    fallbacks_completed integer not null, -- how many of those were delivered
    cost {big},                          -- of all, in hundredths of a won; null: no price is known
    failures text not null,              -- by outcome how many failed, and how many fallbacks, as JSON; empty: none
    primary key (campaign_id, number)
);
create index campaign_requests_unfinished on campaign_requests (count_at) where is_ended = 0;

-- Housekeeping counts the messages requested in each quarter of an hour, again and again until all have ended. Old
-- quarters are merged into the first one of their month.
create table statistics (
    quarter {big} not null,              -- its first instant
    account_id {big} not null,
    product {small} not null,
    status {small} not null,
    outcome {small} not null,            -- 0: none
    template_code text not null,         -- empty: none; *: others, as in `sender`
    sender text not null,                -- number or channel that the receiver sees
    key_id {big} not null,               -- 0: none; -1: others
    carrier text not null,               -- the one that decided how they ended; empty: none
    user_id {big} not null,              -- 0: none; -1: others
    messages {big} not null,
    fallbacks {big} not null,            -- how many of them are fallbacks
    reached {big} not null,              -- how many of the others were delivered, or their fallback was
    cost {big},                          -- in hundredths of a won; null: no price is known
    primary key (account_id, quarter, product, status, outcome, template_code, sender, key_id, carrier, user_id)
) {clustered};
create index statistics_by_age on statistics (quarter);

create table statistics_quarters (
    quarter {big} primary key,
    queue_digest text not null,          -- the state of its jobs when it was counted; empty: all had ended, it is final
    counted_at {big} not null,
    duration_ms {big} not null
) {clustered};

create table cursors (                   -- how far housekeeping has come, by task
    name text primary key,
    value {bytes} not null
) {clustered};

create table simulated_messages (        -- what the simulator's phones have received
    id {serial},
    carrier text not null,               -- there may be several simulators
    message_id {bytes},                  -- null: a token
    account_id {big} not null,
    phone {big} not null,
    accepted_at {big} not null,
    arrives_at {big},                    -- null: never
    kind text not null,
    sender text not null,
    subject text,
    content text not null,
    buttons text,
    has_image {small} not null,
    brand text,                          -- what a brand message has besides, as JSON
    parts text,                          -- what an Alimtalk has beside its text, as JSON; null: nothing
    unique (message_id, carrier)
);
create index simulated_messages_by_phone on simulated_messages (account_id, phone, id);

create table simulated_busy (            -- how often a simulator has answered a message with busy
    message_id {bytes} not null,
    carrier text not null,
    times integer not null,
    primary key (message_id, carrier)
) {clustered};

create table simulated_receipts (        -- receipts that a simulator has still to send
    carrier text not null,
    slot {small} not null,
    due_at {big} not null,
    message_id {bytes} not null,
    outcome {small} not null,
    primary key (carrier, slot, due_at, message_id, outcome)
) {clustered};
