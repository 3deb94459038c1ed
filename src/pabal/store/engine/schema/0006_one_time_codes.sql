-- Whether the messages of a request are one-time codes; null: by a version that knew none.
alter table requests add column is_code {small};
