-- People who sign in to the console, their sessions, and what they did there.

create table users (
    id {serial},
    account_id {big} references accounts (id),  -- none: an operator, who looks after all of them
    name text not null unique,
    role text not null,
    hash text not null,                  -- argon2id of the password, with its parameters
    created_at {big} not null,
    disabled_at {big}
);

create table sessions (
    hash {bytes} primary key,            -- SHA-256 of the token that the browser holds
    user_id {big} not null references users (id),
    account_id {big},                    -- whose things an operator is looking at
    csrf text not null,                  -- what every form of this session carries
    created_at {big} not null,
    used_at {big} not null,
    expires_at {big} not null
) {clustered};
create index sessions_of_user on sessions (user_id);
create index sessions_by_end on sessions (expires_at);

create table sign_in_tries (             -- how often a sign-in has failed of late
    subject {bytes} primary key,         -- SHA-256 of a name, an address, or both: neither is kept
    failures integer not null,
    since {big} not null
) {clustered};
create index sign_in_tries_by_age on sign_in_tries (since);

create table deeds (                     -- who did what, when, to what; nothing of anyone's privacy
    id {serial},
    done_at {big} not null,
    user_id {big},                       -- none: on the command line
    who text not null,                   -- the name at that time
    account_id {big},                    -- whose thing it was done to, if anyone's
    what text not null,                  -- a word such as `user.create`
    target text not null                 -- an id, a code or a user's name
);
create index deeds_of_account on deeds (account_id, id);
create index deeds_by_age on deeds (done_at);

-- The sends of an account, newest first: a campaign is one row here, however many receivers it has.
create index if not exists requests_of_account on requests (account_id, id);
