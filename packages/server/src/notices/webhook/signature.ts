import { createHmac } from 'node:crypto';

/** The prefix of a secret in Base64 (standardwebhooks.com). Another secret is its own bytes. */
const ENCODED = 'whsec_';

/** The value of `webhook-signature`: a signature with each secret, separated by a space. */
export function signaturesOf(secret: string | readonly string[], id: string, timestamp: string, body: string): string {
  return [secret]
    .flat()
    .map((one) => signatureOf(one, id, timestamp, body))
    .join(' ');
}

/** HMAC-SHA-256 over the id, the time and the body. */
function signatureOf(secret: string, id: string, timestamp: string, body: string): string {
  const key = secret.startsWith(ENCODED)
    ? Buffer.from(secret.slice(ENCODED.length), 'base64')
    : Buffer.from(secret, 'utf8');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}
