-- Campaigns of the console: a file of receivers, checked, and made into requests little by little.

create table campaigns (
    id {bytes} primary key,              -- made like a request's, so that both sort by time together
    account_id {big} not null,
    user_id {big} not null,
    kind text not null,                  -- the word of its product
    name text not null,
    file_name text not null,             -- as the browser called it; empty while there is none
    body text not null,                  -- what all receivers share, as the interface would be sent it, in JSON
    sending text,                        -- the same, checked: what the receivers were checked against
    state text not null,
    once {small} not null,               -- 1: a number that comes again in the file is left out
    receivers integer not null,          -- how many are good
    bad integer not null,
    duplicates integer not null,         -- how many numbers came again
    made integer not null,               -- how many receivers are in requests already
    columns text not null,               -- names of the file's columns, as a JSON array
    unused text not null,                -- columns of the file that nothing asks for, as a JSON array
    scheduled_at {big},                  -- none: at once
    hurried {small} not null,            -- 1: what waits is to be sent now
    reason text not null,                -- why it was halted or its file refused, as a JSON array; empty: it was not
    created_at {big} not null,
    touched_at {big} not null            -- when it last came on
) {clustered};
create index campaigns_of_account on campaigns (account_id, id);
create index campaigns_by_state on campaigns (state, touched_at);
create index campaigns_hurried on campaigns (id) where hurried = 1;

create table campaign_blocks (           -- good receivers that are in no request yet, as many as one request has
    campaign_id {bytes} not null,
    number integer not null,
    receivers integer not null,
    body text not null,                  -- a JSON array of number, values, reference
    primary key (campaign_id, number)
);

create table campaign_faults (           -- rows of the file that cannot be sent to
    campaign_id {bytes} not null,
    number integer not null,             -- which row of the file it is
    cells text not null,                 -- as they stand there, a JSON array
    reason text not null,                -- why, a JSON array of sentences, Korean and English in turn
    primary key (campaign_id, number)
);

create table campaign_requests (         -- the requests that a campaign became, and how far each has come
    campaign_id {bytes} not null,
    number integer not null,
    request_id {bytes} not null unique,
    receivers integer not null,
    scheduled_at {big} not null,
    count_at {big} not null,             -- when to count it next
    is_ended {small} not null,           -- 1: these counts are the last
    waiting integer not null,
    sending integer not null,
    completed integer not null,
    fail integer not null,
    cancel integer not null,
    fallbacks integer not null,          -- texts that stand in for failed ones
    primary key (campaign_id, number)
);
create index campaign_requests_moving on campaign_requests (count_at) where is_ended = 0;
