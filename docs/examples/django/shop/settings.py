"""The settings that the example needs."""

import os

PABAL_URL = os.environ["PABAL_URL"]
PABAL_API_KEY = os.environ["PABAL_API_KEY"]
WEBHOOK_SECRET = os.environ["WEBHOOK_SECRET"]

SECRET_KEY = os.environ.get("DJANGO_SECRET_KEY", "only-for-this-example")
ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
INSTALLED_APPS = ["shop"]
ROOT_URLCONF = "shop.views"
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": "shop.sqlite3",
        "OPTIONS": {"transaction_mode": "IMMEDIATE"},
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
CELERY_BROKER_URL = os.environ.get("CELERY_BROKER_URL", "redis://127.0.0.1:6379/0")
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
