import type { Writ } from '#authority';
import type { Instant } from '#canon';
import { type LedgerReader, type Payload, readRow } from '#ledger';
import { ConfigError } from '../errors.ts';
import { AGENTS, agentsDomain } from './agents-domain.ts';

export type AgentStop = 'stopped' | 'paused';

const PAGE = 100;
const MAKES: Readonly<Record<string, AgentStop | undefined>> = { stop: 'stopped', pause: 'paused' };

/**
 * The stopped and the paused agents of a store, by the entries of their trajectory. A name below
 * that of a stopped agent, such as `agent:scout/helper`, is stopped too.
 */
export class AgentStops {
  readonly #store: Pick<LedgerReader, 'entries'>;
  readonly #freshMs: number;
  readonly #stops: Map<string, AgentStop> = new Map();
  /** The last stop of each agent, also of one that came back. */
  readonly #stoppedAt: Map<string, Instant> = new Map();
  #next = 0;
  #readAt = Number.NEGATIVE_INFINITY;
  #expiredAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  /** `freshMs`: milliseconds for which a read counts. */
  constructor(store: Pick<LedgerReader, 'entries'>, freshMs: number) {
    this.#store = store;
    this.#freshMs = freshMs;
  }

  /** The number of entries that were read. */
  get version(): number {
    return this.#next;
  }

  /** Reads what is new. `now`: also if the last read still counts. @throws LedgerFault */
  async refresh(now: 'now' | 'recent' = 'recent'): Promise<void> {
    if (now === 'now') await this.#reading;
    else if (this.#readAt > this.#expiredAt && performance.now() - this.#readAt < this.#freshMs)
      return;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  /** No read from before now counts, since an entry was added. */
  expire(): void {
    this.#expiredAt = performance.now();
  }

  /** By the last read. */
  of(name: string): AgentStop | undefined {
    const found = namesAbove(name).map((one) => this.#stops.get(one));
    return found.includes('stopped') ? 'stopped' : found.find((stop) => stop !== undefined);
  }

  /** Whether a writ was issued before the last stop of its holder. By the last read. */
  isBeforeStop({ subject, not_before: begins }: Pick<Writ, 'subject' | 'not_before'>): boolean {
    return namesAbove(subject).some((name) => begins <= (this.#stoppedAt.get(name) ?? ''));
  }

  /** @throws ConfigError `agent_stopped`; LedgerFault */
  async requireNone(names: readonly string[], when: 'now' | 'recent' = 'recent'): Promise<void> {
    await this.refresh(when);
    for (const name of names) {
      const stop = this.of(name);
      if (stop === undefined) continue;
      const back =
        stop === 'paused'
          ? 'An admin resumes it'
          : 'It comes back when an admin asks for it and another person approves';
      throw new ConfigError(
        'agent_stopped',
        `${name} is ${stop} in this store. ${back}: assize agents resume ${name}`,
        {
          evidence: { principal: name, is: stop },
        },
      );
    }
  }

  async #read(): Promise<void> {
    const began = performance.now();
    for (;;) {
      const rows = await this.#store.entries(AGENTS, { from: this.#next, limit: PAGE });
      for (const row of rows) {
        this.#take(readRow(row).payload);
        this.#next = row.seq + 1;
      }
      if (rows.length < PAGE) break;
    }
    this.#readAt = began;
  }

  #take(payload: Payload): void {
    if (payload.kind === 'root' && payload.domain.name !== agentsDomain().name)
      throw new ConfigError(
        'bad_config',
        `The trajectory ${AGENTS} is not of the domain ${agentsDomain().name}.`,
      );
    if (payload.kind !== 'commit') return;
    const { name, role } = payload.action;
    const agent = role.params['agent'];
    if (agent === undefined) return;
    const stop = MAKES[name];
    if (stop === 'stopped') this.#stoppedAt.set(agent, payload.at);
    if (stop !== undefined) this.#stops.set(agent, stop);
    else if (name === 'resume') this.#stops.delete(agent);
  }
}

/** A name, and those that it is below. */
function namesAbove(name: string): string[] {
  const parts = name.split('/');
  return parts.map((_, i) => parts.slice(0, i + 1).join('/'));
}
