"""Every page of the console, once: where it is, who may, who answers; routes, menu and tests walk it."""

from pabal.console import audit, export, history, phone, sign_in, templates
from pabal.console.visit import EVERYONE, OPERATORS, OWNERS, SENDERS, Page

PICTURE_BYTES = 8 * 1024 * 1024
"""A form with a picture as phones take it: far too large, but that is told beside its field."""

PAGES = (
    Page("/console", history.go_to_history, EVERYONE),
    Page("/console/login", sign_in.show_sign_in, None),
    Page("/console/login", sign_in.do_sign_in, None, "POST", max_body_bytes=16 * 1024),
    Page("/console/logout", sign_in.do_sign_out, EVERYONE, "POST", is_about_account=False),
    Page("/console/language", sign_in.choose_language, None, "POST"),
    Page("/console/accounts", sign_in.show_accounts, OPERATORS, is_about_account=False),
    Page("/console/accounts", sign_in.choose_account, OPERATORS, "POST", is_about_account=False),
    Page("/console/history", history.show_history, EVERYONE, menu="menu.history"),
    Page("/console/history.csv", export.export, EVERYONE),
    Page("/console/history.xlsx", export.export_workbook, EVERYONE),
    Page("/console/history/{message}", history.show_message, EVERYONE),
    Page("/console/templates", templates.list_templates, EVERYONE, menu="menu.templates"),
    Page("/console/templates/new", templates.show_new, SENDERS),
    Page("/console/templates/new", templates.create, SENDERS, "POST", max_body_bytes=PICTURE_BYTES),
    Page("/console/templates/preview", templates.preview, SENDERS, "POST"),
    Page("/console/templates/{template}", templates.show_template, EVERYONE),
    Page("/console/templates/{template}/edit", templates.show_edit, SENDERS),
    Page("/console/templates/{template}/picture", templates.show_picture, EVERYONE),
    Page("/console/templates/{template}/edit", templates.edit, SENDERS, "POST", max_body_bytes=PICTURE_BYTES),
    Page("/console/templates/{template}/request", templates.ask_for_review, SENDERS, "POST"),
    Page("/console/templates/{template}/delete", templates.delete, SENDERS, "POST"),
    Page("/console/templates/{template}/review", templates.review, OPERATORS, "POST"),
    Page("/console/phone", phone.show_phone, SENDERS, menu="menu.phone", is_for_simulator=True),
    Page("/console/phone/messages", phone.show_messages, SENDERS, is_for_simulator=True, is_passive=True),
    Page("/console/audit", audit.show_audit, OWNERS, menu="menu.audit", is_about_account=False),
)
