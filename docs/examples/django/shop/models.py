"""Orders, and the events of webhooks that were handled."""

from django.db import models


class Order(models.Model):
    number = models.CharField(max_length=40, unique=True)
    phone = models.CharField(max_length=20)
    request_id = models.CharField(max_length=40, blank=True)
    refusal = models.TextField(blank=True)
    status = models.CharField(max_length=20, blank=True)


class Event(models.Model):
    event_id = models.CharField(max_length=100, unique=True)
