"""Tests against a real server. The variables name it and its principals:

ASSIZE_URL; ASSIZE_AGENT (`agent:ada`), ASSIZE_PERSON (`manager:grace`) and ASSIZE_AUDITOR, each a
token; and the world `calls`, whose rules let `bank/pay` through up to 100 cents, ask about more, and
deny payments to mallory.
"""
