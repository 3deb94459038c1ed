"""The texts of all pages."""

from pabal.console.contacts import address_book, contacts_texts
from pabal.console.history import history_texts
from pabal.console.manage import numbers, privacy, profiles, send_preferences, templates_texts, webhooks_texts
from pabal.console.me import me, notices
from pabal.console.operate.accounts import accounts_texts, quotas
from pabal.console.operate.carriers import mappings, status
from pabal.console.operate.system import audit, mail, settings
from pabal.console.operate.waiting import paused_webhooks, pending_numbers, reviews
from pabal.console.overview import overview, statistics
from pabal.console.phone import phone
from pabal.console.requests import requests_texts
from pabal.console.send import send_texts
from pabal.console.shell import shell_texts
from pabal.console.shell.rendering import TextCatalog
from pabal.console.sign_in import sign_in
from pabal.console.team import team
from pabal.console.upload import upload

TEXTS = TextCatalog(
    shell_texts.TEXTS,
    sign_in.TEXTS,
    overview.TEXTS,
    statistics.TEXTS,
    send_texts.TEXTS,
    upload.TEXTS,
    requests_texts.TEXTS,
    phone.TEXTS,
    history_texts.TEXTS,
    templates_texts.TEXTS,
    profiles.TEXTS,
    numbers.TEXTS,
    privacy.TEXTS,
    send_preferences.TEXTS,
    contacts_texts.TEXTS,
    address_book.TEXTS,
    webhooks_texts.TEXTS,
    status.TEXTS,
    accounts_texts.TEXTS,
    quotas.TEXTS,
    pending_numbers.TEXTS,
    paused_webhooks.TEXTS,
    reviews.TEXTS,
    mappings.TEXTS,
    settings.TEXTS,
    audit.TEXTS,
    team.TEXTS,
    me.TEXTS,
    notices.TEXTS,
    mail.TEXTS,
)
