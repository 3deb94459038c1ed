"""The table of pages with path, handler and roles, from which routes, menu and tests are made."""

from pabal.console.campaigns import approval, campaign_file, entry, funnel, group_campaign, requests, sent, upload
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
from pabal.console.shell import shell_texts
from pabal.console.shell.page import OPERATORS, OWNERS, SENDERS, SIGNED_IN, Page
from pabal.console.shell.page_request import OPENID_CALLBACK
from pabal.console.shell.rendering import TextCatalog
from pabal.console.users import join, me, notices, provider, sign_in, team
from pabal.console.users import keys as own_keys

ACCOUNT = "/console/operate/accounts/{account}"
OPERATING = tuple(
    Page(
        path,
        handle,
        OPERATORS,
        method,
        menu,
        needs_account=False,
        is_polled=path in (status.STATUS_PATH, waiting.TABS_PATH),
    )
    for path, handle, method, menu in (
        ("/console/operate", status.show_status, "GET", "menu.operate"),
        (status.STATUS_PATH, status.refresh_status, "GET", ""),
        (waiting.TABS_PATH, waiting.show_tabs, "GET", ""),
        ("/console/operate/move", status.move_messages, "POST", ""),
        (waiting.REVIEWS_PATH, waiting.list_reviews, "GET", ""),
        (f"{waiting.REVIEWS_PATH}/{{template}}", waiting.show_review, "GET", ""),
        (f"{waiting.REVIEWS_PATH}/{{template}}", waiting.decide_review, "POST", ""),
        (f"{waiting.REVIEWS_PATH}/{{template}}/picture", waiting.show_review_image, "GET", ""),
        (waiting.STOPPED_PATH, waiting.list_stopped, "GET", ""),
        (f"{waiting.STOPPED_PATH}/resume", waiting.resume_webhook, "POST", ""),
        (waiting.PENDING_PATH, waiting.list_pending, "GET", ""),
        (f"{waiting.PENDING_PATH}/approve", waiting.approve_number, "POST", ""),
        (f"{waiting.PENDING_PATH}/reject", waiting.reject_number, "POST", ""),
        (mappings.MAPPINGS_PATH, mappings.show_mappings, "GET", ""),
        (mappings.MAPPINGS_PATH, mappings.add_mapping, "POST", ""),
        (f"{mappings.MAPPINGS_PATH}/remove", mappings.remove_mapping, "POST", ""),
        (inbound.UNASSIGNED_PATH, inbound.list_unassigned, "GET", ""),
        (system.QUOTAS_PATH, system.show_quotas, "GET", ""),
        (system.MAIL_PATH, system.show_mail, "GET", ""),
        (f"{system.MAIL_PATH}/test", system.send_test, "POST", ""),
        ("/console/operate/settings", system.show_settings, "GET", ""),
        ("/console/operate/accounts", accounts.list_accounts, "GET", ""),
        ("/console/operate/accounts", accounts.create_account, "POST", ""),
        (ACCOUNT, accounts.show_account, "GET", ""),
        (f"{ACCOUNT}/state", accounts.set_account_state, "POST", ""),
        (f"{ACCOUNT}/keys", keys.create_key, "POST", ""),
        (f"{ACCOUNT}/keys/replace", keys.replace_key, "POST", ""),
        (f"{ACCOUNT}/keys/revoke", keys.revoke_key, "POST", ""),
        (f"{ACCOUNT}/keys/rate", keys.set_key_rate, "POST", ""),
        (f"{ACCOUNT}/limits", accounts.set_limits, "POST", ""),
        (f"{ACCOUNT}/codes", accounts.set_codes, "POST", ""),
        (f"{ACCOUNT}/users", accounts.create_user, "POST", ""),
        (f"{ACCOUNT}/users/state", accounts.set_user_state, "POST", ""),
        (f"{ACCOUNT}/users/password", accounts.reset_password, "POST", ""),
    )
)

