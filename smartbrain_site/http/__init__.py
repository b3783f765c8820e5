"""The HTTP door: every action under /v1/, resource lists, the OpenAPI document, and /healthz."""
