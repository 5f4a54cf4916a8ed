import type { Json } from 'assize/internal/base';
import type { PlannedCalls } from 'assize/internal/effects';
import type { ChangedRecords } from 'assize-domains/tau';
import { type Desk, same } from './desk.ts';
import { type Layers, over } from './layer.ts';

/** What the service answers: to the caller, and by what name the change can be taken back; null where nothing was changed. */
export type Served = { readonly output: Json; readonly change: string | null };

/** The changes of one call, by collection and id. */
interface Change {
  readonly name: string;
  readonly records: readonly { readonly collection: string; readonly id: string; before: unknown; after: unknown }[];
  isReverted: boolean;
}

/** One thing that was done, in the order in which it was. `again`: a key was known, and nothing was done. */
export interface ServiceAct {
  readonly did: 'call' | 'again' | 'revert';
  readonly name: string;
  readonly key: string | undefined;
}

/**
 * A benchmark's tools as a service elsewhere: a database of its own, which takes a call of a known key for the same one, and can
 * take back what it did as long as that stands as it was left. What became of a task is read off here.
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

  /** Does it, unless a call of that key was done. A refusal in the benchmark's words is an answer like others. */
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

  /** What the answer would be after what is planned. Nothing is changed. */
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
    const stands = records.every(({ collection, id, after }) => same(this.#layers[collection]!.peek(id), after));
    if (!stands) return false;
    for (const { collection, id, before } of records) this.#layers[collection]!.set(id, before);
    change.isReverted = true;
    this.log.push({ did: 'revert', name, key: undefined });
    return true;
  }

  changed(): ChangedRecords {
    return this.#desk.changed(this.#layers);
  }

  #serve(layers: Layers, name: string, args: Json): { readonly output: Json; readonly isRefused: boolean } {
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
