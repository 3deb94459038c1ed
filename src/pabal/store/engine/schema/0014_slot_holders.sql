-- On Citus, who may claim from a slot is said on the node of the slot, too.

alter table slots add column assignment {big} not null default 0;   -- how often it was assigned to a worker

create table slot_holders (              -- on Citus, beside the jobs of a slot: only this worker may claim from it
    slot {small} primary key,
    worker_id {bytes} not null,
    assignment {big} not null            -- which one of the slot; an earlier one does not replace a later one
) {clustered};
