-- Where the test sends of a user go.

alter table users add column own_number text;
