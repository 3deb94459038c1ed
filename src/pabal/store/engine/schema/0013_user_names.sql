-- What colleagues call a user; null: by the name that the user signs in with.

alter table users add column full_name text;
