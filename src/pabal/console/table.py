"""Every page of the console, once: where it is, who may, who answers; routes, menu and tests walk it."""

from pabal.console import (
    export,
    history,
    numbers,
    operate,
    operate_accounts,
    operate_keys,
    overview,
    phone,
    profiles,
    sign_in,
    templates,
)
from pabal.console.visit import EVERYONE, OPERATORS, OWNERS, SENDERS, Page

ACCOUNT = "/console/operate/accounts/{account}"
OPERATING = tuple(
    Page(path, handle, OPERATORS, method, menu, is_about_account=False, is_passive=path == operate.STATE)
    for path, handle, method, menu in (
        ("/console/operate", operate.show_state, "GET", "menu.operate"),
        (operate.STATE, operate.refresh_state, "GET", ""),
        ("/console/operate/settings", operate.show_settings, "GET", ""),
        ("/console/operate/deeds", operate.show_deeds, "GET", ""),
        ("/console/operate/accounts", operate_accounts.list_accounts, "GET", ""),
        ("/console/operate/accounts", operate_accounts.create_account, "POST", ""),
        (ACCOUNT, operate_accounts.show_account, "GET", ""),
        (f"{ACCOUNT}/state", operate_accounts.set_account, "POST", ""),
        (f"{ACCOUNT}/keys", operate_keys.create_key, "POST", ""),
        (f"{ACCOUNT}/keys/revoke", operate_keys.revoke_key, "POST", ""),
        (f"{ACCOUNT}/users", operate_accounts.create_user, "POST", ""),
        (f"{ACCOUNT}/users/state", operate_accounts.set_user, "POST", ""),
        (f"{ACCOUNT}/users/password", operate_accounts.change_password, "POST", ""),
    )
)

PAGES = (
    Page("/console", overview.show_overview, EVERYONE, menu="menu.overview"),
    Page("/console/login", sign_in.show_sign_in, None),
    Page("/console/login", sign_in.do_sign_in, None, "POST", max_body_bytes=16 * 1024),
    Page("/console/logout", sign_in.do_sign_out, EVERYONE, "POST", is_about_account=False),
    Page("/console/language", sign_in.choose_language, None, "POST"),
    Page("/console/accounts", sign_in.show_accounts, OPERATORS, is_about_account=False),
    Page("/console/accounts", sign_in.choose_account, OPERATORS, "POST", is_about_account=False),
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
    Page("/console/profiles", profiles.list_profiles, EVERYONE, menu="menu.profiles"),
    Page("/console/profiles/new", profiles.show_new, OWNERS),
    Page("/console/profiles/new", profiles.register, OWNERS, "POST"),
    Page("/console/profiles/categories", profiles.show_categories, OWNERS),
    Page("/console/profiles/token", profiles.show_token, OWNERS),
    Page("/console/profiles/token", profiles.enter_token, OWNERS, "POST"),
    Page("/console/profiles/resend", profiles.send_again, OWNERS, "POST"),
    Page("/console/profiles/delete", profiles.ask_delete, OWNERS),
    Page("/console/profiles/delete", profiles.delete, OWNERS, "POST"),
    Page("/console/numbers", numbers.list_numbers, OWNERS, menu="menu.numbers"),
    Page("/console/numbers", numbers.register, OWNERS, "POST"),
    Page("/console/numbers/remove", numbers.ask_remove, OWNERS),
    Page("/console/numbers/remove", numbers.remove, OWNERS, "POST"),
    *OPERATING,
    Page("/console/phone", phone.show_phone, SENDERS, menu="menu.phone", is_for_simulator=True),
    Page("/console/phone/messages", phone.show_messages, SENDERS, is_for_simulator=True, is_passive=True),
)
