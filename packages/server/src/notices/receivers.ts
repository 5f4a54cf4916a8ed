import { hashText } from 'assize/internal/canon';
import type { PrincipalKind, WebhookConfig } from 'assize/internal/config';
import { NoticeError } from './errors.ts';
import type { Notice } from './notice.ts';

/** A receiver of notices. Its id is in the side log, and is the same for every server. */
export type Receiver = WebhookReceiver | MailReceiver;

/** A principal that can get mail. */
export interface Addressee {
  readonly kinds: readonly PrincipalKind[];
  readonly email?: string | undefined;
}

export interface WebhookReceiver {
  readonly kind: 'webhook';
  readonly id: string;
  /** The origin of the URL, for lists: the path can be a secret. */
  readonly shownAs: string;
  readonly webhook: WebhookConfig;
}

export interface MailReceiver {
  readonly kind: 'mail';
  readonly id: string;
  /** The name of the principal. */
  readonly shownAs: string;
  readonly address: string;
}

/** The most receivers: the notices of one entry are written together. */
const RECEIVERS_MAX = 900;

/**
 * The receivers of a configuration: each webhook, and each counselor with an address if mail is
 * configured.
 *
 * @throws NoticeError `bad_config`
 */
export function receiversOf(
  webhooks: readonly WebhookConfig[],
  mailed: ReadonlyMap<string, Addressee>,
): readonly Receiver[] {
  const receivers: Receiver[] = webhooks.map((webhook) => {
    const { protocol, origin } = new URL(webhook.url);
    if (protocol !== 'https:' && webhook.allowPrivate !== true)
      throw badNotices(
        `The webhook ${origin} has no TLS. Use https, or set \`allowPrivate\` for your own network.`,
      );
    return { kind: 'webhook', id: idOf('webhook', webhook.url), shownAs: origin, webhook };
  });
  for (const [name, { email, kinds }] of mailed) {
    if (email === undefined || !kinds.includes('counselor')) continue;
    receivers.push({ kind: 'mail', id: idOf('mail', name), shownAs: name, address: email });
  }
  if (receivers.length > RECEIVERS_MAX)
    throw badNotices(
      `There are ${receivers.length} receivers of notices, and at most ${RECEIVERS_MAX} are possible.`,
    );
  const twice = receivers.find(({ id }, n) => receivers.findIndex((other) => other.id === id) < n);
  if (twice !== undefined)
    throw badNotices(`The receiver ${twice.shownAs} is configured twice. Remove one.`);
  return receivers;
}

/** Whether the receiver gets the notice. The rights of a principal are checked before its mail. */
export function isFor(receiver: Receiver, notice: Notice, channelOf: string | undefined): boolean {
  if (receiver.kind === 'mail') return notice.type === 'approval.requested';
  const { channels } = receiver.webhook;
  return channels === undefined || channelOf === undefined || channels.includes(channelOf);
}

function idOf(kind: Receiver['kind'], name: string): string {
  return `${kind}:${hashText(name).slice(0, 32)}`;
}

function badNotices(message: string): NoticeError {
  return new NoticeError('bad_config', message);
}
