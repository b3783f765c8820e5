"""Every setting of the installation; the only module that reads the environment.

Any variable can also be given as NAME_FILE, the path of a file that holds the value.
"""

from __future__ import annotations

import os
import tempfile
from collections import ChainMap
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

from kernel.conf import Conf
from kernel.db import postgres_options, sqlite_options
from smartbrain_site import host

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.FileAwareEnv()
env.ENVIRON = ChainMap(host.given, env.ENVIRON)


def _smartbrain() -> Conf:
    given: dict[str, Any] = {}
    for name, kind in Conf.types().items():
        variable = f"SMARTBRAIN_{name.upper()}"
        if variable in os.environ or f"{variable}_FILE" in os.environ:
            try:
                given[name] = kind(env.str(variable))
            except (OSError, ValueError) as exc:
                raise ImproperlyConfigured(f"{variable} cannot be read: {exc}") from exc
    return Conf(**{"data_dir": DATA_DIR, **given})


DATA_DIR = Path(env.str("DATA_DIR", default=str(BASE_DIR / "var"))).resolve()
DATA_DIR.mkdir(parents=True, exist_ok=True)


def _secret_key() -> str:
    """The key given, else one made on first start and kept in DATA_DIR, readable by its owner only."""
    given: str = env.str("SECRET_KEY", default="")
    if given:
        return given
    from django.core.management.utils import get_random_secret_key  # noqa: PLC0415  not needed where a key is given

    path = DATA_DIR / "secret-key"
    if not path.exists():
        # Linked when it is whole: of programs that start at the same moment none reads a key half written.
        handle, written = tempfile.mkstemp(dir=DATA_DIR, prefix="secret-key-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(get_random_secret_key())
        try:
            with suppress(FileExistsError):
                os.link(written, path)
        finally:
            Path(written).unlink()
    return path.read_text("utf-8")


DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY = _secret_key()
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
SECURE_SSL_REDIRECT = env.bool("SECURE_SSL_REDIRECT", default=False)
SESSION_COOKIE_SECURE = SECURE_SSL_REDIRECT
CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.bool("BEHIND_PROXY", default=False) else None
SECURE_HSTS_SECONDS = env.int("SECURE_HSTS_SECONDS", default=0)
# HSTS for every subdomain and in the browsers' lists are promises about more than this server.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SESSION_COOKIE_AGE = env.int("SESSION_COOKIE_AGE", default=8 * 3600)
SESSION_EXPIRE_AT_BROWSER_CLOSE = True
LOGIN_REDIRECT_URL = "admin:index"  # for a sign-in page that was opened by itself
SECOND_FACTOR_REQUIRED = env.bool("SECOND_FACTOR_REQUIRED", default=False)
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "governance.signin.accounts.AccountBackend"]
# A name that fails too often from one address waits; another address, or another name, does not.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_FAILURE_LIMIT = env.int("SIGN_IN_FAILURES", default=5)
AXES_COOLOFF_TIME = timedelta(minutes=env.int("SIGN_IN_LOCK_MINUTES", default=15))
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_CLIENT_IP_CALLABLE = "governance.signin.addresses.client_ip"
AXES_LOCKOUT_CALLABLE = "governance.signin.pages.locked_out"
AXES_DISABLE_ACCESS_LOG = True  # the audit log has it
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
OTP_TOTP_ISSUER = "SmartBrain"
X_FRAME_OPTIONS = "DENY"
PORT = env.int("PORT", default=8000)
SMARTBRAIN = _smartbrain()
DATA_UPLOAD_MAX_MEMORY_SIZE = SMARTBRAIN.max_body_bytes

INSTALLED_APPS = [
    "smartbrain_site",
    "legacy",
    "memory",
    "media",
    "search",
    "governance",
    "scopes",
    "kernel",
    "unfold",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_q",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "axes",
]

MIDDLEWARE = [
    "smartbrain_site.http.middleware.api_middleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "governance.signin.middleware.second_factor",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "smartbrain_site.urls"
ASGI_APPLICATION = "smartbrain_site.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATABASES = {"default": env.db("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'smartbrain.sqlite3'}")}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = sqlite_options(busy_timeout_seconds=30)
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
else:
    DATABASES["default"].setdefault("CONN_MAX_AGE", 0)  # under ASGI each request has a thread of its own
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    DATABASES["default"]["OPTIONS"] = postgres_options(DATABASES["default"].get("OPTIONS", {}))
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATIC_ROOT.mkdir(exist_ok=True)
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "SmartBrain",
    "SITE_HEADER": "SmartBrain",
    "SITE_URL": None,
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": "governance.adminbase.favicon"}],
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "STYLES": ["governance.adminbase.stylesheet"],
    "SCRIPTS": ["governance.adminbase.script"],
    "SIDEBAR": {"navigation": "governance.adminbase.navigation"},
    "DASHBOARD_CALLBACK": "governance.admin.front.front_page",
    "COLORS": {
        "primary": {
            "50": "oklch(97.5% .013 225)",
            "100": "oklch(94.5% .03 225)",
            "200": "oklch(90% .055 225)",
            "300": "oklch(84% .08 225)",
            "400": "oklch(78% .11 225)",
            "500": "oklch(70% .12 228)",
            "600": "oklch(50% .11 232)",
            "700": "oklch(44% .1 234)",
            "800": "oklch(38% .085 236)",
            "900": "oklch(32% .07 238)",
            "950": "oklch(25% .055 240)",
        },
    },
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "UNAUTHENTICATED_USER": None,
}

SPECTACULAR_SETTINGS = {
    "TITLE": "SmartBrain",
    "DESCRIPTION": "Knowledge governance for AI agents: every action over HTTP. Send `Authorization: Bearer <api key>`.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/v1",
    "POSTPROCESSING_HOOKS": ["smartbrain_site.http.openapi.add_components"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

Q_CLUSTER = {
    "name": "smartbrain",
    "orm": "default",
    "workers": env.int("WORKERS", default=2),
    "timeout": 600,
    "retry": 900,
    "max_attempts": 3,
    "catch_up": False,
    "save_limit": 1000,
}

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name} {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="INFO")},
    "loggers": {
        "mcp": {"level": "WARNING"},  # it reports each request twice
        "axes": {"level": "WARNING"},  # it reports each sign-in three times
    },
}
