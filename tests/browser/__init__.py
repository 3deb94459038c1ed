"""Tests in a browser: a package, so that its modules share one."""