WEBHOOK = f"{webhooks.WEBHOOKS_PATH}/{{webhook}}"
MESSAGE_BYTES = 3 * 1024 * 1024
"""A message with its images and its typed receivers; URL encoding makes three bytes of one."""
MAX_UPLOAD_BYTES = campaign_file.MAX_FORM_BYTES
PICTURE_BYTES = 8 * 1024 * 1024
"""A form with a photo from a phone: that is too large to send, but the error is shown at its field."""

CONTACT = f"{address_book.CONTACTS_PATH}/person/{{contact}}"
GROUP = f"{address_book.CONTACTS_PATH}/groups/{{group}}"
CONTACTS = (
    Page(address_book.CONTACTS_PATH, address_book.list_contacts, SENDERS, menu="menu.contacts"),
    Page(address_book.CONTACTS_PATH, address_book.add_contact, SENDERS, "POST"),
    Page(f"{address_book.CONTACTS_PATH}.csv", contact_import.export_contacts, SENDERS),
    Page(f"{address_book.CONTACTS_PATH}/selected", address_book.change_selected, SENDERS, "POST"),
    Page(
        f"{address_book.CONTACTS_PATH}/restore",
        address_book.restore_contacts,
        SENDERS,
        "POST",
        max_body_bytes=MESSAGE_BYTES,
    ),
    Page(f"{address_book.CONTACTS_PATH}/groups", groups.show_groups, SENDERS),
    Page(f"{address_book.CONTACTS_PATH}/groups", groups.create_group, SENDERS, "POST"),
    Page(f"{address_book.CONTACTS_PATH}/groups/fields", groups.set_fields, SENDERS, "POST"),
    Page(GROUP, groups.rename_group, SENDERS, "POST"),
    Page(f"{GROUP}/delete", groups.delete_group, SENDERS, "POST"),
    Page(contact_import.IMPORT_PATH, contact_import.show_import, SENDERS),
    *(
        Page(
            path, handle, SENDERS, "POST", is_repeatable=is_repeatable, max_body_bytes=contact_import.MAX_FORM_BYTES
        )
        for path, handle, is_repeatable in (
            (contact_import.IMPORT_PATH, contact_import.import_contacts, False),
            (f"{contact_import.IMPORT_PATH}/columns", contact_import.show_columns, True),
        )
    ),
    Page(CONTACT, address_book.show_contact, SENDERS),
    Page(CONTACT, address_book.update_contact, SENDERS, "POST"),
    Page(f"{CONTACT}/delete", address_book.delete_contact, SENDERS, "POST"),
)

