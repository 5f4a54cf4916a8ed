import type { Json } from 'assize/internal/base';
import type { PlannedCalls } from 'assize/internal/effects';
import type { ChangedRecords } from '../../../../examples/domains/tau/index.ts';
import { type Desk, same } from './desk.ts';
import { type Layers, over } from './layer.ts';

/**
 * The service's answer for the caller, and the name by which the change can be reverted. The name
 * is null if the call changed nothing.
 */
export type Served = { readonly output: Json; readonly change: string | null };

/** The changes of one call, by collection and id. */
interface Change {
  readonly name: string;
  readonly records: readonly {
    readonly collection: string;
    readonly id: string;
    before: unknown;
    after: unknown;
  }[];
  isReverted: boolean;
}

/** One act, in the order of execution. `again`: the key was known, and the service did nothing. */
export interface ServiceAct {
  readonly did: 'call' | 'again' | 'revert';
  readonly name: string;
  readonly key: string | undefined;
}

/**
 * A benchmark's tools as an external service with its own database. A call with a known key returns
 * the first answer. The service can revert a change while the records still have the values of that
 * change. The outcome of a task is read here.
 */
export class TauService {
  /** All that changed something, or would have. */
  readonly log: ServiceAct[] = [];
  readonly #desk: Desk;
  readonly #layers: Layers;
  readonly #served = new Map<string, Served>();
  readonly #changes = new Map<string, Change>();

  constructor(desk: Desk) {
    this.#desk = desk;
    this.#layers = over(desk.begin);
  }

  /**
   * Executes the call, unless a call with that key was executed. A refusal in the benchmark's words
   * is a normal answer.
   */
  call(name: string, args: Json, key?: string): Served {
    const known = key === undefined ? undefined : this.#served.get(key);
    this.log.push({ did: known === undefined ? 'call' : 'again', name, key });
    if (known !== undefined) return known;
    const layers = over(this.#layers);
    const { output, isRefused } = this.#serve(layers, name, args);
    const served = { output, change: isRefused ? null : this.#kept(name, layers) };
    if (key !== undefined) this.#served.set(key, served);
    return served;
  }

  /** The answer as of the planned calls. The method changes nothing. */
  ask(name: string, args: Json, planned: PlannedCalls = []): Json {
    const layers = planned.reduce((below, { tool, input }) => {
      const above = over(below);
      // A refused call changes nothing.
      return this.#serve(above, tool, input).isRefused ? below : above;
    }, this.#layers);
    return this.#serve(over(layers), name, args).output;
  }

  /**
   * Takes a change back; once more does nothing.
   *
   * @returns false where what was changed does not stand as it was left, and so stays
   */
  revert(id: string): boolean {
    const change = this.#changes.get(id);
    if (change === undefined) throw new Error(`there is no change ${id}`);
    if (change.isReverted) return true;
    const { name, records } = change;
    const stands = records.every(({ collection, id, after }) =>
      same(this.#layers[collection]!.peek(id), after),
    );
    if (!stands) return false;
    for (const { collection, id, before } of records) this.#layers[collection]!.set(id, before);
    change.isReverted = true;
    this.log.push({ did: 'revert', name, key: undefined });
    return true;
  }

  changed(): ChangedRecords {
    return this.#desk.changed(this.#layers);
  }

  #serve(
    layers: Layers,
    name: string,
    args: Json,
  ): { readonly output: Json; readonly isRefused: boolean } {
    const tool = this.#desk.tools[name];
    if (tool === undefined) return { output: `Error: there is no tool ${name}`, isRefused: true };
    try {
      return { output: tool.serve(layers, args), isRefused: false };
    } catch (error) {
      return { output: `Error: ${(error as Error).message}`, isRefused: true };
    }
  }

  #kept(name: string, layers: Layers): string | null {
    const records = Object.entries(layers).flatMap(([collection, layer]) =>
      layer.touched.flatMap((id) => {
        const [before, after] = [this.#layers[collection]!.peek(id), layer.peek(id)];
        return same(before, after) ? [] : [{ collection, id, before, after }];
      }),
    );
    for (const { collection, id, after } of records) this.#layers[collection]!.set(id, after);
    if (records.length === 0) return null;
    const id = `change-${this.#changes.size}`;
    this.#changes.set(id, { name, records, isReverted: false });
    return id;
  }
}
