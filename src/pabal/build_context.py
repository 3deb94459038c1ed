"""Builds the context of the service that the settings describe: policy, carriers, limits and secrets."""

from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from pabal.carriers.base import Carrier
from pabal.carriers.simulator import Simulator
from pabal.checks.body.locale import Locale
from pabal.domain.base.codes import LANGUAGES
from pabal.domain.content.image import ImageLimits, combine_limits
from pabal.domain.events.event import Event
from pabal.domain.events.webhook import WebhookFormat
from pabal.domain.kakao.profile import Category, InvalidCategoryTable, parse_categories
from pabal.domain.sends.account import SenderCodes
from pabal.domain.sends.message import Product
from pabal.domain.sends.route import Routes
from pabal.mail.mailer import Mailer, SmtpServer
from pabal.openid.provider import ClientRegistration, OpenIdProvider
from pabal.service.account_limiter import AccountLimiter
from pabal.service.context import Context
from pabal.service.fair_queue import FairQueue
from pabal.service.metrics import Metrics
from pabal.service.outgoing import EventItemBuilder, ForeignFormat, OutgoingMails, OutgoingWebhooks
from pabal.service.policy import Policy, build_policy
from pabal.service.setup_cache import AccountSetup, SetupChanges
from pabal.service.simulator_store import PersistentCursor, StoredSimulatorState
from pabal.service.slots import Slots
from pabal.settings.carriers import CarrierSettings, SimulatorSettings, SmppSettings
from pabal.settings.field import BadSetting
from pabal.settings.relays import NhnCloudSettings, SolapiSettings
from pabal.settings.settings import Settings
from pabal.store.accounts import accounts
from pabal.store.engine.base import Store, StoreUnavailable
from pabal.store.events.events import EventData
from pabal.store.messages import images
from pabal.store.messages.history import ReadMessages
from pabal.webhooks.permitted_addresses import AddressRules
from pabal.webhooks.poster import Poster
from pabal.webhooks.secrets import SecretBox
from pabal.world import World

if TYPE_CHECKING:
    from pabal.carriers.relay.carrier import Dependencies


def build_context(
    settings: Settings,
    store: Store,
    world: World,
    metrics: Metrics,
    carriers: Mapping[str, Carrier] | None = None,
    slots: Slots | None = None,
    poster: Poster | None = None,
    mailer: Mailer | None = None,
    openid: OpenIdProvider | None = None,
) -> Context:
    """Return the context that the settings describe; `carriers`, `poster`, `mailer` and `openid` replace theirs.

    Raises BadSetting if a file that the settings name cannot be read.
    """
    slots = slots or Slots()
    if carriers is None:
        carriers = {
            name: _build_carrier(each, store, world, metrics, slots) for name, each in settings.carriers.items()
        }
    metrics.show_receipts(carriers)
    as_brand = frozenset(name for name, each in carriers.items() if each.sends_friend_talk_as_brand)
    secrets = SecretBox(settings.read_secret_keys(), world)
    policy = build_policy(settings, secrets)
    policy = policy._replace(brand_carriers=as_brand, image_limits=_image_limits(policy.routes, carriers))
    rules = AddressRules(
        settings.allowed_endpoints,
        [(settings.host, settings.port), (settings.host, settings.work_port)],
        is_for_development=settings.is_for_development,
    )
    changes = SetupChanges(store, world)
    return Context(
        store,
        world,
        policy,
        carriers,
        metrics,
        _load_categories(settings.sender_categories, "sender-categories.csv"),
        _load_categories(settings.template_categories, "template-categories.csv"),
        AccountLimiter(changes, policy, metrics),
        AccountSetup(changes),
        FairQueue(world),
        secrets,
        OutgoingWebhooks(
            rules,
            lambda: poster or _build_poster(rules, settings, world),
            _build_items_later(Locale(LANGUAGES[0], settings.zone), policy),
            lambda webhook_format: _load_format(webhook_format, policy),
        ),
        OutgoingMails(_mailer_factory(settings, world, mailer)),
        openid or build_openid(settings, world),
        slots,
        max_searches_per_account=max(1, settings.search_connections - 1),
    )


def _image_limits(routes: Routes, carriers: Mapping[str, Carrier]) -> dict[Product, ImageLimits]:
    """Return which images all carriers of each product's route take."""
    return {
        product: combine_limits(
            carriers[name].image_limits(product) for name in routes.carriers_for(product) if name in carriers
        )
        for product in Product
    }