PAGES = (
    Page("/console", overview.show_overview, SIGNED_IN, menu="menu.overview"),
    Page("/console/statistics.csv", statistics_report.export_statistics, SIGNED_IN),
    Page(statistics.STATISTICS_PATH, statistics.show_statistics, SIGNED_IN, menu="menu.statistics"),
    Page(f"{statistics.STATISTICS_PATH}/table.csv", statistics_report.export_csv, SIGNED_IN),
    Page(f"{statistics.STATISTICS_PATH}/table.xlsx", statistics_report.export_xlsx, SIGNED_IN),
    Page("/console/login", sign_in.show_sign_in, None, needs_account=False),
    Page("/console/login/again", sign_in.ask_again, None, needs_account=False),
    *(
        Page(path, handle, None, "POST", needs_account=False, is_repeatable=is_repeatable, max_body_bytes=16 * 1024)
        for path, handle, is_repeatable in (
            ("/console/login", sign_in.do_sign_in, True),
            ("/console/login/again", sign_in.sign_in_again, True),
            ("/console/login/code", sign_in.do_sign_in_with_code, False),
            ("/console/login/again/code", sign_in.sign_in_again_with_code, True),
            ("/console/login/openid", provider.begin_sign_in, True),
            (team.INVITE_PATH, join.join, False),
            (f"{team.INVITE_PATH}/openid", join.begin_join, True),
        )
    ),
    Page(OPENID_CALLBACK, provider.finish_provider_sign_in, None, needs_account=False),
    Page(me.ME_PATH, me.show_me, SIGNED_IN, needs_account=False),
    *(
        Page(
            f"{me.ME_PATH}/{word}",
            handle,
            SIGNED_IN,
            "POST",
            needs_account=False,
            is_repeatable=word in ("two-factor", "openid"),
        )
        for word, handle in (
            ("name", me.change_full_name),
            ("password", me.change_password),
            ("sessions/end", me.end_session),
            ("sessions/others", me.end_other_sessions),
            ("two-factor", me.begin_two_factor),
            ("two-factor/confirm", me.confirm_two_factor),
            ("two-factor/codes", me.renew_codes),
            ("two-factor/disable", me.disable_two_factor),
            ("openid", me.begin_link),
            ("openid/unlink", me.unlink),
        )
    ),
    Page(notices.NOTICES_PATH, notices.show_notices, SIGNED_IN, needs_account=False),
    Page(notices.CONFIRM_PATH, notices.show_confirmation, SIGNED_IN, needs_account=False),
    *(
        Page(path, handle, SIGNED_IN, "POST", needs_account=False)
        for path, handle in (
            (notices.NOTICES_PATH, notices.choose_notices),
            (f"{notices.NOTICES_PATH}/address", notices.set_address),
            (f"{notices.NOTICES_PATH}/remove", notices.remove_address),
            (notices.CONFIRM_PATH, notices.confirm_address),
        )
    ),
    *(
        Page(path, handle, roles, "POST", needs_account=False, is_repeatable=True)
        for path, handle, roles in (
            ("/console/logout", sign_in.do_sign_out, SIGNED_IN),
            ("/console/language", sign_in.choose_language, None),
            ("/console/accounts", sign_in.choose_account, OPERATORS),
        )
    ),
    Page("/console/accounts", sign_in.show_accounts, OPERATORS, needs_account=False),
    Page("/console/send", send.show_form, SENDERS, menu="menu.send"),
    *(
        Page(path, handle, SENDERS, "POST", is_repeatable=True, max_body_bytes=MESSAGE_BYTES)
        for path, handle in (
            ("/console/send", send.send),
            ("/console/send/form", send.change_form),
            ("/console/send/discard", send.discard_draft),
            ("/console/send/test", send.send_test),
        )
    ),
    Page("/console/send/look", send.update_preview, SENDERS, "POST", is_preview=True, max_body_bytes=MESSAGE_BYTES),
    Page("/console/send/save", saved.save_text, SENDERS, "POST", max_body_bytes=MESSAGE_BYTES),
    Page("/console/send/done/{request}", sent.show_sent, SENDERS),
    Page("/console/send/done/{request}/bad.csv", sent.download_rest, SENDERS),
    Page("/console/send/check", group_campaign.go_on, SENDERS, "POST", max_body_bytes=MESSAGE_BYTES),
    Page("/console/send/upload", upload.create_campaign, SENDERS, "POST", max_body_bytes=MESSAGE_BYTES),
    Page("/console/send/upload/{campaign}", upload.show_campaign, SENDERS),
    Page("/console/send/upload/{campaign}/progress", upload.show_progress, SENDERS, is_polled=True),
    Page("/console/send/upload/{campaign}/template.csv", campaign_file.download_template, SENDERS),
    Page("/console/send/upload/{campaign}/bad.csv", campaign_file.download_invalid_rows, SENDERS),
    *(
        Page(
            f"/console/send/upload/{{campaign}}/{word}",
            handle,
            SENDERS,
            "POST",
            is_repeatable=True,
            max_body_bytes=MAX_UPLOAD_BYTES,
        )
        for word, handle in (("file", campaign_file.receive_file), ("columns", campaign_file.show_columns))
    ),
    Page("/console/send/upload/{campaign}/send", upload.send_campaign, SENDERS, "POST"),
    *(
        Page(f"/console/send/upload/{{campaign}}/{word}", handle, SENDERS, "POST")
        for word, handle in (
            ("approve", approval.approve_campaign),
            ("refuse", approval.refuse_campaign),
            ("withdraw", approval.withdraw_campaign),
        )
    ),
    Page(saved.TEXTS_PATH, saved.show_texts, SENDERS, menu="menu.texts"),
    Page(f"{saved.TEXTS_PATH}/{{text}}/delete", saved.delete_text, SENDERS, "POST"),
    Page(f"{saved.TEXTS_PATH}/restore", saved.restore_text, SENDERS, "POST", max_body_bytes=MESSAGE_BYTES),
    Page("/console/requests", requests.list_requests, SIGNED_IN, menu="menu.requests"),
    Page("/console/requests/progress", requests.show_progress, SIGNED_IN, is_polled=True),
    Page(requests.UNSENT_PATH, requests.list_unsent, SENDERS),
    Page(requests.APPROVALS_PATH, requests.list_approvals, SENDERS, menu="menu.approvals"),
    Page("/console/requests/{request}", requests.show_request, SIGNED_IN),
    Page("/console/requests/{request}/cancel", requests.cancel_request_or_campaign, SENDERS, "POST"),
    Page("/console/requests/{request}/now", requests.send_request_now, SENDERS, "POST"),
    Page("/console/requests/{request}/go-on", requests.resume_campaign, SENDERS, "POST"),
    Page("/console/requests/{request}/name", requests.rename_campaign, SENDERS, "POST"),
    Page("/console/history", history.show_history, SIGNED_IN, menu="menu.history"),
    Page("/console/history.csv", export.export_csv, SIGNED_IN),
    Page("/console/history.xlsx", export.export_xlsx, SIGNED_IN),
    Page("/console/history/{message}", history.show_message, SIGNED_IN),
    Page(codes.CODES_PATH, codes.show_codes, SIGNED_IN, menu="menu.codes", needs_account=False),
    Page("/console/templates", templates.list_templates, SIGNED_IN, menu="menu.templates"),
    Page("/console/templates/new", templates.show_new_form, SENDERS),
    Page("/console/templates/new", templates.create_template, SENDERS, "POST", max_body_bytes=PICTURE_BYTES),
    Page(
        "/console/templates/discard",
        templates.discard_draft,
        SENDERS,
        "POST",
        is_repeatable=True,
        max_body_bytes=PICTURE_BYTES,
    ),
    Page("/console/templates/preview", templates.show_preview, SENDERS, "POST", is_preview=True),
    Page("/console/templates/{template}", templates.show_template, SIGNED_IN),
    Page("/console/templates/{template}/edit", templates.show_edit_form, SENDERS),
    Page("/console/templates/{template}/picture", templates.show_image, SIGNED_IN),
    Page(
        "/console/templates/{template}/edit",
        templates.update_template,
        SENDERS,
        "POST",
        max_body_bytes=PICTURE_BYTES,
    ),
    Page("/console/templates/{template}/request", templates.request_review, SENDERS, "POST"),
    Page("/console/templates/{template}/delete", templates.delete_template, SENDERS, "POST"),
    Page("/console/templates/{template}/review", templates.decide_review, OPERATORS, "POST"),
    Page("/console/profiles", profiles.list_profiles, SIGNED_IN, menu="menu.profiles"),
    Page("/console/profiles/new", profiles.show_registration, OWNERS),
    Page("/console/profiles/new", profiles.register_profile, OWNERS, "POST"),
    Page("/console/profiles/categories", profiles.show_categories, OWNERS),
    Page("/console/profiles/token", profiles.show_token_form, OWNERS),
    Page("/console/profiles/token", profiles.verify_token, OWNERS, "POST"),
    Page("/console/profiles/resend", profiles.resend_token, OWNERS, "POST"),
    Page("/console/profiles/delete", profiles.confirm_deletion, OWNERS),
    Page("/console/profiles/delete", profiles.delete_profile, OWNERS, "POST"),
    Page("/console/numbers", numbers.list_numbers, OWNERS, menu="menu.numbers"),
    Page("/console/numbers", numbers.register_number, OWNERS, "POST"),
    Page("/console/numbers/opt-out", numbers.set_opt_out_number, OWNERS, "POST"),
    Page("/console/numbers/remove", numbers.confirm_removal, OWNERS),
    Page("/console/numbers/remove", numbers.remove_number, OWNERS, "POST"),
    Page(send_preferences.PREFERENCES_PATH, send_preferences.show_preferences, OWNERS, menu="menu.preferences"),
    Page(send_preferences.PREFERENCES_PATH, send_preferences.change_preferences, OWNERS, "POST"),
    *CONTACTS,
    Page(opt_outs.OPT_OUTS_PATH, opt_outs.list_opt_outs, SENDERS, menu="menu.opt_outs"),
    Page(opt_outs.OPT_OUTS_PATH, opt_outs.add_opt_out, SENDERS, "POST"),
    Page(f"{opt_outs.OPT_OUTS_PATH}.csv", opt_outs.export_opt_outs, SENDERS),
    Page(opt_outs.REMOVE_PATH, opt_outs.remove_opt_out, OWNERS, "POST"),
    Page(
        f"{opt_outs.OPT_OUTS_PATH}/import",
        opt_outs.import_opt_outs,
        SENDERS,
        "POST",
        max_body_bytes=opt_outs.MAX_FORM_BYTES,
    ),
    Page(inbound.INBOUND_PATH, inbound.list_inbound, SIGNED_IN, menu="menu.inbound"),
    Page(f"{inbound.INBOUND_PATH}.csv", inbound.export_inbound, SIGNED_IN),
    Page(privacy.PRIVACY_PATH, privacy.show_form, OWNERS, menu="menu.privacy"),
    Page(privacy.PRIVACY_PATH, privacy.look_up_number, OWNERS, "POST", is_repeatable=True),
    Page(f"{privacy.PRIVACY_PATH}/export", privacy.export_number, OWNERS, "POST", is_repeatable=True),
    Page(f"{privacy.PRIVACY_PATH}/erase", privacy.erase_number, OWNERS, "POST"),
    Page(webhooks.WEBHOOKS_PATH, webhooks.list_webhooks, OWNERS, menu="menu.webhooks"),
    Page(webhooks.WEBHOOKS_PATH, webhooks.create_webhook, OWNERS, "POST"),
    Page(WEBHOOK, webhooks.show_webhook, OWNERS),
    Page(f"{WEBHOOK}/edit", webhooks.show_edit_form, OWNERS),
    *(
        Page(f"{WEBHOOK}/{word}", handle, OWNERS, "POST")
        for word, handle in (
            ("edit", webhooks.update_webhook),
            ("state", webhooks.set_state),
            ("rotate", webhooks.rotate_secret),
            ("test", webhooks.send_test),
            ("replay", webhooks.replay_events),
            ("delete", webhooks.delete_webhook),
        )
    ),
    Page(team.TEAM_PATH, team.show_team, OWNERS, menu="menu.team"),
    *(
        Page(f"{team.TEAM_PATH}/{word}", handle, OWNERS, "POST")
        for word, handle in (
            ("invite", team.create_invite),
            ("withdraw", team.withdraw_invite),
            ("role", team.change_role),
            ("remove", team.remove_user),
            ("two-factor", team.reset_two_factor),
            ("unlock", team.unlock_user),
            ("openid", team.unlink_user),
            ("password", team.reset_password),
        )
    ),
    Page(own_keys.KEYS_PATH, own_keys.show_keys, OWNERS, menu="menu.keys"),
    *(
        Page(path, handle, OWNERS, "POST")
        for path, handle in (
            (own_keys.KEYS_PATH, own_keys.create_key),
            (f"{own_keys.KEYS_PATH}/replace", own_keys.replace_key),
            (f"{own_keys.KEYS_PATH}/rate", own_keys.set_key_rate),
            (f"{own_keys.KEYS_PATH}/revoke", own_keys.revoke_key),
        )
    ),
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
