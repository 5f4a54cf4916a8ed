import { form } from '#base';

/** The types of this folder's arguments. The functions that use them check their meaning. */
const KEY_MEMBERS = { name: form.text, use: form.text, id: form.text, publicKey: form.text };

export const VERIFIER_KEY = form.members(KEY_MEMBERS);
export const VERIFIER_KEYS = form.list(VERIFIER_KEY);
export const SIGNER_KEY = form.members({ ...KEY_MEMBERS, privateKey: form.text });
export const KNOWN_LOG = form.members({ origin: form.text, keys: VERIFIER_KEYS });
export const NOTE_SIGNATURE = form.members({ name: form.text, keyId: form.text, value: form.bytes });
