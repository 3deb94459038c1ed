"""The table of endpoints, which routing, the OpenAPI document, the reference page and the tests use."""

from pabal.web.endpoints import (
    history,
    lookups,
    opt_outs,
    privacy,
    profiles,
    sending,
    simulated_phone,
    templates,
    webhooks,
)

ENDPOINTS = (
    *profiles.ENDPOINTS,
    *sending.ENDPOINTS,
    *history.ENDPOINTS,
    *lookups.ENDPOINTS,
    *templates.ENDPOINTS,
    *opt_outs.ENDPOINTS,
    *webhooks.ENDPOINTS,
    *privacy.ENDPOINTS,
    *simulated_phone.ENDPOINTS,
)

ENDPOINT_BY_PATH = {endpoint.path: endpoint for endpoint in ENDPOINTS}
