"""Every page of the console, once: where it is, who may, who answers; routes, menu and tests walk it."""

from pabal.console import export, history, phone, requests, send, sign_in, templates, upload
from pabal.console.visit import EVERYONE, OPERATORS, SENDERS, Page

MESSAGE_BYTES = 1024 * 1024
"""A message with its picture and its receivers as they are typed; percent signs make three bytes of one."""

PAGES = (
    Page("/console", history.go_to_history, EVERYONE),
    Page("/console/login", sign_in.show_sign_in, None),
    Page("/console/login", sign_in.do_sign_in, None, "POST", max_body_bytes=16 * 1024),
    Page("/console/logout", sign_in.do_sign_out, EVERYONE, "POST", is_about_account=False),
    Page("/console/language", sign_in.choose_language, None, "POST"),
    Page("/console/accounts", sign_in.show_accounts, OPERATORS, is_about_account=False),
    Page("/console/accounts", sign_in.choose_account, OPERATORS, "POST", is_about_account=False),
    Page("/console/send", send.show_form, SENDERS, menu="menu.send"),
    Page("/console/send", send.send, SENDERS, "POST", max_body_bytes=MESSAGE_BYTES),
    Page("/console/send/form", send.change_form, SENDERS, "POST", max_body_bytes=MESSAGE_BYTES),
    Page("/console/send/look", send.look, SENDERS, "POST", max_body_bytes=MESSAGE_BYTES),
    Page("/console/send/check", send.check, SENDERS, "POST", max_body_bytes=MESSAGE_BYTES),
    Page("/console/send/test", send.send_test, SENDERS, "POST", max_body_bytes=MESSAGE_BYTES),
    Page("/console/send/done/{request}", send.show_sent, SENDERS),
    Page("/console/send/upload", upload.begin, SENDERS, "POST", max_body_bytes=MESSAGE_BYTES),
    Page("/console/send/upload/{campaign}", upload.show, SENDERS),
    Page("/console/send/upload/{campaign}/progress", upload.show_progress, SENDERS, is_passive=True),
    Page("/console/send/upload/{campaign}/template.csv", upload.give_template, SENDERS),
    Page("/console/send/upload/{campaign}/bad.csv", upload.give_faults, SENDERS),
    Page("/console/send/upload/{campaign}/file", upload.take_file, SENDERS, "POST", takes_file=True),
    Page("/console/send/upload/{campaign}/send", upload.send, SENDERS, "POST"),
    Page("/console/requests", requests.show_list, EVERYONE, menu="menu.requests"),
    Page("/console/requests/progress", requests.show_progress, EVERYONE, is_passive=True),
    Page("/console/requests/{request}", requests.show_one, EVERYONE),
    Page("/console/requests/{request}/cancel", requests.cancel, SENDERS, "POST"),
    Page("/console/requests/{request}/now", requests.hurry, SENDERS, "POST"),
    Page("/console/requests/{request}/go-on", requests.go_on, SENDERS, "POST"),
    Page("/console/history", history.show_history, EVERYONE, menu="menu.history"),
    Page("/console/history.csv", export.export, EVERYONE),
    Page("/console/history/{message}", history.show_message, EVERYONE),
    Page("/console/templates", templates.list_templates, EVERYONE, menu="menu.templates"),
    Page("/console/templates/new", templates.show_new, SENDERS),
    Page("/console/templates/new", templates.create, SENDERS, "POST"),
    Page("/console/templates/preview", templates.preview, SENDERS, "POST"),
    Page("/console/templates/{template}", templates.show_template, EVERYONE),
    Page("/console/templates/{template}/edit", templates.show_edit, SENDERS),
    Page("/console/templates/{template}/edit", templates.edit, SENDERS, "POST"),
    Page("/console/templates/{template}/request", templates.ask_for_review, SENDERS, "POST"),
    Page("/console/templates/{template}/delete", templates.delete, SENDERS, "POST"),
    Page("/console/templates/{template}/review", templates.review, OPERATORS, "POST"),
    Page("/console/phone", phone.show_phone, SENDERS, menu="menu.phone", is_for_simulator=True),
    Page("/console/phone/messages", phone.show_messages, SENDERS, is_for_simulator=True, is_passive=True),
)
