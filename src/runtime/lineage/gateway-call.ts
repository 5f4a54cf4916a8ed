import type { Json } from '#base';
import { parsePointer } from '#canon';
import type { CommitPayload, Entry, Hash, Patch, ValueReader } from '#ledger';
import type { AffectedCall } from './affected-call.ts';

/**
 * The row that a commit of the gateway's action `call` added to its state, with the id of the call.
 * Undefined for another commit, and after an erasure.
 */
export async function gatewayCall(
  entry: Entry<CommitPayload>,
  values: ValueReader,
): Promise<{ readonly id: string; readonly row: { readonly tool: string } } | undefined> {
  const { action, delta } = entry.payload;
  if (action.name !== 'call') return undefined;
  const patches = (await values.value(entry, delta.state as never)) as unknown;
  for (const patch of Array.isArray(patches) ? (patches as Patch[]) : []) {
    const [member, id, ...below] = parsePointer(patch.path);
    if (member !== 'calls' || id === undefined || below.length > 0 || !('value' in patch)) continue;
    const row = (await values.value(entry, patch.value)) as unknown as { readonly tool?: unknown } | undefined;
    // Another entry of the row is that of the call which this one takes back.
    if (typeof row?.tool === 'string') return { id, row: row as { readonly tool: string } };
  }
  return undefined;
}

/** A call of another server, with the members of its row that an incident needs. */
interface Row {
  readonly tool: string;
  readonly class?: AffectedCall['reversibility'] | 'read';
  /** `assize`: the runtime makes the call, as an effect of the commit. */
  readonly run?: string;
  readonly undoes?: string;
}

/** The calls that affected commits let through a gateway, with the outcomes by their agents. */
export class GatewayCalls {
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
      ...{ entry: entry.id as Hash, trajectoryId: entry.trajectory_id, id: found.id, via: 'gateway', tool },
      ...(of !== undefined && { reversibility: of }),
      outcome: 'open',
    });
  }

  async #report(entry: Entry<CommitPayload>, args: CommitPayload['action']['args']): Promise<void> {
    const { call, outcome } = ((await this.#values.value(entry, args)) ?? {}) as { readonly [key: string]: Json };
    if (typeof call === 'string' && typeof outcome === 'string') this.#reports.set(keyOf(entry, call), outcome);
  }

  /** In the order of the log. */
  found(): AffectedCall[] {
    return [...this.#calls].map(([key, call]) => ({ ...call, outcome: this.#outcomeOf(key) }));
  }

  #outcomeOf(key: string): AffectedCall['outcome'] {
    if (this.#undoings.get(key)?.some((undoing) => this.#reports.get(undoing) === 'done')) return 'undone';
    const report = this.#reports.get(key);
    return report === 'done' ? 'applied' : report === 'failed' ? 'failed' : 'open';
  }
}

function keyOf({ trajectory_id }: Pick<Entry, 'trajectory_id'>, call: string): string {
  return JSON.stringify([trajectory_id, call]);
}