def _mailer_factory(settings: Settings, world: World, replacement: Mailer | None) -> Callable[[], Mailer] | None:
    """Return what makes the mailer of the settings, or returns the replacement; None: no mails are sent.

    Raises BadSetting if the file with the password cannot be read.
    """
    if not settings.has_mail:
        return None
    server = SmtpServer(
        settings.smtp_host,
        settings.smtp_port,
        settings.smtp_tls,
        settings.smtp_user,
        settings.read_smtp_password(),
        settings.smtp_sender,
        settings.smtp_timeout_seconds,
        settings.smtp_tls_ca,
    )

    def make() -> Mailer:
        from pabal.mail.smtp import SmtpMailer  # many send no mails, and its libraries take time to load

        return replacement or SmtpMailer(server, world)

    return make


def build_openid(settings: Settings, world: World) -> OpenIdProvider | None:
    """Return the OpenID Connect provider that the settings name; None: there is none.

    Raises BadSetting if the file with the client secret cannot be read.
    """
    if not settings.openid_issuer:
        return None
    registration = ClientRegistration(
        settings.openid_issuer,
        settings.openid_client_id,
        settings.read_openid_secret(),
        settings.openid_name,
        settings.openid_tls_ca,
    )
    return OpenIdProvider(registration, world)


def _build_items_later(locale: Locale, policy: Policy) -> EventItemBuilder:
    """Return what builds the items of events; commands, which post none, would wait 0.1 s for its imports."""

    def build(
        events: Sequence[Event],
        read: ReadMessages,
        data: Mapping[bytes, EventData],
        sender_categories: Mapping[str, Category],
    ) -> Sequence[bytes | None]:
        from pabal.answers.event_items import event_item_builder

        return event_item_builder(locale, policy)(events, read, data, sender_categories)

    return build


def _load_format(webhook_format: WebhookFormat, policy: Policy) -> ForeignFormat:
    """Return what deliveries look like for programs of another relay; most services have none of these."""
    from pabal.compat.nhncloud_hooks import hook_format
    from pabal.compat.solapi.records import report_format

    return hook_format(policy) if webhook_format is WebhookFormat.NHN_CLOUD else report_format(policy)


def _build_poster(rules: AddressRules, settings: Settings, world: World) -> Poster:
    from pabal.webhooks.client import WebhookClient  # costs the start 0.1 s

    return WebhookClient(rules, world, settings.webhook_tls_ca)


def _build_carrier(
    settings: CarrierSettings, store: Store, world: World, metrics: Metrics, slots: Slots
) -> Carrier:
    if isinstance(settings, SmppSettings):
        from pabal.carriers.smpp.carrier import SmppCarrier  # costs commands without one 0.05 s

        return SmppCarrier(settings, world, lambda what: metrics.carrier_anomalies.add(1, settings.name, what))
    if isinstance(settings, NhnCloudSettings | SolapiSettings):
        return _build_relay_carrier(settings, store, world, metrics, slots)
    assert isinstance(settings, SimulatorSettings)
    return Simulator(settings, StoredSimulatorState(store, settings.name, slots), world)


def _build_relay_carrier(
    settings: NhnCloudSettings | SolapiSettings, store: Store, world: World, metrics: Metrics, slots: Slots
) -> Carrier:
    from pabal.carriers.relay.carrier import Dependencies  # costs the start 0.3 s
    from pabal.carriers.relay.http import NotProcessed

    async def load_codes() -> Mapping[int, SenderCodes]:
        try:
            return await store.read(accounts.list_sender_codes)
        except StoreUnavailable:
            raise NotProcessed("the codes of accounts cannot be read") from None

    dependencies = Dependencies(
        world,
        lambda request_id: store.read(images.get, request_id),
        PersistentCursor(store, settings.name, slots),
        lambda what: metrics.carrier_anomalies.add(1, settings.name, what),
        load_codes=load_codes,
    )
    return build_relay(settings, dependencies)


def build_relay(settings: NhnCloudSettings | SolapiSettings, dependencies: "Dependencies") -> Carrier:
    """Return the carrier of a relay. Raises BadSetting."""
    from pabal.carriers.nhncloud import carrier as nhncloud
    from pabal.carriers.solapi import carrier as solapi

    if isinstance(settings, SolapiSettings):
        return solapi.build(settings, dependencies)
    return nhncloud.build(settings, dependencies)


def _load_categories(path: Path | None, shipped: str) -> dict[str, Category]:
    try:
        if path:
            return parse_categories(path.read_text(encoding="utf-8-sig").splitlines())
        file = resources.files("pabal").joinpath("data", shipped)
        return parse_categories(file.read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError, InvalidCategoryTable) as error:
        said = f"{path or shipped}: {error}"
        raise BadSetting(said, said) from None
