import { addMicros, type Instant, instantToMillis } from 'assize/internal/canon';
import type { MailConfig } from 'assize/internal/config';
import type { EntryRow, Hash, LogStore, SideStore } from 'assize/internal/ledger';
import {
  type Clock,
  type Pause,
  type Random,
  systemClock,
  systemPause,
  systemRandom,
} from 'assize/internal/oracle';
import type { Ruling } from 'assize/internal/runtime';
import type { Followable } from 'assize/internal/stores';
import { rulingView } from 'assize/internal/views';
import { type Card, pagePath } from '../card/card.ts';
import { type DecidersOf, MailNotices } from './mail/mail-notices.ts';
import { type Notice, noticeId, webhookBody } from './notice.ts';
import type { Progress } from './progress.ts';
import { Deliverer } from './queue/deliverer.ts';
import { type EndedNotice, FAILED_KIND, pagesOf, waitingKind } from './queue/delivery-rows.ts';
import { Enqueuer } from './queue/enqueue.ts';
import { RETRY, type RetryPolicy } from './queue/retry-policy.ts';
import { KEEPING, type KeepingTimes, sweepNotices } from './queue/sweep.ts';
import type { Receiver } from './receivers.ts';
import { remindedOf } from './said.ts';
import type { SlackCards } from './slack/slack-cards.ts';
import { teamsMessage } from './teams/teams-card.ts';
import { type SendingOptions, sendWebhook } from './webhook/send-webhook.ts';

/** The ports that a sender uses of a store. */
export type NoticeStore = LogStore &
  SideStore &
  Partial<Followable> & { resolve(id: Hash): Promise<EntryRow | undefined> };

export interface NoticeSenderOptions {
  readonly store: NoticeStore;
  readonly receivers: readonly Receiver[];
  readonly mail?: MailConfig | undefined;
  /** The proposals that wait for a decision now: a new receiver gets them. */
  readonly openProposals: () => AsyncIterable<{ readonly id: Hash }>;
  /** The principals of a list that may decide about a pending proposal now. */
  readonly decidersOf: DecidersOf;
  /** The address of a page of the console. */
  readonly pageOf: (path: string) => string;
  /** The ruling of an entry, with the outcomes of its calls. */
  readonly rulingOf: (row: EntryRow) => Promise<Ruling>;
  /** The card of a pending proposal, without what may not leave the ledger. */
  readonly cardOf: (row: EntryRow) => Promise<Card>;
  /** Where the request of a pending proposal stands now. */
  readonly progressOf: (row: EntryRow) => Promise<Progress>;
  /** The cards of the receiver in Slack, if there is one. */
  readonly slack?: SlackCards | undefined;
  /** Seconds before the end of a request when its receivers get a reminder. Default: never. */
  readonly reminderSeconds?: number | undefined;
  /** Receives each failed attempt and each failed read. Nothing is lost then. */
  readonly onFailure: (error: unknown) => void;
  /** Called for each notice that this process gives up. */
  readonly onGivenUp?: (notice: EndedNotice) => void;
  /** The longest time until entries of other processes are seen. Default: one second. */
  readonly pollMs?: number;
  readonly retry?: RetryPolicy;
  /**
   * The time for which a server claims a notice. After it another server sends the notice. Longer
   * than any attempt. Default: one minute.
   */
  readonly claimMs?: number;
  readonly keeping?: KeepingTimes;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly pause?: Pause;
  /** For tests. */
  readonly webhookOptions?: Pick<SendingOptions, 'timeoutMs' | 'resolve'>;
}

const POLL_MS = 1_000;
const CLAIM_MS = 60_000;
const STOP_MS = 5_000;

/** The longest time between two counts of the rows of a store. */
const TALLY_MS = 15_000;

/** Notices of a store, and of one process since its start. */
export interface NoticeCounts extends Tally {
  readonly sending: number;
  readonly delivered: number;
}

/**
 * Sends notices of proposals that wait for a decision to webhooks and people: at least once, and
 * normally once. The log of the ledger is the outbox, and the side log has the deliveries. So a
 * crash at any point loses no notice, and any number of servers on one store share the work.
 */
export class NoticeSender {
  readonly #options: NoticeSenderOptions;
  readonly #enqueuer: Enqueuer;
  readonly #deliverer: Deliverer;
  readonly #mails: MailNotices | undefined;
  readonly #pollMs: number;
  readonly #clock: Clock;
  readonly #pause: Pause;
  #unfollow: (() => Promise<void>) | undefined;
  #isWoken = false;
  #rest: AbortController | undefined;
  #running: Promise<void> | undefined;
  #isStopped = false;
  #tally: Tally = { waiting: 0, failed: 0 };
  #tallied: Instant = '';

