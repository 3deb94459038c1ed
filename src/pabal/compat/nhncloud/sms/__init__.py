"""The endpoints of NHN Cloud's SMS: texts, their results, attachments, sender numbers."""
