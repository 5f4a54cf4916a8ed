import type { Json } from '#base';
import { canonicalize, parsePointer } from '#canon';
import { type Entry, type Hash, isBlobRef, isErased, type Patch, type Replayer, type Stored } from '#ledger';
import { objectKey } from '#memory';

type At = Pick<Entry, 'trajectory_id' | 'seq'>;

/** What an entry changes of the state, or would, and the sensitive values that stand where it does. */
export interface Writes {
  readonly id: Hash;
  readonly patches: readonly Patch[];
  readonly replaced: readonly Hash[];
}

interface Written {
  /** Of the first entry that refers to it. */
  readonly seq: number;
  readonly stored: Stored;
}

/**
 * Looks for what was written into the state from what is erased of a memory. Nobody knows what an action has made of its arguments, so
 * of a proposal that said something of it all sensitive values go that it wrote, or was to write. Who writes where one of those stands
 * may go on with it in a value of its own: that goes where it is the same, or has a text of what is erased. What is not sensitive can't be
 * erased, and its entry is named where it has such a text.
 */
export class WrittenSearch {
  /** Entries with a text of what is erased in values that are not sensitive, or in the names of members. */
  readonly unmarked: Set<Hash> = new Set();
  readonly #chosen: Map<Hash, Written> = new Map();
  /** Whose it is that is erased, and what was said of it so far. */
  readonly #texts: Set<string> = new Set();
  readonly #replayer: Replayer;

  constructor(replayer: Replayer) {
    this.#replayer = replayer;
  }

  /** By hash, the first entries that refer to them. */
  get chosen(): readonly (readonly [Hash, number])[] {
    return [...this.#chosen].map(([hash, { seq }]) => [hash, seq]);
  }

  /** What a proposal writes that said these texts of what is erased. @throws LedgerFault */
  async takeSaid(at: At, { id, patches }: Writes, texts: readonly string[]): Promise<void> {
    for (const text of texts) if (text !== '') this.#texts.add(objectKey(text));
    for (const patch of patches) await this.#take(at, id, patch, async () => true);
  }

  /** What one writes that said nothing of it. @throws LedgerFault */
  async takeAfter(at: At, { id, patches, replaced }: Writes): Promise<void> {
    const before = replaced.flatMap((hash) => this.#chosen.get(hash) ?? []);
    if (before.length === 0) return;
    const values = await Promise.all(before.map(({ stored }) => this.#read(at, stored)));
    const same = new Set(values.flatMap((value) => (value === undefined ? [] : [canonicalize(value)])));
    const goesOn = (value: Json): boolean => same.has(canonicalize(value)) || this.#isSaid(value);
    for (const patch of patches)
      await this.#take(at, id, patch, async (stored) => {
        const value = await this.#read(at, stored);
        return value !== undefined && goesOn(value);
      });
  }

  async #take(at: At, id: Hash, patch: Patch, isMeant: (stored: Stored) => Promise<boolean>): Promise<void> {
    if (this.#isSaid(parsePointer(patch.path))) this.unmarked.add(id);
    if (patch.op === 'remove') return;
    const { value: stored } = patch;
    if (isBlobRef(stored) && stored.salted === true) {
      const { $blob: hash } = stored;
      if (!this.#chosen.has(hash) && (await isMeant(stored))) this.#chosen.set(hash, { seq: at.seq, stored });
    } else if (!this.unmarked.has(id)) {
      const value = await this.#read(at, stored);
      if (value !== undefined && this.#isSaid(value)) this.unmarked.add(id);
    }
  }

  /** Whether it has a text of what is erased anywhere, or is a number that is written so. */
  #isSaid(json: Json): boolean {
    const texts = [...this.#texts];
    return leavesOf(json).some((leaf) =>
      typeof leaf === 'string' ? texts.some((text) => objectKey(leaf).includes(text)) : this.#texts.has(String(leaf)),
    );
  }

  /** Undefined where it was erased; what an erasure has left stands where it left it. */
  async #read(at: At, stored: Stored): Promise<Json | undefined> {
    if (isErased(stored)) return undefined;
    const held = await this.#replayer.values.held(at, stored);
    return 'value' in held ? held.value : undefined;
  }
}

/** The texts and numbers in it, and the names of members. */
export function leavesOf(json: Json): (string | number)[] {
  if (typeof json === 'string' || typeof json === 'number') return [json];
  if (typeof json !== 'object' || json === null) return [];
  return Array.isArray(json)
    ? json.flatMap(leavesOf)
    : Object.entries(json).flatMap(([name, member]) => [name, ...leavesOf(member)]);
}
