import { hashText } from 'assize/internal/canon';
import type {
  NoticesConfig,
  PrincipalKind,
  SlackConfig,
  WebhookConfig,
} from 'assize/internal/config';
import { NoticeError } from './errors.ts';
import type { Notice } from './notice.ts';
import type { Address } from './webhook/send-webhook.ts';

/** A receiver of notices. */
export type Receiver = WebhookReceiver | SlackReceiver | MailReceiver;

interface Named {
  /** Is in the side log, and is the same for every server. */
  readonly id: string;
  /** In lists: the name of a principal, or the origin of a URL, whose path can be a secret. */
  readonly shownAs: string;
  /** The channels of pending proposals. Absent: all. */
  readonly channels?: readonly string[] | undefined;
}

export interface WebhookReceiver extends Named {
  readonly kind: 'webhook' | 'teams';
  readonly webhook: Address;
}

export interface SlackReceiver extends Named {
  readonly kind: 'slack';
  readonly slack: SlackConfig;
}

export interface MailReceiver extends Named {
  readonly kind: 'mail';
  readonly address: string;
}

/** A principal that can get mail. */
export interface Addressee {
  readonly kinds: readonly PrincipalKind[];
  readonly email?: string | undefined;
}

/** The most receivers: the notices of one entry are written together. */
const RECEIVERS_MAX = 900;

/**
 * The receivers of a configuration: each webhook, each counselor with an address if mail is
 * configured, and the chats.
 *
 * @throws NoticeError `bad_config`
 */
export function receiversOf(
  webhooks: readonly WebhookConfig[],
  mailed: ReadonlyMap<string, Addressee>,
  { slack, teams }: Pick<NoticesConfig, 'slack' | 'teams'> = {},
): readonly Receiver[] {
  const receivers: Receiver[] = webhooks.map((webhook) => addressed('webhook', webhook));
  if (teams !== undefined) receivers.push(addressed('teams', teams));
  if (slack !== undefined) {
    const { channel, channels } = slack;
    const id = idOf('slack', channel);
    receivers.push({ kind: 'slack', id, shownAs: `Slack ${channel}`, channels, slack });
  }
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
export function isFor(receiver: Receiver, { type }: Notice, channelOf: string | undefined) {
  const { kind, channels } = receiver;
  // A message that they got cannot be changed.
  if (type === 'approval.resolved' && (kind === 'mail' || kind === 'teams')) return false;
  return channels === undefined || channelOf === undefined || channels.includes(channelOf);
}

/** A receiver by a URL. @throws NoticeError `bad_config` without TLS out of the own network */
function addressed(kind: WebhookReceiver['kind'], webhook: Address): WebhookReceiver {
  const { url, allowPrivate, channels } = webhook;
  const { protocol, origin } = new URL(url);
  if (protocol !== 'https:' && allowPrivate !== true)
    throw badNotices(
      `The webhook ${origin} has no TLS. Use https, or set \`allowPrivate\` for your own network.`,
    );
  return { kind, id: idOf(kind, url), shownAs: origin, channels, webhook };
}

function idOf(kind: Receiver['kind'], name: string): string {
  return `${kind}:${hashText(name).slice(0, 32)}`;
}

function badNotices(message: string): NoticeError {
  return new NoticeError('bad_config', message);
}
