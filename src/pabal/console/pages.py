"""The table of pages with path, handler and roles, from which routes, menu and tests are made."""

from dataclasses import replace
from typing import Any

from pabal.console.campaigns import campaign_file, entry, funnel, group_campaign, requests, sent, upload
from pabal.console.components import components
from pabal.console.contacts import address_book, contact_import, groups, inbound, opt_outs
from pabal.console.history import codes, export, history, history_texts, phone
from pabal.console.manage import (
    numbers,
    privacy,
    profiles,
    send_preferences,
    templates,
    templates_texts,
    webhooks,
    webhooks_texts,
)
from pabal.console.operate import accounts, audit, keys, mappings, status, system, waiting
from pabal.console.overview import overview, statistics, statistics_report
from pabal.console.send import saved, send, send_texts
from pabal.console.sheets.sheet_limits import MAX_FORM_BYTES
from pabal.console.shell import shell_texts
from pabal.console.shell.page import OPERATORS, OWNERS, SENDERS, SIGNED_IN, Form, Handler, Page
from pabal.console.shell.page_request import OPENID_CALLBACK
from pabal.console.shell.rendering import TextCatalog
from pabal.console.shell.site import Roles
from pabal.console.users import join, me, notices, provider, sign_in, team
from pabal.console.users import keys as own_keys


def post(path: str, handle: Handler, roles: Roles, form: Form | None = None, **more: Any) -> Page:
    """Return an action; `form` shows its page again where it refuses."""
    return Page(path, handle, roles, "POST", form=form, **more)


ACCOUNT = "/console/operate/accounts/{account}"
REVIEW = f"{waiting.REVIEWS_PATH}/{{template}}"
OPERATING = tuple(
    replace(page, needs_account=False)
    for page in (
        Page("/console/operate", status.show_status, OPERATORS, menu="menu.operate"),
        Page(status.STATUS_PATH, status.refresh_status, OPERATORS, needs_account=False, is_polled=True),
        Page(waiting.TABS_PATH, waiting.show_tabs, OPERATORS, needs_account=False, is_polled=True),
        Page(waiting.REVIEWS_PATH, waiting.list_reviews, OPERATORS),
        Page(REVIEW, waiting.show_review, OPERATORS),
        Page(f"{REVIEW}/picture", waiting.show_review_image, OPERATORS),
        Page(waiting.STOPPED_PATH, waiting.list_stopped, OPERATORS),
        Page(waiting.PENDING_PATH, waiting.list_pending, OPERATORS),
        Page(mappings.MAPPINGS_PATH, mappings.show_mappings, OPERATORS),
        Page(inbound.UNASSIGNED_PATH, inbound.list_unassigned, OPERATORS),
        Page(system.QUOTAS_PATH, system.show_quotas, OPERATORS),
        Page(system.MAIL_PATH, system.show_mail, OPERATORS),
        Page("/console/operate/settings", system.show_settings, OPERATORS),
        Page(accounts.ACCOUNTS_PATH, accounts.list_accounts, OPERATORS),
        Page(ACCOUNT, accounts.show_account, OPERATORS),
        post("/console/operate/move", status.move_messages, OPERATORS, status.show_status),
        post(REVIEW, waiting.decide_review, OPERATORS, waiting.show_review),
        post(f"{waiting.STOPPED_PATH}/resume", waiting.resume_webhook, OPERATORS),
        post(
            f"{waiting.PENDING_PATH}/approve",
            waiting.approve_number,
            OPERATORS,
            waiting.list_pending,
        ),
        post(
            f"{waiting.PENDING_PATH}/reject",
            waiting.reject_number,
            OPERATORS,
            waiting.list_pending,
        ),
        post(mappings.MAPPINGS_PATH, mappings.add_mapping, OPERATORS),
        post(f"{mappings.MAPPINGS_PATH}/remove", mappings.remove_mapping, OPERATORS),
        post(f"{system.MAIL_PATH}/test", system.send_test, OPERATORS, system.show_mail),
        post(accounts.ACCOUNTS_PATH, accounts.create_account, OPERATORS, accounts.list_accounts),
        post(f"{ACCOUNT}/state", accounts.set_account_state, OPERATORS),
        post(f"{ACCOUNT}/keys", keys.create_key, OPERATORS, accounts.show_account),
        post(f"{ACCOUNT}/keys/replace", keys.replace_key, OPERATORS, accounts.show_account),
        post(f"{ACCOUNT}/keys/revoke", keys.revoke_key, OPERATORS),
        post(f"{ACCOUNT}/keys/rate", keys.set_key_rate, OPERATORS),
        post(f"{ACCOUNT}/limits", accounts.set_limits, OPERATORS, accounts.show_account),
        post(f"{ACCOUNT}/codes", accounts.set_codes, OPERATORS, accounts.show_account),
        post(f"{ACCOUNT}/users", accounts.create_user, OPERATORS, accounts.show_account),
        post(f"{ACCOUNT}/users/state", accounts.set_user_state, OPERATORS),
        post(f"{ACCOUNT}/users/password", accounts.reset_password, OPERATORS),
    )
)

