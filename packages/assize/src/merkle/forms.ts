import { arg } from '#base';

/** The types of this folder's arguments. The functions that use them check their meaning. */
const KEY_MEMBERS = { name: arg.text, use: arg.text, id: arg.text, publicKey: arg.text };

export const VERIFIER_KEY = arg.members(KEY_MEMBERS);
export const VERIFIER_KEYS = arg.list(VERIFIER_KEY);
export const SIGNER_KEY = arg.members({ ...KEY_MEMBERS, privateKey: arg.text });
export const KNOWN_LOG = arg.members({ origin: arg.optional(arg.text), keys: VERIFIER_KEYS });
export const NOTE_SIGNATURE = arg.members({ name: arg.text, keyId: arg.text, value: arg.bytes });
