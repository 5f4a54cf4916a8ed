import { isAssizeError, type Json } from 'assize/internal/base';
import { canonicalize, readCanonical } from 'assize/internal/canon';
import type { SlackConfig } from 'assize/internal/config';
import type { EntryRow, SideRow, SideStore } from 'assize/internal/ledger';
import { visibleWords } from 'assize/internal/views';
import type { ApprovalRequested } from '../notice.ts';
import type { Progress } from '../progress.ts';
import { cardKind, pagesOf, removed } from '../queue/delivery-rows.ts';
import type { SlackReceiver } from '../receivers.ts';
import { NAME_MAX, remindedOf, timeText } from '../said.ts';
import { type SlackCall, slackApi } from './slack-api.ts';
import { messageOf, plain } from './slack-message.ts';

/** The rows of one read. */
const PAGE = 100;

/** A message in a channel. */
export interface MessagePlace {
  readonly channel: string;
  readonly ts: string;
}

export interface SlackCardsOptions {
  readonly receiver: SlackReceiver;
  readonly store: SideStore & { resolve(id: string): Promise<EntryRow | undefined> };
  readonly progressOf: (row: EntryRow) => Promise<Progress>;
  readonly pageOf: (path: string) => string;
}

/**
 * The cards of one channel: a message for each request, whose place is a row of the side log while
 * the request waits. After each change of a message the ledger is read again, so a message says in
 * the end what the ledger says, whatever servers and clicks changed it concurrently.
 */
export class SlackCards {
  readonly config: SlackConfig;
  readonly call: SlackCall;
  readonly progressOf: SlackCardsOptions['progressOf'];
  readonly #options: SlackCardsOptions;
  readonly #kind: string;

  constructor(options: SlackCardsOptions) {
    this.#options = options;
    this.config = options.receiver.slack;
    this.call = slackApi(this.config);
    this.progressOf = options.progressOf;
    this.#kind = cardKind(options.receiver.id);
  }

  /**
   * Posts the card of a request, changes it, or closes it. `clicked`: another message of the
   * request, from before a crash or a loss of the row. It is changed too.
   *
   * @throws NoticeError `receiver_refused`, `unreachable`
   */
  async show(row: EntryRow, signal?: AbortSignal, clicked?: MessagePlace): Promise<void> {
    const { store } = this.#options;
    let last: MessagePlace | undefined;
    for (let progress = await this.progressOf(row); ; ) {
      const kept = await store.sideGet(this.#kind, progress.request);
      // Another call that closed the card has removed its row.
      const place = kept === undefined ? last : placeIn(kept);
      last = undefined;
      if (place !== undefined && !(await this.#change(place, progress, signal))) {
        if (kept !== undefined) await store.sidePut([removed(kept)]);
        continue;
      }
      last = place;
      if (place === undefined && progress.ended === undefined) {
        const unfurled = { unfurl_links: false, unfurl_media: false };
        const message = { channel: this.config.channel, ...unfurled, ...this.#messageOf(progress) };
        const { channel, ts } = await this.call('chat.postMessage', message, signal);
        const body = canonicalize({ channel, ts } as Json);
        const put = { kind: this.#kind, key: progress.request, expected: null, body };
        // Another server has posted it first.
        if (!(await store.sidePut([put]))) await this.call('chat.delete', { channel, ts }, signal);
      }
      if (clicked !== undefined && clicked.ts !== place?.ts)
        await this.#change(clicked, progress, signal);
      const now = await this.progressOf(row);
      const isSame = now.pendingId === progress.pendingId && now.ended === progress.ended;
      progress = now;
      if (!isSame) continue;
      if (now.ended !== undefined && kept !== undefined) await store.sidePut([removed(kept)]);
      return;
    }
  }

  /** Closes the cards of requests that ended without an entry, as by the end of their world. */
  async sweep(): Promise<void> {
    for await (const page of pagesOf(this.#options.store, this.#kind, PAGE))
      for (const { key } of page) {
        const row = await this.#options.store.resolve(key);
        if (row !== undefined && (await this.progressOf(row)).ended !== undefined)
          await this.show(row);
      }
  }

  /** Says under the card of a request that it ends soon, or that deputies may decide. */
  async remind(
    { request, card }: Progress,
    notice: ApprovalRequested,
    signal?: AbortSignal,
  ): Promise<void> {
    const kept = await this.#options.store.sideGet(this.#kind, request);
    if (kept === undefined) return;
    const { channel, ts: thread_ts } = placeIn(kept);
    const text = remindedOf(notice);
    const end = notice.isEnding === true ? ` (${timeText(card.expires ?? '')})` : '';
    const said = `${text}${end} ${visibleWords(card.title, NAME_MAX)}`;
    const blocks = [{ type: 'section', text: plain(said) }];
    const reply = { channel, thread_ts, reply_broadcast: true, text, blocks };
    await this.call('chat.postMessage', reply, signal);
  }

  /** False if the message was deleted. */
  async #change(place: MessagePlace, progress: Progress, signal: AbortSignal | undefined) {
    try {
      await this.call('chat.update', { ...place, ...this.#messageOf(progress) }, signal);
      return true;
    } catch (error) {
      if (isAssizeError(error) && error.evidence['reason'] === 'message_not_found') return false;
      throw error;
    }
  }

  #messageOf(progress: Progress): object {
    return messageOf(progress, this.#options.pageOf(progress.card.page), this.config);
  }
}

function placeIn({ body }: SideRow): MessagePlace {
  return readCanonical(body) as unknown as MessagePlace;
}
