-- Tables, or partitions, of which personal data was erased and that are to be vacuumed, so that their files lose it too.
-- Only on PostgreSQL: SQLite overwrites what it deletes.
create table erased_tables (
    name text primary key,
    erased_at {big} not null             -- when the last of it was
) {clustered};
