-- Equal images of an account are stored once for each slot and month, in a row of their own (see store/messages/images.py).
-- In the row of a request's image: the row that has its bytes; null: it has them itself.
-- In a row of bytes: null, or empty once no further request may use it.
alter table images add column shared_id {bytes};
create index if not exists images_by_shared on images (shared_id, request_id) where shared_id is not null;

-- The newest migration that a worker's version knows; null: an earlier one than this.
alter table workers add column migration integer;
