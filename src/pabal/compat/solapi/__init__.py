"""The endpoints of Solapi and CoolSMS, translated to the checks and services of our own."""
