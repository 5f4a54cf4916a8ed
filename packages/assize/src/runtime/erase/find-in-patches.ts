import type { Json } from '#base';
import { canonicalize, parsePointer } from '#canon';
import {
  type Entry,
  type Hash,
  isBlobRef,
  isErased,
  type Patch,
  type Replayer,
  type Stored,
} from '#ledger';
import { objectKey } from '#memory';

type EntryPosition = Pick<Entry, 'trajectory_id' | 'seq'>;

/**
 * The changes of an entry to the state, or its proposed changes, and the sensitive values now at
 * those paths.
 */
export interface StateWrites {
  readonly id: Hash;
  readonly patches: readonly Patch[];
  readonly replaced: readonly Hash[];
}

interface FoundWrite {
  /** Belongs to the first entry that refers to the value. */
  readonly seq: number;
  readonly stored: Stored;
}

/**
 * Searches for values in the state that derive from erased facts. The effect of an action's
 * arguments on its changes is unknown. So for a proposal that made a statement about the facts, all
 * sensitive values of its changes are erased. A later change at the path of such a value may copy
 * it. The new value is erased if it is the same or has a text of the facts. Values that are not
 * sensitive cannot be erased; their entries are named if they have such a text.
 */
export class PatchSearch {
  /** Entries that quote the erased facts in values that are not sensitive, or in field names. */
  readonly unmarked: Set<Hash> = new Set();
  readonly #chosen: Map<Hash, FoundWrite> = new Map();
  /** The texts of the erased facts and of the statements found so far. */
  readonly #texts: Set<string> = new Set();
  readonly #replayer: Replayer;

  constructor(replayer: Replayer) {
    this.#replayer = replayer;
  }

  /** By hash, the first entries that refer to them. */
  get chosen(): readonly (readonly [Hash, number])[] {
    return [...this.#chosen].map(([hash, { seq }]) => [hash, seq]);
  }

  /**
   * Selects the changes of a proposal that stated these texts about the facts. @throws LedgerFault
   */
  async collectStated(
    at: EntryPosition,
    { id, patches }: StateWrites,
    texts: readonly string[],
  ): Promise<void> {
    for (const text of texts) if (text !== '') this.#texts.add(objectKey(text));
    for (const patch of patches) await this.#take(at, id, patch, async () => true);
  }

  /** Selects the changes of a proposal that stated nothing about the facts. @throws LedgerFault */
  async collectOther(at: EntryPosition, { id, patches, replaced }: StateWrites): Promise<void> {
    const before = replaced.flatMap((hash) => this.#chosen.get(hash) ?? []);
    if (before.length === 0) return;
    const values = await Promise.all(before.map(({ stored }) => this.#read(at, stored)));
    const same = new Set(
      values.flatMap((value) => (value === undefined ? [] : [canonicalize(value)])),
    );
    const goesOn = (value: Json): boolean => same.has(canonicalize(value)) || this.#isSaid(value);
    for (const patch of patches)
      await this.#take(at, id, patch, async (stored) => {
        const value = await this.#read(at, stored);
        return value !== undefined && goesOn(value);
      });
  }

  async #take(
    at: EntryPosition,
    id: Hash,
    patch: Patch,
    isMeant: (stored: Stored) => Promise<boolean>,
  ): Promise<void> {
    if (this.#isSaid(parsePointer(patch.path))) this.unmarked.add(id);
    if (patch.op === 'remove') return;
    const { value: stored } = patch;
    if (isBlobRef(stored) && stored.salted === true) {
      const { $blob: hash } = stored;
      if (!this.#chosen.has(hash) && (await isMeant(stored)))
        this.#chosen.set(hash, { seq: at.seq, stored });
    } else if (!this.unmarked.has(id)) {
      const value = await this.#read(at, stored);
      if (value !== undefined && this.#isSaid(value)) this.unmarked.add(id);
    }
  }

  /** Whether the value contains a text of the facts anywhere, or is a number written so. */
  #isSaid(json: Json): boolean {
    const texts = [...this.#texts];
    return leavesOf(json).some((leaf) =>
      typeof leaf === 'string'
        ? texts.some((text) => objectKey(leaf).includes(text))
        : this.#texts.has(String(leaf)),
    );
  }

  /** Undefined if it was erased. The marker of an erased value stays in place. */
  async #read(at: EntryPosition, stored: Stored): Promise<Json | undefined> {
    if (isErased(stored)) return undefined;
    const held = await this.#replayer.values.read(at, stored);
    return 'value' in held ? held.value : undefined;
  }
}

/** The strings and numbers in a value, and its field names. */
export function leavesOf(json: Json): (string | number)[] {
  if (typeof json === 'string' || typeof json === 'number') return [json];
  if (typeof json !== 'object' || json === null) return [];
  return Array.isArray(json)
    ? json.flatMap(leavesOf)
    : Object.entries(json).flatMap(([name, member]) => [name, ...leavesOf(member)]);
}
