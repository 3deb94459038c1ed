"""The task that sends: repeated until it is accepted or refused, also after a worker was killed."""

from functools import cache

from celery import shared_task
from django.conf import settings

from pabal.client import ApiError, Client, NoAnswerError, ReceiverBody, SendSms, errors
from shop.models import Order

TRANSIENT = (errors.TemporaryError, NoAnswerError)


@cache
def client() -> Client:
    """Return the client of this process: made in the worker, after it was forked."""
    return Client(settings.PABAL_URL, settings.PABAL_API_KEY)


@shared_task(autoretry_for=TRANSIENT, retry_backoff=10, retry_backoff_max=600, max_retries=30, acks_late=True)
def send_order(number: str) -> None:
    order = Order.objects.get(number=number)
    sms = SendSms(
        content=f"주문 {number}이(가) 접수되었습니다.",
        sender="02-1234-5678",
        receivers=[ReceiverBody(phoneNumber=order.phone, reference=number)],
    )
    try:
        order.request_id = client().send_sms(sms, idempotency_key=f"order-{number}").request_id
    except TRANSIENT:
        raise
    except ApiError as error:
        order.refusal = f"{error.result}: {error.message}"
    order.save(update_fields=["request_id", "refusal"])
