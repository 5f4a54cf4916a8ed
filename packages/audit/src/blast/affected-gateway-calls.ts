import type { Json } from 'assize/internal/base';
import type { CommitPayload, Entry, Hash, ValueReader } from 'assize/internal/ledger';
import type { AffectedCall } from './affected-call.ts';
import { gatewayCall } from './gateway-call.ts';

/** A call of another server, with the members of its row that an incident needs. */
interface Row {
  readonly tool: string;
  readonly class?: AffectedCall['reversibility'] | 'read';
  /** `assize`: the runtime makes the call, as an effect of the commit. */
  readonly run?: string;
  readonly undoes?: string;
}

/** The calls that affected commits let through a gateway, with the outcomes by their agents. */
export class AffectedGatewayCalls {
  readonly #values: ValueReader;
  readonly #calls: Map<string, AffectedCall> = new Map();
  readonly #reports: Map<string, string> = new Map();
  /** The calls that take a call back. */
  readonly #undoings: Map<string, string[]> = new Map();

  constructor(values: ValueReader) {
    this.#values = values;
  }

  async add(entry: Entry<CommitPayload>): Promise<void> {
    const { action } = entry.payload;
    if (action.name === 'report') return this.#report(entry, action.args);
    const found = await gatewayCall(entry, this.#values);
    if (found === undefined) return;
    const { tool, class: of, run, undoes } = found.row as Row;
    const key = keyOf(entry, found.id);
    if (undoes !== undefined) {
      const undone = keyOf(entry, undoes);
      this.#undoings.set(undone, [...(this.#undoings.get(undone) ?? []), key]);
    }
    if (of === 'read' || run === 'assize') return;
    this.#calls.set(key, {
      ...{
        entry: entry.id as Hash,
        trajectoryId: entry.trajectory_id,
        id: found.id,
        via: 'gateway',
        tool,
      },
      ...(of !== undefined && { reversibility: of }),
      outcome: 'open',
    });
  }

  async #report(entry: Entry<CommitPayload>, args: CommitPayload['action']['args']): Promise<void> {
    const { call, outcome } = ((await this.#values.value(entry, args)) ?? {}) as {
      readonly [key: string]: Json;
    };
    if (typeof call === 'string' && typeof outcome === 'string')
      this.#reports.set(keyOf(entry, call), outcome);
  }

  /** In the order of the log. */
  found(): AffectedCall[] {
    return [...this.#calls].map(([key, call]) => ({ ...call, outcome: this.#outcomeOf(key) }));
  }

  #outcomeOf(key: string): AffectedCall['outcome'] {
    if (this.#undoings.get(key)?.some((undoing) => this.#reports.get(undoing) === 'done'))
      return 'undone';
    const report = this.#reports.get(key);
    return report === 'done' ? 'applied' : report === 'failed' ? 'failed' : 'open';
  }
}

function keyOf({ trajectory_id }: Pick<Entry, 'trajectory_id'>, call: string): string {
  return JSON.stringify([trajectory_id, call]);
}
