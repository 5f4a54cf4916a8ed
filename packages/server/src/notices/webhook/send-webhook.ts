import { createHmac } from 'node:crypto';
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isAssizeError } from 'assize/internal/base';
import type { WebhookConfig } from 'assize/internal/config';
import { NoticeError } from '../errors.ts';
import { isPrivateAddress, isPublicAddress } from './address-rules.ts';

/** The time for a whole request, from the lookup to the status of the answer. */
export const WEBHOOK_TIMEOUT_MS = 10_000;

/** A webhook. Without a secret for an address that checks no signature. */
export type Address = Omit<WebhookConfig, 'secret'> & Partial<Pick<WebhookConfig, 'secret'>>;

/** One request to a webhook. */
export interface WebhookMessage {
  /** The same for each attempt, so a receiver can detect a repetition. */
  readonly id: string;
  /** Seconds since 1970, of this attempt. */
  readonly timestamp: number;
  /** JSON. */
  readonly body: string;
}

export interface SendingOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly resolve?: Resolve;
}

/**
 * Sends one request, signed if there is a secret. No redirect is followed, and no answer is read.
 *
 * @throws NoticeError `receiver_refused`, `unreachable`, `receiver_forbidden`
 */
export async function sendWebhook(
  { url, secret, allowPrivate = false }: Address,
  { id, timestamp, body }: WebhookMessage,
  { signal, timeoutMs = WEBHOOK_TIMEOUT_MS, resolve = systemResolve }: SendingOptions = {},
): Promise<void> {
  const target = new URL(url);
  const isSecure = target.protocol === 'https:';
  // Plain HTTP stays within the own network.
  const isAllowed = (address: string): boolean =>
    isSecure && !allowPrivate
      ? isPublicAddress(address)
      : allowPrivate && isReachable(address, isSecure);
  requireAllowedHost(target.hostname, isAllowed);
  const limit = AbortSignal.timeout(timeoutMs);
  const status = await new Promise<number>((answered, reject) => {
    const sent = (isSecure ? requestHttps : requestHttp)(target, {
      method: 'POST',
      agent: false,
      lookup: checkedLookup(isAllowed, resolve),
      signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'assize-notices',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        ...(secret !== undefined && {
          'webhook-signature': signaturesOf(secret, id, String(timestamp), body),
        }),
      },
    });
    sent.on('response', (response) => {
      answered(response.statusCode ?? 0);
      response.destroy();
    });
    sent.on('error', (error) => reject(failureOf(error)));
    sent.end(body);
  });
  if (status >= 200 && status < 300) return;
  throw new NoticeError('receiver_refused', `The webhook answered with the status ${status}.`, {
    evidence: { status },
    retryable: true,
  });
}

/** Cloud metadata is link-local, so no setting allows it. */
function isReachable(address: string, isSecure: boolean): boolean {
  return isPrivateAddress(address) || (isSecure && isPublicAddress(address));
}

/** The code of the error alone: a message can repeat what a receiver wrote. */
function failureOf(error: Error): NoticeError {
  if (isAssizeError(error, 'receiver_forbidden')) return error as NoticeError;
  const { code = error.name } = error as NodeJS.ErrnoException;
  return new NoticeError(
    'unreachable',
    `The webhook could not be reached (${code}). Check the receiver and its address.`,
    { retryable: true },
  );
}

/** The addresses of a host name. */
type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true, verbatim: true });

/**
 * A lookup for a connection: it gives only addresses that `isAllowed` accepts, and fails if a host
 * has any other. The connection uses the addresses that were checked, so a second answer of the
 * name server changes nothing.
 */
function checkedLookup(isAllowed: (address: string) => boolean, resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (found) => {
        const [first] = found;
        if (first === undefined || !found.every(({ address }) => isAllowed(address))) {
          callback(forbidden(), [], undefined);
        } else if (options.all === true) callback(null, [...found]);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, [], undefined),
    );
  };
}

/** A connection to an address without a name looks nothing up. @throws NoticeError */
function requireAllowedHost(hostname: string, isAllowed: (address: string) => boolean): void {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(address) !== 0 && !isAllowed(address)) throw forbidden();
}

function forbidden(): NoticeError {
  return new NoticeError(
    'receiver_forbidden',
    'The address of the webhook is not allowed. Set `allowPrivate` on a webhook in your own network.',
  );
}

/** The prefix of a secret in Base64 (standardwebhooks.com). Another secret is its own bytes. */
const ENCODED = 'whsec_';

/** The value of `webhook-signature`: a signature with each secret, separated by a space. */
function signaturesOf(
  secret: string | readonly string[],
  id: string,
  timestamp: string,
  body: string,
): string {
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
