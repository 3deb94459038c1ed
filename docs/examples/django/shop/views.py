"""The pages of the shop, and the webhook."""

import msgspec
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from pabal.client import GetRequest, InvalidPostError, read_post
from pabal.models.webhook_posts import MessageResultPost
from shop.models import Event, Order
from shop.tasks import client, send_order


@csrf_exempt
@require_POST
@transaction.atomic
def order(request: HttpRequest, number: str, phone: str) -> HttpResponse:
    Order.objects.get_or_create(number=number, defaults={"phone": phone})
    transaction.on_commit(lambda: send_order.delay(number))  # not before the order is stored
    return HttpResponse(status=202)


@require_GET
def show_order(request: HttpRequest, number: str) -> HttpResponse:
    found = Order.objects.get(number=number)
    if found.refusal:
        return HttpResponse(found.refusal, status=400)
    return HttpResponse(found.request_id, status=200 if found.request_id else 202)


@require_GET
def look_up(request: HttpRequest, request_id: str) -> HttpResponse:
    found = client().look_up_request(GetRequest(requestId=request_id))
    return HttpResponse(msgspec.json.encode(found.item.counts), content_type="application/json")


@csrf_exempt
@require_POST
def receive(request: HttpRequest) -> HttpResponse:
    try:
        post = read_post(settings.WEBHOOK_SECRET, request.headers, request.body)
    except InvalidPostError:
        return HttpResponse(status=401)
    if isinstance(post, MessageResultPost):
        for item in post.data.items:
            with transaction.atomic():
                _, is_new = Event.objects.get_or_create(event_id=item.eventId)
                if is_new:  # an event may come twice
                    Order.objects.filter(number=item.reference).update(status=item.sendingStatus.value)
                    print(item.reference, item.sendingStatus.value, flush=True)
    return HttpResponse(status=204)


urlpatterns = [
    path("orders/<number>/<phone>", order),
    path("orders/<number>", show_order),
    path("requests/<request_id>", look_up),
    path("pabal", receive),
]
