import type { GenerationalMap, Json } from 'assize/internal/base';
import {
  type CounselorRecord,
  type Delta,
  type EntryRow,
  type Hash,
  haltArgs,
  isBlobRef,
  type LedgerStore,
  type Payload,
  type Stored,
  settlementArgs,
} from 'assize/internal/ledger';
import { WritHolders } from 'assize/internal/runtime';
import { blobValue, readable, type Summary, summaryOf, toolCalls } from 'assize/internal/views';

/** The time and the names of an entry that a search compares. */
export interface EntryFacts {
  readonly at: string;
  /** Names as `kind:value`, each once: see `named`. */
  readonly names: readonly string[];
}

/**
 * The kinds of names: the trajectory, the ruling, who asked or decided, who decided, the rule that
 * refused or asked, and the tool.
 */
export type NameKind = 'in' | 'ruling' | 'by' | 'decided' | 'rule' | 'tool';

export function named(kind: NameKind, value: string): string {
  return `${kind}:${value}`;
}

/** The values of one kind among names. */
export function valuesOf(kind: NameKind, names: readonly string[]): string[] {
  const start = named(kind, '');
  return names.filter((name) => name.startsWith(start)).map((name) => name.slice(start.length));
}

/**
 * Reads the facts of entries. It keeps the holders of writs, and a failed read of them, so one
 * object is for the entries of one page.
 */
export class FactReader {
  readonly #store: LedgerStore;
  readonly #holders: WritHolders;
  readonly #begun: Map<string, Promise<void>> = new Map();

  constructor(store: LedgerStore) {
    this.#store = store;
    this.#holders = new WritHolders(store);
  }

  /** `kept`: facts by the id of their entry. These are not read again. */
  async readAll(
    rows: readonly EntryRow[],
    kept: Pick<GenerationalMap<string, EntryFacts>, 'get' | 'set'>,
  ): Promise<readonly EntryFacts[]> {
    const facts: EntryFacts[] = [];
    for (const row of rows) {
      const one = kept.get(row.id) ?? (await this.read(row));
      kept.set(row.id, one);
      facts.push(one);
    }
    return facts;
  }

  async read(row: EntryRow): Promise<EntryFacts> {
    const payload = readable(row)?.payload;
    const summary = summaryOf(row);
    const names = new Set([named('in', row.trajectory_id), named('ruling', summary.ruling)]);
    if (payload !== undefined) {
      for (const by of await this.#people(payload)) names.add(named('by', by));
      for (const person of decidersOf(payload)) names.add(named('decided', person));
      for (const rule of rulesOf(payload, summary)) names.add(named('rule', rule));
      for (const tool of await this.#tools(payload)) names.add(named('tool', tool));
    }
    return { at: summary.at, names: [...names] };
  }

  /** The holders of the writ, from the caller up, and the persons that decided. */
  async #people(payload: Payload): Promise<readonly string[]> {
    if (payload.kind === 'root' || payload.kind === 'branch') return [];
    if (payload.kind === 'key_change') return [];
    if (payload.kind === 'delegation') {
      const [id] = this.#holders.learn([payload.writ]);
      return id === undefined ? [] : await this.#heldBy(id);
    }
    await this.#learnFirst(payload.trajectory_id);
    const writ = payload.kind === 'pending_approval' ? payload.proposal.writ_id : payload.writ_id;
    return [...(writ === undefined ? [] : await this.#heldBy(writ)), ...decidersOf(payload)];
  }

  async #heldBy(writ: Hash): Promise<readonly string[]> {
    const chain = await this.#holders.chainOf(writ);
    // The holder of a writ above may be a key alone, without a name.
    return chain.flatMap(({ principal }) =>
      principal === undefined || /^[0-9a-f]{64}$/.test(principal) ? [] : principal,
    );
  }

  /** The first entry of a trajectory has its writs in place. */
  #learnFirst(trajectoryId: string): Promise<void> {
    let read = this.#begun.get(trajectoryId);
    if (read === undefined) {
      read = this.#store.entries(trajectoryId, { from: 0, limit: 1 }).then(([first]) => {
        const payload = first && readable(first)?.payload;
        if (payload?.kind === 'root' || payload?.kind === 'branch')
          this.#holders.learn(payload.writs);
      });
      this.#begun.set(trajectoryId, read);
    }
    return read;
  }

  /** The tools of the calls of an entry, and those that an agent asks the gateway for. */
  async #tools(payload: Payload): Promise<readonly string[]> {
    switch (payload.kind) {
      case 'commit':
        return [...(await this.#called(payload.delta)), ...(await this.#asked(payload.action))];
      case 'pending_approval': {
        const { delta, action } = payload.proposal;
        return [...(await this.#called(delta)), ...(await this.#asked(action))];
      }
      case 'rejection':
        return this.#asked({ name: payload.intent.action, args: payload.intent.args });
      default:
        return [];
    }
  }

  async #called(delta: Delta): Promise<string[]> {
    const calls = await toolCalls(this.#store, delta);
    return calls.flatMap((call) => ('tool' in call ? call.tool : []));
  }

  async #asked({ name, args }: { readonly name: string; readonly args: Stored }) {
    if (name !== 'call') return [];
    const call = ((await this.#valueOf(args)) ?? {}) as Asked;
    return [call, ...(Array.isArray(call.parts) ? call.parts : [])].flatMap((one: Asked | null) =>
      typeof one?.server === 'string' && typeof one.tool === 'string'
        ? [`${one.server}/${one.tool}`]
        : [],
    );
  }

  async #valueOf(value: Stored): Promise<Json | undefined> {
    if (!isBlobRef(value)) return value as Json;
    const { $blob: hash, bytes, salted } = value;
    if (hash === undefined) return undefined;
    return blobValue(this.#store, { pointer: '', hash, bytes, ...(salted && { salted }) });
  }
}

/** A call of the gateway, or a part of one. Another domain may have an action of that name. */
interface Asked {
  readonly server?: unknown;
  readonly tool?: unknown;
  readonly parts?: unknown;
}

function decidersOf(payload: Payload): string[] {
  if (!('proposal' in payload) && payload.kind !== 'commit' && payload.kind !== 'rejection')
    return [];
  const one = payload.kind === 'pending_approval' ? undefined : payload.counselor;
  const more = payload.kind === 'rejection' ? [] : (payload.approved_by ?? []);
  const persons = [...(one === undefined ? [] : [one]), ...more].map(
    ({ principal }: CounselorRecord) => principal,
  );
  if (payload.kind !== 'commit') return persons;
  const others = [haltArgs(payload)?.principal, settlementArgs(payload)?.decided?.by];
  return [...persons, ...others.filter((name) => name !== undefined)];
}

/** The rule of a domain or of a policy, and the rule of a file that the gateway names first. */
function rulesOf(payload: Payload, { invariant_id, detail = '' }: Summary): readonly string[] {
  const policy = 'policy' in payload ? payload.policy?.rule : undefined;
  const ofFile = invariant_id === undefined ? undefined : /^\[([^\]]+)\]/.exec(detail)?.[1];
  return [invariant_id, policy, ofFile].filter((rule) => rule !== undefined);
}