WEBHOOK = f"{webhooks.WEBHOOKS_PATH}/{{webhook}}"
MESSAGE_BYTES = 3 * 1024 * 1024
"""A message with its images and its typed receivers; URL encoding makes three bytes of one."""
PICTURE_BYTES = 8 * 1024 * 1024
"""A form with a photo from a phone: that is too large to send, but the error is shown at its field."""

CONTACT = f"{address_book.CONTACTS_PATH}/person/{{contact}}"
CONTACTS = (
    Page(address_book.CONTACTS_PATH, address_book.list_contacts, SENDERS, menu="menu.contacts"),
    Page(f"{address_book.CONTACTS_PATH}.csv", contact_import.export_contacts, SENDERS),
    post(address_book.CONTACTS_PATH, address_book.add_contact, SENDERS, address_book.list_contacts),
    post(
        f"{address_book.CONTACTS_PATH}/selected", address_book.change_selected, SENDERS, address_book.list_contacts
    ),
    post(
        f"{address_book.CONTACTS_PATH}/restore",
        address_book.restore_contacts,
        SENDERS,
        address_book.list_contacts,
        max_body_bytes=MESSAGE_BYTES,
    ),
    Page(f"{address_book.CONTACTS_PATH}/groups", groups.show_groups, SENDERS),
    post(f"{address_book.CONTACTS_PATH}/groups", groups.create_group, SENDERS, groups.show_groups),
    post(f"{address_book.CONTACTS_PATH}/groups/fields", groups.set_fields, SENDERS, groups.show_groups),
    post(f"{address_book.CONTACTS_PATH}/groups/{{group}}", groups.rename_group, SENDERS, groups.show_groups),
    post(f"{address_book.CONTACTS_PATH}/groups/{{group}}/delete", groups.delete_group, SENDERS, groups.show_groups),
    Page(contact_import.IMPORT_PATH, contact_import.show_import, SENDERS),
    post(
        contact_import.IMPORT_PATH,
        contact_import.import_contacts,
        SENDERS,
        max_body_bytes=MAX_FORM_BYTES,
    ),
    post(
        f"{contact_import.IMPORT_PATH}/columns",
        contact_import.show_columns,
        SENDERS,
        is_repeatable=True,
        max_body_bytes=MAX_FORM_BYTES,
    ),
    Page(CONTACT, address_book.show_contact, SENDERS),
    post(CONTACT, address_book.update_contact, SENDERS, address_book.show_contact),
    post(f"{CONTACT}/delete", address_book.delete_contact, SENDERS),
)