  constructor(options: NoticeSenderOptions) {
    const { store, receivers, mail, openProposals, onFailure, onGivenUp } = options;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#pause = options.pause ?? systemPause;
    this.#pollMs = options.pollMs ?? POLL_MS;
    this.#mails = mail && new MailNotices({ ...options, mail });
    this.#enqueuer = new Enqueuer({
      store,
      receivers,
      openProposals,
      clock: this.#clock,
      onFailure,
    });
    this.#deliverer = new Deliverer({
      store,
      receivers,
      send: (receiver, notice, signal) => this.#send(receiver, notice, signal),
      clock: this.#clock,
      random: options.random ?? systemRandom,
      retry: options.retry ?? RETRY,
      claimMs: options.claimMs ?? CLAIM_MS,
      reminderMs: options.reminderSeconds && options.reminderSeconds * 1_000,
      onFailure,
      onGivenUp: (notice) => {
        this.#tallied = '';
        onGivenUp?.(notice);
      },
      onEnded: () => this.wake(),
    });
  }

  /** Begins to read the log and to send. Without receivers nothing is read. */
  async start(): Promise<void> {
    await this.#count().catch(this.#options.onFailure);
    if (this.#options.receivers.length === 0) return;
    this.#unfollow = await this.#options.store.follow?.(() => this.wake());
    // Entries from here on are new: their notices are sent also if they are decided meanwhile.
    await this.#enqueuer.advance().catch(this.#options.onFailure);
    this.#running = this.#run();
  }

  /** Ends after the deliveries that run, and at the latest after `limitMs`. */
  async stop(limitMs: number = STOP_MS): Promise<void> {
    this.#isStopped = true;
    this.#enqueuer.stop();
    this.#rest?.abort();
    await this.#unfollow?.();
    await this.#deliverer.stop(limitMs);
    await this.#running;
  }

  /** Looks for new entries soon, after a commit. */
  wake(): void {
    this.#isWoken = true;
    this.#rest?.abort();
  }

  /** At most `TALLY_MS` old. */
  get counts(): NoticeCounts {
    return {
      ...this.#tally,
      sending: this.#deliverer.sending,
      delivered: this.#deliverer.delivered,
    };
  }

  /** Deletes rows that are kept no longer, also without receivers. */
  async sweep(): Promise<void> {
    const { store, receivers, keeping = KEEPING } = this.#options;
    await sweepNotices({ store, receivers, clock: this.#clock, keeping });
    await this.#options.slack?.sweep().catch(this.#options.onFailure);
    await this.#count();
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      this.#isWoken = false;
      const dueMs = await this.#turn();
      await this.#untilWoken(Math.min(dueMs, this.#pollMs));
    }
  }

  /** One look at the log and the queue. After a failure the next turn begins with the same rows. */
  async #turn(): Promise<number> {
    try {
      await this.#enqueuer.advance();
      const dueMs = await this.#deliverer.begin();
      // Later than now: the clock was set back since.
      const now = this.#clock.now();
      if (this.#tallied < addMicros(now, -TALLY_MS * 1_000) || this.#tallied > now)
        await this.#count();
      return dueMs;
    } catch (error) {
      this.#options.onFailure(error);
      return this.#pollMs;
    }
  }

  async #count(): Promise<void> {
    const { store, receivers } = this.#options;
    this.#tallied = this.#clock.now();
    this.#tally = await tallyOf(
      store,
      receivers.map(({ id }) => id),
    );
  }

  async #untilWoken(ms: number): Promise<void> {
    if (this.#isWoken || this.#isStopped) return;
    this.#rest = new AbortController();
    await this.#pause(ms, ms, this.#rest.signal);
    this.#rest = undefined;
  }

  async #send(receiver: Receiver, notice: Notice, signal: AbortSignal): Promise<boolean> {
    const { pageOf, rulingOf, cardOf, progressOf, slack } = this.#options;
    const isAsked = notice.type !== 'approval.resolved';
    const isReminder = notice.type === 'approval.reminder';
    const deputies = isReminder ? notice.deputies : [];
    const id = noticeId(notice.entryId, receiver.id, notice.type, deputies[0]?.from);
    const progress = isReminder ? await progressOf(notice.row) : undefined;
    // Another entry of the request has a reminder of its own.
    if (progress?.ended !== undefined || (progress?.pendingId ?? notice.entryId) !== notice.entryId)
      return false;
    if (receiver.kind === 'mail')
      return isAsked && (await this.#mails?.send(receiver, notice, id, signal)) === true;

    if (receiver.kind === 'slack') {
      const row = isAsked ? notice.row : await this.#options.store.resolve(notice.pendingId);
      if (isAsked && progress !== undefined) await slack?.remind(progress, notice, signal);
      else if (row !== undefined) await slack?.show(row, signal);
      return true;
    }
    const url = pageOf(pagePath(notice));
    const card = isAsked ? await cardOf(notice.row) : undefined;
    const body =
      receiver.kind === 'teams' && card !== undefined
        ? teamsMessage(card, url, isReminder ? remindedOf(notice) : '')
        : webhookBody(notice, { id, url, ruling: rulingView(await rulingOf(notice.row)), card });
    const timestamp = Math.floor(instantToMillis(this.#clock.now()) / 1_000);
    const options = { ...this.#options.webhookOptions, signal };
    await sendWebhook(receiver.webhook, { id, timestamp, body }, options);
    return true;
  }
}

/** Rows of one read, and the most rows of one receiver, or of all failures, that are counted. */
const PAGE = 1_000;
const COUNTED_MAX = 10_000;

/** Notices of a store at one moment. */
export interface Tally {
  /** Those that wait, of the given receivers. At most 10,000 a receiver are counted. */
  readonly waiting: number;
  /** Those that were given up, of all receivers. At most 10,000 are counted. */
  readonly failed: number;
}

export async function tallyOf(store: SideStore, receiverIds: readonly string[]): Promise<Tally> {
  let waiting = 0;
  for (const id of receiverIds) waiting += await countOf(store, waitingKind(id));
  return { waiting, failed: await countOf(store, FAILED_KIND) };
}

async function countOf(store: SideStore, kind: string): Promise<number> {
  let count = 0;
  for await (const page of pagesOf(store, kind, PAGE)) {
    count += page.length;
    if (count >= COUNTED_MAX) break;
  }
  return count;
}
