"""The texts of all pages."""

from pabal.console.contacts import address_book_texts, contacts_texts
from pabal.console.history import history_texts
from pabal.console.manage import (
    numbers_texts,
    privacy_texts,
    profiles_texts,
    send_preferences_texts,
    templates_texts,
    webhooks_texts,
)
from pabal.console.me import me_texts, notices_texts
from pabal.console.operate.accounts import accounts_texts, quotas_texts
from pabal.console.operate.carriers import mappings_texts, status_texts
from pabal.console.operate.system import audit_texts, mail_texts, settings_texts
from pabal.console.operate.waiting import paused_webhooks_texts, pending_numbers_texts, reviews_texts
from pabal.console.overview import overview_texts, statistics_texts
from pabal.console.phone import phone_texts
from pabal.console.requests import requests_texts
from pabal.console.send import send_texts
from pabal.console.shell import shell_texts
from pabal.console.shell.texts import TextCatalog
from pabal.console.sign_in import sign_in_texts
from pabal.console.team import team_texts
from pabal.console.upload import upload_texts

TEXTS = TextCatalog(
    shell_texts.TEXTS,
    sign_in_texts.TEXTS,
    overview_texts.TEXTS,
    statistics_texts.TEXTS,
    send_texts.TEXTS,
    upload_texts.TEXTS,
    requests_texts.TEXTS,
    phone_texts.TEXTS,
    history_texts.TEXTS,
    templates_texts.TEXTS,
    profiles_texts.TEXTS,
    numbers_texts.TEXTS,
    privacy_texts.TEXTS,
    send_preferences_texts.TEXTS,
    contacts_texts.TEXTS,
    address_book_texts.TEXTS,
    webhooks_texts.TEXTS,
    status_texts.TEXTS,
    accounts_texts.TEXTS,
    quotas_texts.TEXTS,
    pending_numbers_texts.TEXTS,
    paused_webhooks_texts.TEXTS,
    reviews_texts.TEXTS,
    mappings_texts.TEXTS,
    settings_texts.TEXTS,
    audit_texts.TEXTS,
    team_texts.TEXTS,
    me_texts.TEXTS,
    notices_texts.TEXTS,
    mail_texts.TEXTS,
)