PAGES = (
    Page("/console", overview.show_overview, SIGNED_IN, menu="menu.overview"),
    Page("/console/statistics.csv", statistics_report.export_statistics, SIGNED_IN),
    Page(statistics.STATISTICS_PATH, statistics.show_statistics, SIGNED_IN, menu="menu.statistics"),
    Page(f"{statistics.STATISTICS_PATH}/table.csv", statistics_report.export_table, SIGNED_IN),
    Page(f"{statistics.STATISTICS_PATH}/table.xlsx", statistics_report.export_table, SIGNED_IN),
    Page("/console/login", sign_in.show_sign_in, None, needs_account=False),
    Page(sign_in.AGAIN, sign_in.ask_again, None, needs_account=False),
    *(
        post(path, handle, None, needs_account=False, is_repeatable=is_repeatable, max_body_bytes=16 * 1024)
        for path, handle, is_repeatable in (
            ("/console/login", sign_in.do_sign_in, True),
            (sign_in.AGAIN, sign_in.do_sign_in, True),
            ("/console/login/code", sign_in.do_sign_in_with_code, False),
            (f"{sign_in.AGAIN}/code", sign_in.do_sign_in_with_code, True),
            ("/console/login/openid", provider.begin_sign_in, True),
            (team.INVITE_PATH, join.join, False),
            (f"{team.INVITE_PATH}/openid", join.begin_join, True),
        )
    ),
    Page(OPENID_CALLBACK, provider.finish_provider_sign_in, None, needs_account=False),
    Page(me.ME_PATH, me.show_me, SIGNED_IN, needs_account=False),
    post(f"{me.ME_PATH}/name", me.change_full_name, SIGNED_IN, me.show_me, needs_account=False),
    post(f"{me.ME_PATH}/password", me.change_password, SIGNED_IN, me.show_me, needs_account=False),
    post(f"{me.ME_PATH}/sessions/end", me.end_session, SIGNED_IN, me.show_me, needs_account=False),
    post(f"{me.ME_PATH}/sessions/others", me.end_other_sessions, SIGNED_IN, me.show_me, needs_account=False),
    post(f"{me.ME_PATH}/two-factor/codes", me.renew_codes, SIGNED_IN, me.show_me, needs_account=False),
    post(f"{me.ME_PATH}/two-factor/disable", me.disable_two_factor, SIGNED_IN, me.show_me, needs_account=False),
    post(f"{me.ME_PATH}/openid/unlink", me.unlink, SIGNED_IN, me.show_me, needs_account=False),
    post(
        f"{me.ME_PATH}/two-factor",
        me.begin_two_factor,
        SIGNED_IN,
        me.show_me,
        needs_account=False,
        is_repeatable=True,
    ),
    post(f"{me.ME_PATH}/openid", me.begin_link, SIGNED_IN, me.show_me, needs_account=False, is_repeatable=True),
    post(f"{me.ME_PATH}/two-factor/confirm", me.confirm_two_factor, SIGNED_IN, needs_account=False),
    Page(notices.NOTICES_PATH, notices.show_notices, SIGNED_IN, needs_account=False),
    Page(notices.CONFIRM_PATH, notices.show_confirmation, SIGNED_IN, needs_account=False),
    post(notices.NOTICES_PATH, notices.choose_notices, SIGNED_IN, notices.show_notices, needs_account=False),
    post(
        f"{notices.NOTICES_PATH}/address", notices.set_address, SIGNED_IN, notices.show_notices, needs_account=False
    ),
    post(
        f"{notices.NOTICES_PATH}/remove",
        notices.remove_address,
        SIGNED_IN,
        notices.show_notices,
        needs_account=False,
    ),
    post(notices.CONFIRM_PATH, notices.confirm_address, SIGNED_IN, needs_account=False),
    post("/console/logout", sign_in.do_sign_out, SIGNED_IN, needs_account=False, is_repeatable=True),
    post("/console/language", sign_in.choose_language, None, needs_account=False, is_repeatable=True),
    post("/console/accounts", sign_in.choose_account, OPERATORS, needs_account=False, is_repeatable=True),
    Page("/console/accounts", sign_in.show_accounts, OPERATORS, needs_account=False),
    Page("/console/send", send.show_form, SENDERS, menu="menu.send"),
    post("/console/send", send.send, SENDERS, is_repeatable=True, max_body_bytes=MESSAGE_BYTES),
    post("/console/send/form", send.change_form, SENDERS, is_repeatable=True, max_body_bytes=MESSAGE_BYTES),
    post("/console/send/discard", send.discard_draft, SENDERS, is_repeatable=True, max_body_bytes=MESSAGE_BYTES),
    post("/console/send/test", send.send_test, SENDERS, is_repeatable=True, max_body_bytes=MESSAGE_BYTES),
    post("/console/send/look", send.update_preview, SENDERS, is_preview=True, max_body_bytes=MESSAGE_BYTES),
    post("/console/send/save", saved.save_text, SENDERS, send.show_refused, max_body_bytes=MESSAGE_BYTES),
    Page("/console/send/done/{request}", sent.show_sent, SENDERS),
    Page("/console/send/done/{request}/bad.csv", sent.download_rest, SENDERS),
    post("/console/send/check", group_campaign.go_on, SENDERS, max_body_bytes=MESSAGE_BYTES),
    post("/console/send/upload", upload.create_campaign, SENDERS, max_body_bytes=MESSAGE_BYTES),
    Page("/console/send/upload/{campaign}", upload.show_campaign, SENDERS),
    Page("/console/send/upload/{campaign}/progress", upload.show_progress, SENDERS, is_polled=True),
    Page("/console/send/upload/{campaign}/template.csv", campaign_file.download_template, SENDERS),
    Page("/console/send/upload/{campaign}/bad.csv", campaign_file.download_invalid_rows, SENDERS),
    post(
        "/console/send/upload/{campaign}/file",
        campaign_file.receive_file,
        SENDERS,
        is_repeatable=True,
        max_body_bytes=MAX_FORM_BYTES,
    ),
    post(
        "/console/send/upload/{campaign}/columns",
        campaign_file.show_columns,
        SENDERS,
        is_repeatable=True,
        max_body_bytes=MAX_FORM_BYTES,
    ),
    post("/console/send/upload/{campaign}/send", upload.send_campaign, SENDERS),
    post("/console/send/upload/{campaign}/approve", upload.approve_campaign, SENDERS),
    post("/console/send/upload/{campaign}/refuse", upload.refuse_campaign, SENDERS, upload.show_refused),
    post("/console/send/upload/{campaign}/withdraw", upload.withdraw_campaign, SENDERS, upload.show_refused),
    Page(saved.TEXTS_PATH, saved.show_texts, SENDERS, menu="menu.texts"),
    post(f"{saved.TEXTS_PATH}/{{text}}/delete", saved.delete_text, SENDERS),
    post(
        f"{saved.TEXTS_PATH}/restore", saved.restore_text, SENDERS, send.show_refused, max_body_bytes=MESSAGE_BYTES
    ),
    Page("/console/requests", requests.list_requests, SIGNED_IN, menu="menu.requests"),
    Page("/console/requests/progress", requests.show_progress, SIGNED_IN, is_polled=True),
    Page(requests.UNSENT_PATH, requests.list_unsent, SENDERS),
    Page(requests.APPROVALS_PATH, requests.list_approvals, SENDERS, menu="menu.approvals"),
    Page("/console/requests/{request}", requests.show_request, SIGNED_IN),
    post("/console/requests/{request}/cancel", requests.cancel_request_or_campaign, SENDERS),
    post("/console/requests/{request}/now", requests.send_request_now, SENDERS, requests.show_refused),
    post("/console/requests/{request}/go-on", requests.resume_campaign, SENDERS),
    post("/console/requests/{request}/name", requests.rename_campaign, SENDERS, requests.show_refused),
    Page("/console/history", history.show_history, SIGNED_IN, menu="menu.history"),
    Page("/console/history.csv", export.export_messages, SIGNED_IN),
    Page("/console/history.xlsx", export.export_messages, SIGNED_IN),
    Page("/console/history/{message}", history.show_message, SIGNED_IN),
    Page(codes.CODES_PATH, codes.show_codes, SIGNED_IN, menu="menu.codes", needs_account=False),
    Page("/console/templates", templates.list_templates, SIGNED_IN, menu="menu.templates"),
    Page("/console/templates/new", templates.show_new_form, SENDERS),
    post("/console/templates/new", templates.create_template, SENDERS, max_body_bytes=PICTURE_BYTES),
    post(
        "/console/templates/discard",
        templates.discard_draft,
        SENDERS,
        is_repeatable=True,
        max_body_bytes=PICTURE_BYTES,
    ),
    post("/console/templates/preview", templates.show_preview, SENDERS, is_preview=True),
    Page("/console/templates/{template}", templates.show_template, SIGNED_IN),
    Page("/console/templates/{template}/edit", templates.show_edit_form, SENDERS),
    Page("/console/templates/{template}/picture", templates.show_image, SIGNED_IN),
    post("/console/templates/{template}/edit", templates.update_template, SENDERS, max_body_bytes=PICTURE_BYTES),
    post("/console/templates/{template}/request", templates.request_review, SENDERS),
    post("/console/templates/{template}/delete", templates.delete_template, SENDERS, templates.show_template),
    post("/console/templates/{template}/review", templates.decide_review, OPERATORS, templates.show_template),
    Page("/console/profiles", profiles.list_profiles, SIGNED_IN, menu="menu.profiles"),
    Page("/console/profiles/new", profiles.show_registration, OWNERS),
    post("/console/profiles/new", profiles.register_profile, OWNERS, profiles.show_registration),
    Page("/console/profiles/categories", profiles.show_categories, OWNERS),
    Page("/console/profiles/token", profiles.show_token_form, OWNERS),
    post("/console/profiles/token", profiles.verify_token, OWNERS),
    post("/console/profiles/resend", profiles.resend_token, OWNERS),
    Page("/console/profiles/delete", profiles.confirm_deletion, OWNERS),
    post("/console/profiles/delete", profiles.delete_profile, OWNERS, profiles.confirm_deletion),
    Page("/console/numbers", numbers.list_numbers, OWNERS, menu="menu.numbers"),
    post(numbers.NUMBERS_PATH, numbers.register_number, OWNERS, numbers.list_numbers),
    post(f"{numbers.NUMBERS_PATH}/opt-out", numbers.set_opt_out_number, OWNERS, numbers.list_numbers),
    Page("/console/numbers/remove", numbers.confirm_removal, OWNERS),
    post("/console/numbers/remove", numbers.remove_number, OWNERS),
    Page(send_preferences.PREFERENCES_PATH, send_preferences.show_preferences, OWNERS, menu="menu.preferences"),
    post(
        send_preferences.PREFERENCES_PATH,
        send_preferences.change_preferences,
        OWNERS,
        send_preferences.show_preferences,
    ),
    *CONTACTS,
    Page(opt_outs.OPT_OUTS_PATH, opt_outs.list_opt_outs, SENDERS, menu="menu.opt_outs"),
    post(opt_outs.OPT_OUTS_PATH, opt_outs.add_opt_out, SENDERS, opt_outs.list_opt_outs),
    Page(f"{opt_outs.OPT_OUTS_PATH}.csv", opt_outs.export_opt_outs, SENDERS),
    post(opt_outs.REMOVE_PATH, opt_outs.remove_opt_out, OWNERS),
    post(
        f"{opt_outs.OPT_OUTS_PATH}/import",
        opt_outs.import_opt_outs,
        SENDERS,
        max_body_bytes=MAX_FORM_BYTES,
    ),
    Page(inbound.INBOUND_PATH, inbound.list_inbound, SIGNED_IN, menu="menu.inbound"),
    Page(f"{inbound.INBOUND_PATH}.csv", inbound.export_inbound, SIGNED_IN),
    Page(privacy.PRIVACY_PATH, privacy.show_form, OWNERS, menu="menu.privacy"),
    post(privacy.PRIVACY_PATH, privacy.look_up_number, OWNERS, is_repeatable=True),
    post(f"{privacy.PRIVACY_PATH}/export", privacy.export_number, OWNERS, privacy.show_form, is_repeatable=True),
    post(f"{privacy.PRIVACY_PATH}/erase", privacy.erase_number, OWNERS, privacy.show_form),
    Page(webhooks.WEBHOOKS_PATH, webhooks.list_webhooks, OWNERS, menu="menu.webhooks"),
    post(webhooks.WEBHOOKS_PATH, webhooks.create_webhook, OWNERS, webhooks.list_webhooks),
    Page(WEBHOOK, webhooks.show_webhook, OWNERS),
    Page(f"{WEBHOOK}/edit", webhooks.show_edit_form, OWNERS),
    post(f"{WEBHOOK}/edit", webhooks.update_webhook, OWNERS, webhooks.show_edit_form),
    post(f"{WEBHOOK}/state", webhooks.set_state, OWNERS),
    post(f"{WEBHOOK}/rotate", webhooks.rotate_secret, OWNERS),
    post(f"{WEBHOOK}/test", webhooks.send_test, OWNERS),
    post(f"{WEBHOOK}/replay", webhooks.replay_events, OWNERS),
    post(f"{WEBHOOK}/delete", webhooks.delete_webhook, OWNERS),
    Page(team.TEAM_PATH, team.show_team, OWNERS, menu="menu.team"),
    post(f"{team.TEAM_PATH}/invite", team.create_invite, OWNERS, team.show_team),
    post(f"{team.TEAM_PATH}/withdraw", team.withdraw_invite, OWNERS, team.show_team),
    post(f"{team.TEAM_PATH}/role", team.change_role, OWNERS, team.show_team),
    post(f"{team.TEAM_PATH}/remove", team.remove_user, OWNERS, team.show_team),
    post(f"{team.TEAM_PATH}/two-factor", team.reset_two_factor, OWNERS, team.show_team),
    post(f"{team.TEAM_PATH}/unlock", team.unlock_user, OWNERS, team.show_team),
    post(f"{team.TEAM_PATH}/openid", team.unlink_user, OWNERS, team.show_team),
    post(f"{team.TEAM_PATH}/password", team.reset_password, OWNERS, team.show_team),
    Page(keys.KEYS_PATH, own_keys.show_keys, OWNERS, menu="menu.keys"),
    post(keys.KEYS_PATH, keys.create_key, OWNERS, own_keys.show_keys),
    post(f"{keys.KEYS_PATH}/replace", keys.replace_key, OWNERS, own_keys.show_keys),
    post(f"{keys.KEYS_PATH}/rate", keys.set_key_rate, OWNERS, own_keys.show_keys),
    post(f"{keys.KEYS_PATH}/revoke", keys.revoke_key, OWNERS, own_keys.show_keys),
    Page(team.INVITE_PATH, join.show_join, None, needs_account=False),
    *OPERATING,
    Page("/console/phone", phone.show_phone, SENDERS, menu="menu.phone", is_for_simulator=True),
    Page(
        components.COMPONENTS_PATH,
        components.show_components,
        SIGNED_IN,
        needs_account=False,
        is_for_simulator=True,
    ),
    Page("/console/phone/messages", phone.show_messages, SENDERS, is_for_simulator=True, is_polled=True),
    Page("/console/audit", audit.show_audit, OWNERS, menu="menu.audit", needs_account=False),
)


TEXTS = TextCatalog(
    shell_texts.TEXTS,
    history_texts.TEXTS,
    sign_in.TEXTS,
    overview.TEXTS,
    statistics.TEXTS,
    send_texts.TEXTS,
    upload.TEXTS,
    entry.TEXTS,
    funnel.TEXTS,
    phone.TEXTS,
    templates_texts.TEXTS,
    profiles.TEXTS,
    numbers.TEXTS,
    privacy.TEXTS,
    send_preferences.TEXTS,
    address_book.TEXTS,
    contact_import.TEXTS,
    groups.TEXTS,
    inbound.TEXTS,
    opt_outs.TEXTS,
    webhooks_texts.TEXTS,
    status.TEXTS,
    accounts.TEXTS,
    system.TEXTS,
    waiting.TEXTS,
    mappings.TEXTS,
    audit.TEXTS,
    team.TEXTS,
    me.TEXTS,
    notices.TEXTS,
    components.TEXTS,
)
